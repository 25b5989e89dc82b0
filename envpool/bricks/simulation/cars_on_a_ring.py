import random

from envpool import Environment


class CarsOnARing(Environment):
    rule = (
        "The input list is a ring road, its first place after its last; true is a car, false is free. All "
        "at once, every car whose next place was free moves there. Give the road afterwards."
    )

    def sample(self, rng: random.Random, level: int) -> list[bool]:
        return [rng.random() < 0.5 for _ in range(5 + 2 * level)]

    def solve(self, x: list[bool]) -> list[bool]:
        ahead, behind = [*x[1:], *x[:1]], [*x[-1:], *x[:-1]]
        return [front if here else back for back, here, front in zip(behind, x, ahead, strict=True)]

    def accepts(self, x: list[bool]) -> bool:
        return 0 < len(x) <= 20
