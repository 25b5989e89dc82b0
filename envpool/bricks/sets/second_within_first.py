import random

from envpool import Environment


class SecondWithinFirst(Environment):
    rule = (
        "Does every number of the second list of the input also occur in the first list? For an empty "
        "second list the answer is yes."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[list[int], list[int]]:
        first = [rng.randint(0, 9 + 5 * level) for _ in range(4 + level)]
        second = [rng.choice(first) for _ in range(3 + level)]
        if rng.random() < 0.5:
            second[rng.randrange(len(second))] = rng.choice(
                [n for n in range(10 + 5 * level) if n not in first]
            )
        return first, second

    def solve(self, x: tuple[list[int], list[int]]) -> bool:
        return set(x[1]) <= set(x[0])

    def accepts(self, x: tuple[list[int], list[int]]) -> bool:
        return len(x[0]) + len(x[1]) <= 40
