import random

from envpool import Environment

WORDS = """
    age alien ape blue book cake call cold copy cow eagle ear egg fall fast frog fruit gate girl
    hard hot is koala lake log long meal neck oil opera owl pig plant rain ring room saga seed
    team tent true van way year
"""


class TotalByName(Environment):
    rule = "For each different text among the pairs of the input list, give the sum of its numbers."

    def sample(self, rng: random.Random, level: int) -> list[tuple[str, int]]:
        names = rng.sample(WORDS.split(), 2 + level // 2)
        return [(rng.choice(names), rng.randint(0, 9 + 10 * level)) for _ in range(3 + level)]

    def solve(self, x: list[tuple[str, int]]) -> dict[str, int]:
        names = sorted(name for name, _ in x)
        return {name: sum(number for other, number in x if other == name) for name in names}

    def accepts(self, x: list[tuple[str, int]]) -> bool:
        return 0 < len(x) <= 30
