import random

from envpool import Environment


class TreeEdges(Environment):
    rule = (
        "Each pair of the input is an edge. In order, keep a pair only if its numbers differ and the pairs "
        "kept before do not join them, directly or through others. List the pairs kept."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        top = 3 + level
        return [(rng.randint(1, top), rng.randint(1, top)) for _ in range(4 + level)]

    def solve(self, x: list[tuple[int, int]]) -> list[tuple[int, int]]:
        group = {point: point for edge in x for point in edge}
        kept = []
        for a, b in x:
            if group[a] != group[b]:
                kept.append((a, b))
                group = {point: group[a] if name == group[b] else name for point, name in group.items()}
        return kept

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return len(x) <= 30
