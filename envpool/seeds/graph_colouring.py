import random

from envpool import Environment, Planted


class GraphColouring(Environment):
    rule = (
        "Give every number that occurs a colour: 1, 2 or 3. "
        "The two numbers of a pair must get different colours."
    )

    def sample(self, rng: random.Random, level: int) -> Planted:
        nodes = rng.sample(range(1, 10 + 10 * level), 2 + 2 * level)
        colours = dict(zip(nodes, rng.sample([1, 2, 3], 2), strict=False))
        pairs = [(nodes[0], nodes[1])]
        for node in nodes[2:]:
            colour = rng.randint(1, 3)
            others = [other for other in colours if colours[other] != colour]
            chosen = rng.sample(others, min(len(others), rng.randint(2, 3)))
            pairs += [(other, node) if rng.random() < 0.5 else (node, other) for other in chosen]
            colours[node] = colour
        rng.shuffle(pairs)
        return Planted(pairs, colours)

    def verify(self, x: list[tuple[int, int]], answer: dict[int, int]) -> float:
        numbers = {number for pair in x for number in pair}
        if answer.keys() != numbers or not set(answer.values()) <= {1, 2, 3}:
            return 0.0
        return float(all(answer[one] != answer[other] for one, other in x))
