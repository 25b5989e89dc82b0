import random

from envpool import Environment, Planted


class TopologicalOrder(Environment):
    rule = (
        "Each pair (a, b) means that a comes before b. "
        "List all the numbers that occur, each once, in an order that respects every pair."
    )

    def sample(self, rng: random.Random, level: int) -> Planted:
        order = rng.sample(range(1, 10 + 10 * level), 2 + 2 * level)
        pairs = set()
        for index in range(1, len(order)):
            near = order[max(0, index - 3) : index]
            pairs.update((before, order[index]) for before in rng.sample(near, rng.randint(1, len(near))))
        return Planted(rng.sample(sorted(pairs), len(pairs)), order)

    def verify(self, x: list[tuple[int, int]], answer: list[int]) -> float:
        numbers = {number for pair in x for number in pair}
        if sorted(answer) != sorted(numbers):
            return 0.0
        place = {number: index for index, number in enumerate(answer)}
        return float(all(place[before] < place[after] for before, after in x))
