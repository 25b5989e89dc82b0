import random

from envpool import Environment

WORDS = """
    air art bad bee big body bone call care coat dish dry dust ear easy flat fork frog game hair
    kind leg life love mail mark meat note nut path pen play red ring skin sock team toy week word
"""


class KeysAboveFour(Environment):
    rule = "List in alphabetical order the keys of the input whose value is above four."

    def sample(self, rng: random.Random, level: int) -> dict[str, int]:
        names = [rng.choice(WORDS.split()) for _ in range(3 + level)]
        return {name: rng.randint(0, 9 + 10 * level) for name in names}

    def solve(self, x: dict[str, int]) -> list[str]:
        return sorted(key for key, value in x.items() if value > 4)

    def accepts(self, x: dict[str, int]) -> bool:
        return len(x) > 0 and all(key.isalpha() and key.islower() for key in x)
