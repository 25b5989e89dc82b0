import random
import re

from envpool import Environment

WORDS = """
    an audio ball bus card clay data dish eagle face fast flag frog fur goat green heat if in
    kite late log mama net night oak onion opera oven saga sofa soup spoon tent truck tuba union
    water way we wet whale wood word
"""


class ReadScores(Environment):
    rule = (
        "The input holds entries such as ann:3,bob:12, with commas between them: a name, a colon and "
        "a whole number. List them in order as pairs of name and number."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        names = [rng.choice(WORDS.split()) for _ in range(2 + level)]
        return ",".join(f"{name}:{rng.randint(0, 9 + 10 * level)}" for name in names)

    def solve(self, x: str) -> list[tuple[str, int]]:
        entries = [entry.split(":") for entry in x.split(",")]
        return [(name, int(number)) for name, number in entries]

    def accepts(self, x: str) -> bool:
        return len(x) <= 60 and re.fullmatch(r"([a-z]+:-?[0-9]{1,6},)*[a-z]+:-?[0-9]{1,6}", x) is not None
