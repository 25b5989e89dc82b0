import random

from envpool import Environment


class MovesFromPoint(Environment):
    rule = (
        "The input is a point (x, y). Write R if x is above 0 or L if it is below 0, then x without its "
        "sign, then U if y is above 0 or D if it is below 0, then y without its sign. Leave out a "
        "coordinate that is 0, letter and number."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[int, int]:
        top = 9 * 5**level
        return rng.randint(-top, top), rng.choice((-1, 1)) * rng.randint(1, top)

    def solve(self, x: tuple[int, int]) -> str:
        across = f"{'R' if x[0] > 0 else 'L'}{abs(x[0])}" if x[0] else ""
        return across + (f"{'U' if x[1] > 0 else 'D'}{abs(x[1])}" if x[1] else "")

    def accepts(self, x: tuple[int, int]) -> bool:
        return x != (0, 0)
