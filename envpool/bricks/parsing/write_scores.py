import random

from envpool import Environment

WORDS = """
    add ape atlas bone box card copy cry dry dust eagle fall fast fire foot frog fruit gate
    grass he house knife koala lost news pasta pen phone pizza queen radio rest roof sad sea sky
    so song stop toy we wet whale word
"""


class WriteScores(Environment):
    rule = (
        "Write each pair of the input list as its name, a colon and its number, with commas between "
        "the pairs and no spaces, in the order of the list."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[str, int]]:
        return [(rng.choice(WORDS.split()), rng.randint(0, 9 + 10 * level)) for _ in range(1 + level)]

    def solve(self, x: list[tuple[str, int]]) -> str:
        return ",".join(f"{name}:{number}" for name, number in x)

    def accepts(self, x: list[tuple[str, int]]) -> bool:
        return 0 < len(x) <= 10 and all(name.isalpha() and name.islower() and len(name) <= 9 for name, _ in x)
