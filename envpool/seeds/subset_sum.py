import collections
import random

from envpool import Environment, Planted


class SubsetSum(Environment):
    rule = (
        "The input is a target and a list of numbers. Choose numbers from the list that add up to the "
        "target, each at most as often as it is listed."
    )

    def sample(self, rng: random.Random, level: int) -> Planted:
        numbers = [rng.randint(1, 9 * 2**level) for _ in range(2 + 2 * level)]
        chosen = rng.sample(numbers, rng.randint(1 + level, 2 + level))
        return Planted((sum(chosen), numbers), chosen)

    def verify(self, x: tuple[int, list[int]], answer: list[int]) -> float:
        target, numbers = x
        return float(sum(answer) == target and collections.Counter(answer) <= collections.Counter(numbers))
