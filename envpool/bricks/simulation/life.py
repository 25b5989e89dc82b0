import random

from envpool import Environment


class Life(Environment):
    rule = (
        "The rows of the input are a grid of cells; 0 is dead. Neighbours touch at a side or corner. All at "
        "once, living cells with 2 or 3 living neighbours and dead ones with exactly 3 become 1, all others "
        "0. Give the grid."
    )

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        width = 3 + (level + 1) // 2
        return [[int(rng.random() < 0.45) for _ in range(width)] for _ in range(3 + level // 2)]

    def solve(self, x: list[list[int]]) -> list[list[int]]:
        cells = {(row, column) for row, line in enumerate(x) for column, cell in enumerate(line) if cell}

        def lives(row: int, column: int) -> int:
            beside = [
                (row + down, column + right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right
            ]
            return int(sum(cell in cells for cell in beside) in ((2, 3) if (row, column) in cells else (3,)))

        return [[lives(row, column) for column in range(len(line))] for row, line in enumerate(x)]

    def accepts(self, x: list[list[int]]) -> bool:
        return (
            0 < len(x) <= 8
            and {len(row) for row in x} <= set(range(1, 9))
            and len({len(row) for row in x}) == 1
        )
