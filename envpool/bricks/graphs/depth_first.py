import random

from envpool import Environment


class DepthFirst(Environment):
    rule = (
        "To visit a number means to write it down and then to visit the numbers of its list in order, each "
        "only if not written down yet. Visit the smallest key of the input. A number that is no key has no "
        "list. List what you wrote."
    )

    def sample(self, rng: random.Random, level: int) -> dict[int, list[int]]:
        names = sorted(rng.sample(range(1, 10 + 5 * level), 4 + level))
        return {name: rng.sample(names, rng.choice((1, 2, 2))) for name in names}

    def solve(self, x: dict[int, list[int]]) -> list[int]:
        visited: list[int] = []
        waiting = [min(x)]
        while waiting:
            point = waiting.pop()
            if point not in visited:
                visited.append(point)
                waiting += reversed(x.get(point, []))
        return visited

    def accepts(self, x: dict[int, list[int]]) -> bool:
        return 0 < len(x) <= 20
