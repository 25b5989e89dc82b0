import bisect
import random

from envpool import Environment


class LongestIncreasingSubsequence(Environment):
    rule = (
        "Cross out numbers so that the rest increases from left to right, each larger than the one before. "
        "How many numbers can stay at most?"
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        numbers = rng.sample(range(1, 10 + 10 * level), 3 + 2 * level)
        # A rising and a falling part, interleaved: in random lists the answers lie close together.
        cut = rng.randint(0, len(numbers))
        rising, falling = sorted(numbers[:cut]), sorted(numbers[cut:], reverse=True)
        places = set(rng.sample(range(len(numbers)), cut))
        return [(rising if place in places else falling).pop(0) for place in range(len(numbers))]

    def solve(self, x: list[int]) -> int:
        ends: list[int] = []  # ends[k]: the smallest end of an increasing subsequence of length k + 1
        for number in x:
            at = bisect.bisect_left(ends, number)
            ends[at : at + 1] = [number]
        return len(ends)
