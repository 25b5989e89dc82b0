import random

from envpool import Environment


class KnockedOff(Environment):
    rule = (
        "A row is empty. For each number of the input list in order: while the last number of the row is "
        "smaller, remove it; then put the new number at the end. Give the row at the end."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 5 * level) for _ in range(5 + level)]

    def solve(self, x: list[int]) -> list[int]:
        row: list[int] = []
        for number in x:
            while row and row[-1] < number:
                row.pop()
            row.append(number)
        return row

    def accepts(self, x: list[int]) -> bool:
        return len(x) <= 30
