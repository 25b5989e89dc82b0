import random

from envpool import Environment


class Walk(Environment):
    rule = (
        "Start at (0, 0); the first number counts to the right, the second upwards. Each entry up, down, "
        "left or right of the input, in small letters, moves you by one; others do nothing. Give where you "
        "end."
    )

    def sample(self, rng: random.Random, level: int) -> list[str]:
        return [rng.choice(("up", "down", "left", "right", "up", "right", "same")) for _ in range(4 + level)]

    def solve(self, x: list[str]) -> tuple[int, int]:
        return x.count("right") - x.count("left"), x.count("up") - x.count("down")

    def accepts(self, x: list[str]) -> bool:
        return len(x) <= 30
