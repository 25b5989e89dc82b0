import random
import re

from envpool import Environment

WORDS = """
    apple area ball base bee body book boy chair cook copy day desk door dry duck echo fan fork
    fox fruit gift heat joke kite light lion luck meat neck news note or plan rest ring safe
    sofa swim to train truck wheel yes
"""


class ReadSettings(Environment):
    rule = (
        "The input holds settings such as a=3;b=12, with semicolons between them: a name, an equals "
        "sign and a whole number. Give the number of each name; where a name comes twice, its last "
        "one."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        names = [rng.choice(WORDS.split()) for _ in range(2 + level)]
        return ";".join(f"{name}={rng.randint(0, 9 + 10 * level)}" for name in names)

    def solve(self, x: str) -> dict[str, int]:
        return {name: int(number) for name, number in (part.split("=") for part in x.split(";"))}

    def accepts(self, x: str) -> bool:
        return len(x) <= 80 and re.fullmatch(r"([a-z]+=-?[0-9]{1,6};)*[a-z]+=-?[0-9]{1,6}", x) is not None
