import random

from envpool import Environment


class ChessboardSums(Environment):
    rule = (
        "The input is a table, row by row, coloured like a chessboard with the first number of the first "
        "row on white. Give a pair: the sum of the numbers on white, the sum of those on black; where "
        "there are no numbers the sum is 0."
    )

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        rows, columns = 2 + level // 2, 2 + (level + 1) // 2
        return [[rng.randint(0, 9 + 10 * level) for _ in range(columns)] for _ in range(rows)]

    def solve(self, x: list[list[int]]) -> tuple[int, int]:
        white = sum(n for row, numbers in enumerate(x) for n in numbers[row % 2 :: 2])
        return white, sum(map(sum, x)) - white

    def accepts(self, x: list[list[int]]) -> bool:
        return 0 < len(x) <= 8 and 0 < len(x[0]) <= 8 and all(len(row) == len(x[0]) for row in x)
