import random

from envpool import Environment


class CardGame(Environment):
    rule = (
        "The two lists of the input are hands of cards. Up to five times, as long as both have cards: both "
        "lay down their first card; the higher card goes to the end of its own hand, then the other card "
        "after it; if equal, both are gone. Give the hands."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[list[int], list[int]]:
        top = 7 + 4 * level
        first, second = ([rng.randint(1, top) for _ in range(rng.randint(3, 4) + level)] for _ in range(2))
        return first, second

    def solve(self, x: tuple[list[int], list[int]]) -> tuple[list[int], list[int]]:
        first, second = list(x[0]), list(x[1])
        for _ in range(5):
            if first and second:
                a, b = first.pop(0), second.pop(0)
                first += [a, b] if a > b else []
                second += [b, a] if b > a else []
        return first, second

    def accepts(self, x: tuple[list[int], list[int]]) -> bool:
        return len(x[0]) + len(x[1]) <= 40
