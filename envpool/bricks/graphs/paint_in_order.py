import random

from envpool import Environment


class PaintInOrder(Environment):
    rule = (
        "Two different keys of the input touch if either is in the other's list. In increasing order give "
        "each key the smallest of the colours 1, 2, 3, ... that no earlier key touching it has. Give the "
        "colours."
    )

    def sample(self, rng: random.Random, level: int) -> dict[int, list[int]]:
        names = sorted(rng.sample(range(1, 10 + 5 * level), 3 + level))
        return {name: rng.sample(names, rng.randint(0, 2)) for name in names}

    def solve(self, x: dict[int, list[int]]) -> dict[int, int]:
        colours: dict[int, int] = {}
        for key in sorted(x):
            taken = [colour for other, colour in colours.items() if other in x[key] or key in x[other]]
            colours[key] = min(colour for colour in range(1, len(x) + 1) if colour not in taken)
        return colours

    def accepts(self, x: dict[int, list[int]]) -> bool:
        return len(x) <= 20
