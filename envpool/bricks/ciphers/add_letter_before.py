import itertools
import random

from envpool import Environment

WORDS = """
    ape area arm atlas audio body cool down dust easy fat fire fork free full fun gym ham hope
    ink iron joke juice kite koala log neck night nose oil olive owl radar rain roof ship shy
    skin stone storm tail west why work
"""


class AddLetterBefore(Environment):
    rule = (
        "The input consists of small letters; number them from a as 0 to z as 25. Keep the first "
        "letter. Replace each other letter by the one whose number is the sum of its own and that of "
        "the input letter before it, less 26 where the sum is above 25."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        return "".join(rng.choice(WORDS.split()) for _ in range(1 + level))

    def solve(self, x: str) -> str:
        added = [chr((ord(a) + ord(b) - 194) % 26 + 97) for a, b in itertools.pairwise(x)]
        return x[:1] + "".join(added)

    def accepts(self, x: str) -> bool:
        return 0 < len(x) <= 60 and all("a" <= c <= "z" for c in x)
