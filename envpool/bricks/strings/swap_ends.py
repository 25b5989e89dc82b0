import random

from envpool import Environment

WORDS = """
    act add age aim air ant arm art ask bad bag bat bed bee big box boy bus cap car cat cow cup day
    dog dry ear egg end fat fly fox fun ham hat hen hot ice jam job key kid leg log mad man map net
    nut oak oil pay pen pet pie pig pot red run sad sea sit sky sun tea ten tin toe top toy van war
    way wet yes zoo
"""


class SwapEnds(Environment):
    rule = "Swap the first and the last character of the input."

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(1 + level))

    def solve(self, x: str) -> str:
        return x[-1] + x[1:-1] + x[0] if len(x) > 1 else x

    def accepts(self, x: str) -> bool:
        return len(x) > 1
