import random

from envpool import Environment


class PassOneOn(Environment):
    rule = (
        "The keys of the input form a ring in increasing order, the smallest after the largest. All at "
        "once, each key with a value above 0 gives one to the next. Give the new values."
    )

    def sample(self, rng: random.Random, level: int) -> dict[int, int]:
        names = sorted(rng.sample(range(1, 10 + 5 * level), 3 + level))
        return {name: rng.choice((0, 0, 1, rng.randint(1, 9 + level))) for name in names}

    def solve(self, x: dict[int, int]) -> dict[int, int]:
        order = sorted(x)
        return {key: x[key] - (x[key] > 0) + (x[order[place - 1]] > 0) for place, key in enumerate(order)}

    def accepts(self, x: dict[int, int]) -> bool:
        return 0 < len(x) <= 20
