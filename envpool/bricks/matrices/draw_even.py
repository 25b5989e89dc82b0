import random

from envpool import Environment


class DrawEven(Environment):
    rule = (
        "The input is a list of rows. Write for every even number the character # and for every odd "
        "number a full stop, row by row, with a slash between one row and the next."
    )

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        lengths = [rng.randint(2, 3 + level // 2) for _ in range(2 + level)]
        return [[rng.randint(0, 9 + 10 * level) for _ in range(length)] for length in lengths]

    def solve(self, x: list[list[int]]) -> str:
        return "/".join("".join("#" if n % 2 == 0 else "." for n in row) for row in x)

    def accepts(self, x: list[list[int]]) -> bool:
        return 0 < len(x) <= 10 and all(0 < len(row) <= 10 for row in x)
