import random

from envpool import Environment


class HasRoundTrip(Environment):
    rule = (
        "Each number in a key's list in the input is an arrow from the key to it. Is there a number from "
        "which one or more arrows lead back to itself?"
    )

    def sample(self, rng: random.Random, level: int) -> dict[int, list[int]]:
        names = rng.sample(range(1, 10 + 5 * level), 4 + level)
        ways = {
            a: [b for b in names[place:] if b != a and rng.random() < 0.5] for place, a in enumerate(names)
        }
        ways[names[0]] = names[1:3]
        goal = names[rng.randint(1, 2)]
        start, end = rng.choice(((names[0], goal), (goal, names[0])))
        ways[start] = sorted({*ways[start], end})
        return {name: sorted(ways[name])[:3] for name in sorted(names)}

    def solve(self, x: dict[int, list[int]]) -> bool:
        left = sorted(x)
        while free := [key for key in left if not any(number in left for number in x[key])]:
            left = [key for key in left if key not in free]
        return bool(left)

    def accepts(self, x: dict[int, list[int]]) -> bool:
        return len(x) <= 20
