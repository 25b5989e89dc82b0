"""Program texts for the gates: one sound program, and what each of them is broken by."""

SOUND = """
import random

from envpool import Environment


class CountLarge(Environment):
    rule = "The input is a list of integers. Count the numbers that are larger than 5."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(1, 9 + level) for _ in range(3 + 2 * level)]

    def solve(self, x: list[int]) -> int:
        return sum(n > 5 for n in x)
"""

RENAMED = """
from envpool import Environment
import random

class HowMany(Environment):
    rule = "How many numbers of the list are larger than five?"
    def solve(self, x: list[int]) -> int:
        return sum(item > 5 for item in x)   # count them
    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(1, 9 + level) for _ in range(3 + 2 * level)]
"""

REWRITTEN = """
import random

from envpool import Environment


class Loop(Environment):
    rule = "Say how often a number above five occurs in the list."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        size = rng.randint(4, 6) + level
        return [rng.randrange(12) for _ in range(size)]

    def solve(self, x: list[int]) -> int:
        found = 0
        for number in x:
            if not number <= 5:
                found += 1
        return found
"""

FEASIBLE = """
import random

from envpool import Environment, Planted


class PairWithSum(Environment):
    rule = "The input is a list of numbers and a target. Give two different positions (from 0) whose numbers add up to it."

    def sample(self, rng: random.Random, level: int) -> Planted:
        numbers = [rng.randint(1, 20 + 10 * level) for _ in range(4 + 2 * level)]
        i, j = rng.sample(range(len(numbers)), 2)
        return Planted((numbers, numbers[i] + numbers[j]), [i, j])

    def verify(self, x: tuple[list[int], int], answer: list[int]) -> float:
        numbers, target = x
        if len(answer) != 2 or answer[0] == answer[1] or not all(0 <= i < len(numbers) for i in answer):
            return 0.0
        return float(numbers[answer[0]] + numbers[answer[1]] == target)
"""  # noqa: E501


def with_sample(body: str) -> str:
    """The sound program with another body of `sample`."""
    return SOUND.replace("return [rng.randint(1, 9 + level) for _ in range(3 + 2 * level)]", body)


def with_solve(body: str, codomain: str = "int", imports: str = "") -> str:
    """The sound program with another body of `solve`."""
    source = SOUND.replace("return sum(n > 5 for n in x)", body).replace("-> int:", f"-> {codomain}:")
    return source.replace("import random\n", f"import random\n{imports}\n", 1)


def with_verify(body: str) -> str:
    """The feasible program with another body of `verify`."""
    return FEASIBLE[: FEASIBLE.index("        numbers, target = x")] + f"        {body}\n"
