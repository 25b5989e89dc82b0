import random

from envpool import Environment


class StepsFromSmallest(Environment):
    rule = (
        "Each number in a key's list in the input is an arrow from the key to it. For each number reached "
        "from the smallest key along arrows, that key included, give the fewest arrows needed. A number that is "
        "no key has no arrows."
    )

    def sample(self, rng: random.Random, level: int) -> dict[int, list[int]]:
        names = sorted(rng.sample(range(1, 10 + 5 * level), 4 + level))
        return {name: rng.sample(names, rng.randint(0, 2)) for name in names}

    def solve(self, x: dict[int, list[int]]) -> dict[int, int]:
        steps = {min(x): 0}
        waiting = [min(x)]
        for point in waiting:
            for number in x.get(point, []):
                if number not in steps:
                    steps[number] = steps[point] + 1
                    waiting.append(number)
        return steps

    def accepts(self, x: dict[int, list[int]]) -> bool:
        return 0 < len(x) <= 20
