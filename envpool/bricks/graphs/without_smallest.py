import random

from envpool import Environment


class WithoutSmallest(Environment):
    rule = (
        "Remove from the input the smallest key with its list, and every copy of that number from the other "
        "lists."
    )

    def sample(self, rng: random.Random, level: int) -> dict[int, list[int]]:
        names = sorted(rng.sample(range(1, 10 + 5 * level), 3 + level))
        return {name: rng.sample(names, rng.randint(0, 2)) for name in names}

    def solve(self, x: dict[int, list[int]]) -> dict[int, list[int]]:
        gone = min(x)
        return {key: [number for number in ends if number != gone] for key, ends in x.items() if key != gone}

    def accepts(self, x: dict[int, list[int]]) -> bool:
        return 0 < len(x) <= 20
