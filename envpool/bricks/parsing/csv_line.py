import random

from envpool import Environment

WORDS = """
    act arena bath call calm gas girl glass goat hat hill kind late lost map me money movie name
    note ocean on ounce path pay pig pink plant play road rug sheep smile sock spy tower try
    tuba walk wine wolf word world yes
"""


class CsvLine(Environment):
    rule = (
        "Write the entries of the input list in order with a comma between them and no spaces added. "
        "An entry that holds a comma or a space is put between two ' signs."
    )

    def sample(self, rng: random.Random, level: int) -> list[str]:
        words = [rng.choice(WORDS.split()) for _ in range(3 + level)]
        return [word + rng.choice(("", "", " ", ",")) + word[0] for word in words]

    def solve(self, x: list[str]) -> str:
        return ",".join(f"'{entry}'" if "," in entry or " " in entry else entry for entry in x)

    def accepts(self, x: list[str]) -> bool:
        return 0 < len(x) <= 14 and sum(map(len, x)) <= 50
