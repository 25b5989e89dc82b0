import random

from envpool import Environment


class MergedSpans(Environment):
    rule = (
        "Each pair of the input spans its smaller to its larger number, both included. Merge spans that "
        "share a number, until no two do, into one from their smallest to their largest number. List the "
        "spans as pairs (smaller, larger) in increasing order."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        spans = [(rng.randint(0, 12 + 8 * level), rng.randint(0, 6)) for _ in range(3 + level)]
        return [(start, start + length) for start, length in spans]

    def solve(self, x: list[tuple[int, int]]) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = []
        for low, high in sorted((min(pair), max(pair)) for pair in x):
            if spans and low <= spans[-1][1]:
                spans[-1] = (spans[-1][0], max(high, spans[-1][1]))
            else:
                spans.append((low, high))
        return spans

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return len(x) <= 30
