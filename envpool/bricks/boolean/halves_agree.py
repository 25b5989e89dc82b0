import random

from envpool import Environment


class HalvesAgree(Environment):
    rule = (
        "Cut the input list into two halves; a middle entry belongs to neither. Do both halves hold "
        "the same number of true entries?"
    )

    def sample(self, rng: random.Random, level: int) -> list[bool]:
        front = [rng.random() < 0.5 for _ in range(3 + level)]
        back = rng.sample(front, len(front))
        if rng.random() < 0.5:
            place = rng.randrange(len(back))
            back[place] = not back[place]
        return front + [rng.random() < 0.5] * rng.randint(0, 1) + back

    def solve(self, x: list[bool]) -> bool:
        half = len(x) // 2
        return sum(x[:half]) == sum(x[len(x) - half :])

    def accepts(self, x: list[bool]) -> bool:
        return 1 < len(x) <= 30
