import random

from envpool import Environment

LETTERS = "abcdefghiklmnoprstuw"


class ReadsBackwards(Environment):
    rule = "Does the input read the same forwards and backwards?"

    def sample(self, rng: random.Random, level: int) -> str:
        half = "".join(rng.choice(LETTERS) for _ in range(2 + level))
        text = half + half[:-1][::-1]
        if rng.random() < 0.5:
            place = rng.randrange(1 + level)
            text = text[:place] + rng.choice(LETTERS.replace(text[place], "")) + text[place + 1 :]
        return text

    def solve(self, x: str) -> bool:
        return x == x[::-1]

    def accepts(self, x: str) -> bool:
        return len(x) > 0
