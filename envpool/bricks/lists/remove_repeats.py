import random

from envpool import Environment


class RemoveRepeats(Environment):
    rule = "Keep each number of the input list only where it occurs first."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        numbers = [rng.randint(0, 9 + 10 * level) for _ in range(3 + level)]
        numbers.insert(rng.randint(0, len(numbers)), rng.choice(numbers))
        return numbers

    def solve(self, x: list[int]) -> list[int]:
        return list(dict.fromkeys(x))

    def accepts(self, x: list[int]) -> bool:
        return len(x) > 0
