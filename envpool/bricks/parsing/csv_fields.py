import random

from envpool import Environment

WORDS = """
    bed boat canal cap cloud cold cook cup desk east food gas gold gray green head help hill
    horn life mark me moon nest news ninja nose oil queen rest river rose sea sing soft storm
    tea team top true try west whale wood
"""


class CsvFields(Environment):
    rule = (
        "The fields of the input are separated by commas. List them in order, each without the spaces "
        "at its start and at its end; a field may be empty. A ' sign is a character like any other."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        fields = [rng.choice(WORDS.split()) for _ in range(2 + level)]
        return ",".join(rng.choice(("", " ")) + field for field in fields)

    def solve(self, x: str) -> list[str]:
        return [field.strip(" ") for field in x.split(",")]

    def accepts(self, x: str) -> bool:
        return x.isascii() and "," in x and len(x) <= 60 and x.count(",") <= 12
