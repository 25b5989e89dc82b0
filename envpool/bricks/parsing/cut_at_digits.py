import random
import re

from envpool import Environment

WORDS = """
    alien arena atlas audio boy bus call calm card city cook dark date fact fly heat help hot
    image iota iron lime luck my name no on pay play radio rose ship shy snake stop storm talk
    toe top train tree truck view zoo
"""


class CutAtDigits(Environment):
    rule = (
        "Cut the input between every digit and every character beside it that is no digit, and "
        "nowhere else. List the pieces in order."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        words = [rng.choice(WORDS.split()) for _ in range(2 + level)]
        return "".join(word + str(rng.randint(1, 99)) for word in words)

    def solve(self, x: str) -> list[str]:
        return re.findall(r"[0-9]+|[^0-9]+", x)

    def accepts(self, x: str) -> bool:
        return x.isascii() and 0 < len(x) <= 50 and len(re.findall(r"[0-9]+|[^0-9]+", x)) <= 14
