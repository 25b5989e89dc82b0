import random

from envpool import Environment


class WayOfTheLarger(Environment):
    rule = (
        "The rows of the input form a grid. Go from the first cell of the first row to the last of the last "
        "row, each time right or down to the larger number, right if equal, or the only way there is. List "
        "the numbers passed, both ends included."
    )

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        width = 2 + (level + 1) // 2
        return [[rng.randint(0, 9 + 5 * level) for _ in range(width)] for _ in range(2 + level // 2)]

    def solve(self, x: list[list[int]]) -> list[int]:
        row, column, numbers = 0, 0, [x[0][0]]
        while (row, column) != (len(x) - 1, len(x[0]) - 1):
            last_row, last_column = row == len(x) - 1, column == len(x[0]) - 1
            if last_row or (not last_column and x[row][column + 1] >= x[row + 1][column]):
                column += 1
            else:
                row += 1
            numbers.append(x[row][column])
        return numbers

    def accepts(self, x: list[list[int]]) -> bool:
        return 0 < len(x) <= 8 and 0 < len(x[0]) <= 8 and all(len(row) == len(x[0]) for row in x)
