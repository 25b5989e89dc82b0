import random

from envpool import Environment


class PossibleSums(Environment):
    rule = (
        "List in increasing order all different sums of some numbers of the input list, each place of the "
        "list used at most once; choosing none gives 0."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(1, 9 + 8 * level) for _ in range(2 + level // 2)]

    def solve(self, x: list[int]) -> list[int]:
        sums = {0}
        for number in x:
            sums |= {total + number for total in sums}
        return sorted(sums)

    def accepts(self, x: list[int]) -> bool:
        return len(x) <= 6
