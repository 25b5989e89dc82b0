import random

from envpool import Environment

WORDS = """
    apple arm bath be boy canal chair coat copy day desk door drama eagle easy fact fire flat go
    head heat house juice kid king land log luck oak on or park poem pot race radar sad sand shy
    slow time try van wall
"""


class WithVowels(Environment):
    rule = (
        "Make a pair of each entry of the input list and the number of vowels in it: a, e, i, o and "
        "u, small or capital. Keep the order."
    )

    def sample(self, rng: random.Random, level: int) -> list[str]:
        return [rng.choice(WORDS.split()) for _ in range(3 + level)]

    def solve(self, x: list[str]) -> list[tuple[str, int]]:
        return [(word, sum(c in "aeiouAEIOU" for c in word)) for word in x]

    def accepts(self, x: list[str]) -> bool:
        return 0 < len(x) <= 20 and all(word.isascii() for word in x)
