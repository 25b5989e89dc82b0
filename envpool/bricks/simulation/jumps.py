import random

from envpool import Environment


class Jumps(Environment):
    rule = (
        "The places of the input list, counted from 0, form a ring. From place 0 on, move ahead by the "
        "number at your place, back if it is negative, until you come to a place visited before. List the "
        "places visited, in order, each once."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        size = 4 + level
        return [rng.randint(1 - level, size + 2 * level) for _ in range(size)]

    def solve(self, x: list[int]) -> list[int]:
        visited, place = [], 0
        while place not in visited:
            visited.append(place)
            place = (place + x[place]) % len(x)
        return visited

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 20
