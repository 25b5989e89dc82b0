import random

from envpool import Environment


class InAndOut(Environment):
    rule = (
        "A bag is empty. For each number of the input list in order: if the bag holds it, take it out, else "
        "put it in. List what the bag holds at the end, in increasing order."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        top = 5 + level
        return [rng.randint(0, top) for _ in range(6 + level)]

    def solve(self, x: list[int]) -> list[int]:
        return sorted(n for n in set(x) if x.count(n) % 2)

    def accepts(self, x: list[int]) -> bool:
        return len(x) <= 30
