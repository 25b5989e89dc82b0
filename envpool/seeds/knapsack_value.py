import random

from envpool import Environment


class KnapsackValue(Environment):
    rule = (
        "The input is a weight limit and a list of items (weight, value). Choose items, each at most once, "
        "whose weights sum to at most the limit. What is the largest total value?"
    )

    def sample(self, rng: random.Random, level: int) -> tuple[int, list[tuple[int, int]]]:
        heavy = 5 + 2 * level
        items = [(rng.randint(1, heavy), rng.randint(1, 9 + 5 * level)) for _ in range(2 + 2 * level)]
        total = sum(weight for weight, _ in items)
        return rng.randint((total + 1) // 2, total), items

    def solve(self, x: tuple[int, list[tuple[int, int]]]) -> int:
        limit, items = x
        best = [0] * (limit + 1)
        for weight, value in items:
            for room in range(limit, weight - 1, -1):
                best[room] = max(best[room], best[room - weight] + value)
        return best[limit]

    def accepts(self, x: tuple[int, list[tuple[int, int]]]) -> bool:
        limit, items = x
        return 0 <= limit <= 10_000 and all(weight > 0 and value >= 0 for weight, value in items)
