import random

from envpool import Environment

WORDS = """
    ant bag ball bat bed body box call camp care coat down drop gray hand hat jam kid leaf life lime
    love mail path pie poem pot rich roof run safe salt shop sock tin toe warm west wet wing
"""


class BestKey(Environment):
    rule = "Give the key with the largest value in the input; of several the first in the alphabet."

    def sample(self, rng: random.Random, level: int) -> dict[str, int]:
        names = [rng.choice(WORDS.split()) for _ in range(2 + level)]
        return {name: rng.randint(0, 9 + 10 * level) for name in names}

    def solve(self, x: dict[str, int]) -> str:
        return max(sorted(x), key=lambda key: x[key])

    def accepts(self, x: dict[str, int]) -> bool:
        return len(x) > 0 and all(key.isalpha() and key.islower() for key in x)
