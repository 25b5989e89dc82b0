import random

from envpool import Environment


class GridPaths(Environment):
    rule = (
        "The input is a grid of rows; '.' is free and '#' is a wall. Start at the top left and step right or "
        "down, never onto a wall. How many ways lead to the bottom right?"
    )

    def sample(self, rng: random.Random, level: int) -> list[str]:
        rows, columns = 2 + level, 2 + level + rng.randint(0, 1)
        grid = [["#" if rng.random() < 0.25 else "." for _ in range(columns)] for _ in range(rows)]
        steps = [(1, 0)] * (rows - 1) + [(0, 1)] * (columns - 1)
        rng.shuffle(steps)
        row = column = 0
        grid[0][0] = "."
        for down, right in steps:  # one way is always open
            row, column = row + down, column + right
            grid[row][column] = "."
        return ["".join(line) for line in grid]

    def solve(self, x: list[str]) -> int:
        ways = [1] + [0] * (len(x[0]) - 1)
        for line in x:
            for column, cell in enumerate(line):
                if cell == "#":
                    ways[column] = 0
                elif column:
                    ways[column] += ways[column - 1]
        return ways[-1]

    def accepts(self, x: list[str]) -> bool:
        return (
            bool(x) and bool(x[0]) and all(len(line) == len(x[0]) and set(line) <= {".", "#"} for line in x)
        )
