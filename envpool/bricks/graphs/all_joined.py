import random

from envpool import Environment


class AllJoined(Environment):
    rule = (
        "Each pair of the input is an edge that joins its two numbers. Can every number in the pairs be "
        "reached from every other one along edges?"
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        names = rng.sample(range(1, 10 + 5 * level), 5 + level)
        edges = [(names[rng.randrange(place)], names[place]) for place in range(1, len(names))]
        if rng.random() < 0.5:
            own, other = names[:2], names[2:]
            edges = [(other[rng.randrange(place)], other[place]) for place in range(1, len(other))]
            edges += [(own[0], own[1]), tuple(rng.sample(other, 2))]
        return rng.sample(edges, len(edges))

    def solve(self, x: list[tuple[int, int]]) -> bool:
        reached = {n for edge in x[:1] for n in edge}
        for _ in x:
            reached |= {point for edge in x if reached & set(edge) for point in edge}
        return all(edge[0] in reached for edge in x)

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return 0 < len(x) <= 30
