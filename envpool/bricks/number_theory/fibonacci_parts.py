import random

from envpool import Environment


class FibonacciParts(Environment):
    rule = (
        "The numbers 1, 2, 3, 5, 8 and so on go on with the sum of the last two. Take the largest of them "
        "not above the input, subtract it, and repeat with the rest until it is 0. List the numbers "
        "taken, in order."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(6 * 4**level, 40 * 4**level)

    def solve(self, x: int) -> list[int]:
        numbers, taken = [1, 2], []
        while numbers[-1] <= x:
            numbers.append(numbers[-2] + numbers[-1])
        for number in reversed(numbers):
            if number <= x:
                taken.append(number)
                x -= number
        return taken

    def accepts(self, x: int) -> bool:
        return 1 <= x <= 10**9
