import random

from envpool import Environment


class LongestRise(Environment):
    rule = (
        "Count the numbers in the longest run of neighbouring numbers of the input list in which "
        "every number is larger than the one just before it. A single number is a run of 1; an empty "
        "list gives 0."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        numbers = [rng.randint(5, 30)]
        for _ in range(6 + 3 * level):
            numbers.append(numbers[-1] + rng.choice((1, 2, 4, 7, -3, -6)))
        return numbers

    def solve(self, x: list[int]) -> int:
        longest = run = 0
        for i, n in enumerate(x):
            run = run + 1 if i and n > x[i - 1] else 1
            longest = max(longest, run)
        return longest

    def accepts(self, x: list[int]) -> bool:
        return len(x) <= 40
