import random

from envpool import Environment


class Boxes(Environment):
    rule = (
        "Put the numbers of the input list into boxes, in order. A number goes into the last box "
        "begun if the sum in it, this number included, is at most 20; otherwise it begins a new box. List the sum in "
        "each box."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(1, 15) for _ in range(6 + 2 * level)]

    def solve(self, x: list[int]) -> list[int]:
        boxes: list[int] = []
        for n in x:
            if not boxes or boxes[-1] + n > 20:
                boxes.append(0)
            boxes[-1] += n
        return boxes

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 30
