import random

from envpool import Environment


class FollowValues(Environment):
    rule = (
        "Start at the smallest key of the input. Again and again go on to the value of the key where you "
        "are, until that value is no key or was visited before. List the visited keys in order."
    )

    def sample(self, rng: random.Random, level: int) -> dict[int, int]:
        names = sorted(rng.sample(range(1, 10 + 5 * level), 4 + level))
        return {name: rng.choice(names) for name in names}

    def solve(self, x: dict[int, int]) -> list[int]:
        walk = [min(x)]
        while x[walk[-1]] in x and x[walk[-1]] not in walk:
            walk.append(x[walk[-1]])
        return walk

    def accepts(self, x: dict[int, int]) -> bool:
        return 0 < len(x) <= 20
