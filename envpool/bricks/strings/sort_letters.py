import random

from envpool import Environment

WORDS = """
    age arm ask bad bag bat bed big bus cap car cat cup day dog ear end eye fat fun ham hat hen ice
    jam job key kid leg log mad man map net nut oak oil pay pen pet pie pig pot red run sad sea sit
    sky sun tea ten tin toe top toy van war way wet yes zoo
"""


class SortLetters(Environment):
    rule = "Write the small letters of the input in alphabetical order; leave out everything else."

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(1 + level))

    def solve(self, x: str) -> str:
        return "".join(sorted(c for c in x if "a" <= c <= "z"))
