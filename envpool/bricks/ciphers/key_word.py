import random

from envpool import Environment

WORDS = """
    add alien apple aqua bell book box cat code cup egg fat field gas gate he hope house idea
    iota key kid lady line log meat mouth my neck oven page party queen ride rock rose saga
    sheep size sugar sun swim true try
"""


class KeyWord(Environment):
    rule = (
        "The input is a text and a key. Put the key under the text, again and again to its end. Move "
        "each small letter of the text forward by the place of the key letter under it (a is 0, b is "
        "1); a follows z. Other characters stay."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[str, str]:
        text = " ".join(rng.choice(WORDS.split()) for _ in range(1 + level))
        return text, rng.choice(WORDS.split())

    def solve(self, x: tuple[str, str]) -> str:
        text, key = x
        moved = [(c, ord(key[i % len(key)]) - 97) for i, c in enumerate(text)]
        return "".join(chr((ord(c) - 97 + by) % 26 + 97) if "a" <= c <= "z" else c for c, by in moved)

    def accepts(self, x: tuple[str, str]) -> bool:
        text, key = x
        return (
            text.isascii()
            and 0 < len(text) <= 60
            and 0 < len(key) <= 60
            and all("a" <= c <= "z" for c in key)
        )
