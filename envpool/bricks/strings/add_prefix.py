import random

from envpool import Environment

WORDS = """
    add age air arm bath big bone box cake call camp coat code date dog duck dust east eye face fast
    fire full fun game hat head job kid kind king life line lion log long lost love man name note
    nut oak oil open path pie poem rice road rock safe salt sea seed shoe sit sky sock soft sun swim
    tea top toy van wash wind wine wing wolf work
"""


class AddPrefix(Environment):
    rule = "Write the input with re- in front of it."

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(1 + level))

    def solve(self, x: str) -> str:
        return f"re-{x}"
