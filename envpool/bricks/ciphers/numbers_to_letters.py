import random

from envpool import Environment


class NumbersToLetters(Environment):
    rule = (
        "Number the letters from a as 0 to z as 25. For each number of the input add or subtract 26 "
        "until it lies from 0 to 25; write the letters with these numbers as one text."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 29 + 9 * level) for _ in range(3 + level)]

    def solve(self, x: list[int]) -> str:
        return "".join(chr(n % 26 + 97) for n in x)

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 40 and max(map(abs, x)) <= 10**4
