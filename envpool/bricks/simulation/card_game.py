import random

from envpool import Environment


class CardGame(Environment):
    rule = (
        "The input holds two hands of cards. Five times, unless a hand is empty: both play their first "
        "card; the higher goes to the end of its own hand, followed by the other; equal ones are gone. Give "
        "both hands."
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
