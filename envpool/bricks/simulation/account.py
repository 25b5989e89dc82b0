import random

from envpool import Environment


class Account(Environment):
    rule = (
        "An account starts at 0. Add each number of the input list to it in order, but leave it as it is if "
        "it would fall below 0. List the account after each number."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(-9 - 10 * level, 9 + 10 * level) for _ in range(4 + level)]

    def solve(self, x: list[int]) -> list[int]:
        states = [0]
        for number in x:
            states.append(states[-1] + number if states[-1] + number >= 0 else states[-1])
        return states[1:]

    def accepts(self, x: list[int]) -> bool:
        return len(x) <= 20
