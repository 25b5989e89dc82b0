import random

from envpool import Environment


class Crashes(Environment):
    rule = (
        "The numbers of the input list join the end of an empty row in turn. After each, while the last "
        "number is negative and the one before it positive, the one nearer to 0 goes, or both if equally "
        "near. Give the row at the end."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        top = 6 + 5 * level
        return [rng.choice((-1, 1)) * rng.randint(1, top) for _ in range(5 + level)]

    def solve(self, x: list[int]) -> list[int]:
        row: list[int] = []
        for number in x:
            row.append(number)
            while len(row) > 1 and row[-1] < 0 < row[-2]:
                second, first = row.pop(), row.pop()
                row += [first] * (first > -second) + [second] * (first < -second)
        return row

    def accepts(self, x: list[int]) -> bool:
        return len(x) <= 30
