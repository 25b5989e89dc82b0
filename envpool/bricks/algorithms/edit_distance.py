import random

from envpool import Environment


class EditDistance(Environment):
    rule = (
        "Give the fewest changes that turn the first text of the input into the second; a change "
        "inserts, deletes or replaces one character."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[str, str]:
        first = "".join(rng.choice("abcde") for _ in range(4 + level))
        return first, "".join(rng.choice("abcde") for _ in range(rng.randint(3, 5) + level))

    def solve(self, x: tuple[str, str]) -> int:
        first, second = x
        row = list(range(len(second) + 1))
        for a in first:
            new = [row[0] + 1]
            for i, b in enumerate(second):
                new.append(min(row[i] + (a != b), row[i + 1] + 1, new[i] + 1))
            row = new
        return row[-1]

    def accepts(self, x: tuple[str, str]) -> bool:
        return max(map(len, x)) <= 30
