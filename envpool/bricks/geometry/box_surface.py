import random

from envpool import Environment


class BoxSurface(Environment):
    rule = (
        "The three numbers of the input are the length, width and height of a box. Give the sum of the "
        "areas of its six faces."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[int, int, int]:
        low, top = 2**level, 9 * 3**level
        return rng.randint(low, top), rng.randint(low, top), rng.randint(low, top)

    def solve(self, x: tuple[int, int, int]) -> int:
        a, b, c = x
        return 2 * (a * b + b * c + c * a)

    def accepts(self, x: tuple[int, int, int]) -> bool:
        return min(x) >= 0 and max(x) <= 10**9
