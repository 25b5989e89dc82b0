import random

from envpool import Environment


class WriteRanges(Environment):
    rule = (
        "Go through the input list and join each longest run in which every number is one more than "
        "the number before it. Write a run as its first number, a dash and its last number, a single "
        "number as itself; put commas between them."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        numbers = [rng.randint(0, 9)]
        for _ in range(3 + level):
            numbers.append(numbers[-1] + rng.choice((1, 1, 1, 3, 6)))
        return numbers

    def solve(self, x: list[int]) -> str:
        runs = []
        for n in x:
            if runs and n == runs[-1][-1] + 1:
                runs[-1].append(n)
            else:
                runs.append([n])
        return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 20 and all(0 <= n <= 9999 for n in x)
