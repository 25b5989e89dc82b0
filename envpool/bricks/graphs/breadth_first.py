import random

from envpool import Environment


class BreadthFirst(Environment):
    rule = (
        "Write down the smallest key of the input. For each number written down, in turn, write down the "
        "numbers of its list, in order, that are not written down yet. A number that is no key has no list. "
        "List what you wrote."
    )

    def sample(self, rng: random.Random, level: int) -> dict[int, list[int]]:
        names = sorted(rng.sample(range(1, 10 + 5 * level), 4 + level))
        return {name: rng.sample(names, rng.choice((1, 2, 2))) for name in names}

    def solve(self, x: dict[int, list[int]]) -> list[int]:
        visited = [min(x)]
        for point in visited:
            visited += [number for number in dict.fromkeys(x.get(point, [])) if number not in visited]
        return visited

    def accepts(self, x: dict[int, list[int]]) -> bool:
        return 0 < len(x) <= 20
