import random

from envpool import Environment

WORDS = """
    aim algae aqua audio card clay cry door earth fan farm foot grass hair jar juice king lady
    lava line long luck mail mouth movie neck nice nose nut olive owl park pasta pen pet plan
    radio ship shirt sky slow talk tea tower
"""


class WriteSettings(Environment):
    rule = (
        "Write the keys of the input in alphabetical order, each followed by an equals sign and its "
        "value, with semicolons between them and no spaces."
    )

    def sample(self, rng: random.Random, level: int) -> dict[str, int]:
        return {name: rng.randint(0, 9 + 10 * level) for name in rng.sample(WORDS.split(), 2 + level)}

    def solve(self, x: dict[str, int]) -> str:
        return ";".join(f"{name}={x[name]}" for name in sorted(x))

    def accepts(self, x: dict[str, int]) -> bool:
        return 0 < len(x) <= 8 and all(name.isalpha() and name.islower() and len(name) <= 9 for name in x)
