import random

from envpool import Environment


class LongestTrueRun(Environment):
    rule = (
        "Give the length of the longest run of neighbouring true entries in the input list; 0 if no "
        "entry is true."
    )

    def sample(self, rng: random.Random, level: int) -> list[bool]:
        return [rng.random() < 0.7 for _ in range(7 + 3 * level)]

    def solve(self, x: list[bool]) -> int:
        longest = run = 0
        for flag in x:
            run = run + 1 if flag else 0
            longest = max(longest, run)
        return longest

    def accepts(self, x: list[bool]) -> bool:
        return 0 < len(x) <= 30
