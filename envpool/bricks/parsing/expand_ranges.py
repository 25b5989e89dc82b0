import random
import re

from envpool import Environment


class ExpandRanges(Environment):
    rule = (
        "The input holds whole numbers and ranges such as 4-7 (all from 4 to 7), with commas between "
        "them, such as 2,4-7,9. List all numbers in order. A range whose end is smaller than its "
        "start is empty. Leading zeros change nothing."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        parts, n = [], rng.randint(0, 9)
        for _ in range(2 + level):
            end = n + rng.randint(0, 3)
            parts.append(f"{n}-{end}" if end > n else str(n))
            n = end + rng.randint(2, 9)
        return ",".join(parts)

    def solve(self, x: str) -> list[int]:
        numbers = []
        for part in x.split(","):
            start, _, end = part.partition("-")
            numbers += range(int(start), int(end or start) + 1)
        return numbers

    def accepts(self, x: str) -> bool:
        if re.fullmatch(r"([0-9]{1,4}(-[0-9]{1,4})?,){0,12}[0-9]{1,4}(-[0-9]{1,4})?", x) is None:
            return False
        spans = re.findall(r"([0-9]+)-([0-9]+)", x)
        return sum(max(0, int(end) - int(start)) for start, end in spans) <= 20
