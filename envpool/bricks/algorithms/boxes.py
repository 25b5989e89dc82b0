import random

from envpool import Environment


class Boxes(Environment):
    rule = (
        "Fill boxes that hold 20 with the numbers of the input list in order: while the sum in a box "
        "stays at most 20 the next number goes in, else a new box is begun. List the sum in each box."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(1, 15) for _ in range(6 + 2 * level)]

    def solve(self, x: list[int]) -> list[int]:
        boxes = [0]
        for n in x:
            if boxes[-1] + n > 20:
                boxes.append(0)
            boxes[-1] += n
        return boxes

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 30 and all(0 <= n <= 20 for n in x)
