import random

from envpool import Environment

WORDS = """
    arm art bad bag bank be bee blue do dust face game green hall he hen hope is key kind lamp
    leaf list log luck man mark neck oil onion or plan race rich salad salt sand sea snow so
    true up wet world
"""


class NamesByNumber(Environment):
    rule = (
        "List the texts of the pairs of the input list from the smallest number to the largest; pairs "
        "with equal numbers keep their order."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[str, int]]:
        return [(rng.choice(WORDS.split()), rng.randint(0, 9 + 10 * level)) for _ in range(3 + level)]

    def solve(self, x: list[tuple[str, int]]) -> list[str]:
        return [name for name, _ in sorted(x, key=lambda pair: pair[1])]

    def accepts(self, x: list[tuple[str, int]]) -> bool:
        return 0 < len(x) <= 30
