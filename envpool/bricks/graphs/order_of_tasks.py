import random

from envpool import Environment


class OrderOfTasks(Environment):
    rule = (
        "In each pair of the input, the second number waits until the first is done. Again and again do the "
        "smallest number of the pairs that is not done and waits for none; stop when there is none. List "
        "the numbers in the order done."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        order = rng.sample(range(1, 8 + 2 * level), 4 + level)
        edges = [sorted(rng.sample(range(len(order)), 2)) for _ in range(4 + level)]
        return [(order[a], order[b]) for a, b in edges]

    def solve(self, x: list[tuple[int, int]]) -> list[int]:
        left, done = sorted({point for edge in x for point in edge}), []
        while ready := [point for point in left if not any(a in left and b == point for a, b in x)]:
            left.remove(ready[0])
            done.append(ready[0])
        return done

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return len(x) <= 30
