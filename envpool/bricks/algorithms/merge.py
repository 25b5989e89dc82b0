import random

from envpool import Environment


class Merge(Environment):
    rule = (
        "Join the two lists of the input: compare their first numbers, move the smaller one (of equal "
        "ones that of the first list) to the end of the result, and repeat. When a list is empty, "
        "append the rest of the other."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[list[int], list[int]]:
        top = 20 + 10 * level
        first = sorted(rng.randint(0, top) for _ in range(2 + level))
        return first, sorted(rng.randint(0, top) for _ in range(3 + level))

    def solve(self, x: tuple[list[int], list[int]]) -> list[int]:
        first, second = map(list, x)
        merged = []
        while first and second:
            merged.append(first.pop(0) if first[0] <= second[0] else second.pop(0))
        return merged + first + second

    def accepts(self, x: tuple[list[int], list[int]]) -> bool:
        return sum(map(len, x)) <= 30
