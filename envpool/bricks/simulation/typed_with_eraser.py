import random

from envpool import Environment


class TypedWithEraser(Environment):
    rule = (
        "The characters of the input are typed in order, but each small e, instead of being written, erases "
        "the last character still there, if any. Give the text that is left."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        return "".join(rng.choice("abcdeegmnorst") for _ in range(6 + 2 * level))

    def solve(self, x: str) -> str:
        kept: list[str] = []
        for character in x:
            if character != "e":
                kept.append(character)
            elif kept:
                kept.pop()
        return "".join(kept)

    def accepts(self, x: str) -> bool:
        return len(x) <= 80
