import random

from envpool import Environment


class Flood(Environment):
    rule = (
        "The rows of the input form a grid. From the first cell of the first row go on, up, down, left or "
        "right, over cells with the same number as it. How many cells can be reached, the first included?"
    )

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        width = 3 + (level + 1) // 2
        return [[int(rng.random() < 0.4) for _ in range(width)] for _ in range(3 + level // 2)]

    def solve(self, x: list[list[int]]) -> int:
        reached = [(0, 0)]
        for row, column in reached:
            for near in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
                inside = 0 <= near[0] < len(x) and 0 <= near[1] < len(x[0])
                if inside and near not in reached and x[near[0]][near[1]] == x[0][0]:
                    reached.append(near)
        return len(reached)

    def accepts(self, x: list[list[int]]) -> bool:
        return 0 < len(x) <= 8 and 0 < len(x[0]) <= 8 and all(len(row) == len(x[0]) for row in x)
