import random

from envpool import Environment

WORDS = """
    art ask at bell cake copy data day drop egg face fish hat he help job kind knife koala left
    life mama moon mouth nest no panda pen pond radar road salad sea seat sky soft storm table
    talk tall up van wind wood
"""


class CountEach(Environment):
    rule = "For each different entry of the input list, give how often it occurs."

    def sample(self, rng: random.Random, level: int) -> list[str]:
        words = rng.sample(WORDS.split(), 2 + level)
        return [rng.choice(words) for _ in range(4 + 2 * level)]

    def solve(self, x: list[str]) -> dict[str, int]:
        return {word: x.count(word) for word in sorted(x)}

    def accepts(self, x: list[str]) -> bool:
        return 0 < len(x) <= 20
