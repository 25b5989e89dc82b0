import random

from envpool import Environment


class TriangleKind(Environment):
    rule = (
        "The three numbers of the input are side lengths. Write the word none if the largest is not "
        "smaller than the sum of the other two. Otherwise write equilateral if all three are equal, "
        "isosceles if exactly two are equal, and scalene if no two are equal."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[int, int, int]:
        low, top = 3**level, 9 * 3**level
        sides = [rng.randint(low, top) for _ in range(3)]
        alike = rng.choice((1, 2, 2, 3))
        return tuple(rng.sample([sides[0]] * alike + sides[alike:], 3))

    def solve(self, x: tuple[int, int, int]) -> str:
        small, middle, large = sorted(x)
        if large >= small + middle:
            return "none"
        return {1: "equilateral", 2: "isosceles", 3: "scalene"}[len({*x})]

    def accepts(self, x: tuple[int, int, int]) -> bool:
        return min(x) >= 0
