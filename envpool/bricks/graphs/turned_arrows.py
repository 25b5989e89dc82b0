import random

from envpool import Environment


class TurnedArrows(Environment):
    rule = (
        "For each key of the input, and each number in any list, list in increasing order the keys whose "
        "lists hold it, a key as often as its list holds it."
    )

    def sample(self, rng: random.Random, level: int) -> dict[int, list[int]]:
        names = sorted(rng.sample(range(1, 10 + 5 * level), 3 + level))
        return {name: rng.sample(names, rng.randint(0, 2)) for name in names}

    def solve(self, x: dict[int, list[int]]) -> dict[int, list[int]]:
        points = {*x, *(number for ends in x.values() for number in ends)}
        return {
            point: [key for key in sorted(x) for number in x[key] if number == point]
            for point in sorted(points)
        }

    def accepts(self, x: dict[int, list[int]]) -> bool:
        return len(x) <= 20
