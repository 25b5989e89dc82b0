import random

from envpool import Environment


class NewPile(Environment):
    rule = (
        "The numbers of the input list are piles. Take one from every pile above 0, leave out the piles "
        "that then are 0, and put what was taken, if anything, as a new pile at the end. List the piles."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.choice((0, 1, 1, rng.randint(2, 9 + 5 * level))) for _ in range(4 + level)]

    def solve(self, x: list[int]) -> list[int]:
        taken = sum(pile > 0 for pile in x)
        return [pile - (pile > 0) for pile in x if pile not in (0, 1)] + [taken] * (taken > 0)

    def accepts(self, x: list[int]) -> bool:
        return len(x) <= 30
