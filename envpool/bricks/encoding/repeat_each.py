import random

from envpool import Environment

LETTERS = "bcdfghklmnprstvwz"


class RepeatEach(Environment):
    rule = (
        "Write the text of each pair of the input list as often as its number says, one after the "
        "other without anything between. A number of 0 or less writes nothing."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[str, int]]:
        return [
            (rng.choice(LETTERS) + rng.choice(("", "o", "a")), rng.randint(1, 3)) for _ in range(2 + level)
        ]

    def solve(self, x: list[tuple[str, int]]) -> str:
        return "".join(text * number for text, number in x)

    def accepts(self, x: list[tuple[str, int]]) -> bool:
        return 0 < sum(len(text) * max(0, number) for text, number in x) <= 70
