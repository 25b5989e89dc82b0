import random

from envpool import Environment


class InJustOne(Environment):
    rule = (
        "List every number that occurs in exactly one of the two lists of the input, each once, however "
        "often it stands there, in increasing order."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[list[int], list[int]]:
        top = 9 + 5 * level
        a, b = ([rng.randint(0, top) for _ in range(rng.randint(3, 4) + level)] for _ in range(2))
        return a, b

    def solve(self, x: tuple[list[int], list[int]]) -> list[int]:
        return sorted(set(x[0]) ^ set(x[1]))

    def accepts(self, x: tuple[list[int], list[int]]) -> bool:
        return len(x[0]) + len(x[1]) <= 40
