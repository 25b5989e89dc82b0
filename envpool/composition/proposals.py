"""The orders that one would guess who looks at types alone: all that fit, counted, and drawn without running any.

Invariant: `order` is a bijection between the ranks below `count` and the type-fitting orders of a listing, so a
sample of ranks is a fair sample of orders.
"""

import random
from collections import Counter
from collections.abc import Sequence

from envpool.members import Program

Class = tuple[str, str]
"""Domain and codomain: steps of one class may stand for one another."""


class Proposals:
    """Orders of `size` different listed steps whose types lead from the domain to the codomain."""

    def __init__(self, listed: Sequence[Program], size: int, domain: str, codomain: str) -> None:
        self._classes: list[Class] = [(step.domain, step.codomain) for step in listed]
        self._size, self._domain, self._codomain = size, domain, codomain
        self._ways_from: dict[tuple[str, tuple[Class, ...], int], int] = {}

    @property
    def count(self) -> int:
        """How many there are; at most n!/(n - t)! for t of n steps."""
        return self._ways(self._domain, self._classes, self._size)

    def draw(self, rng: random.Random, most: int) -> list[list[int]]:
        """All orders where there are at most so many, else as many different ones at random."""
        count = self.count
        ranks = range(count) if count <= most else rng.sample(range(count), most)
        return [self.order(rank) for rank in ranks]

    def order(self, rank: int) -> list[int]:
        """One of the orders, as numbers of listed steps from 1; `rank` is below `count`."""
        found: list[int] = []
        reached, left = self._domain, dict(enumerate(self._classes, 1))
        while len(found) < self._size:
            number, rank = self._next(reached, left, self._size - len(found) - 1, rank)
            reached = left.pop(number)[1]
            found.append(number)
        return found

    def _next(self, reached: str, left: dict[int, Class], more: int, rank: int) -> tuple[int, int]:
        """The step under which the rank lies, and its rank there."""
        for number, (domain, codomain) in left.items():
            if domain == reached:
                others = [each for other, each in left.items() if other != number]
                ways = self._ways(codomain, others, more)
                if rank < ways:
                    return number, rank
                rank -= ways
        raise IndexError("no order has this rank")

    def _ways(self, reached: str, left: Sequence[Class], more: int) -> int:
        """In how many ways so many more of these steps lead from the type reached to the codomain."""
        if more == 0:
            return int(reached == self._codomain)
        key = reached, tuple(sorted(left)), more
        if key not in self._ways_from:
            self._ways_from[key] = sum(
                number * self._ways(codomain, _without(left, (domain, codomain)), more - 1)
                for (domain, codomain), number in Counter(left).items()
                if domain == reached
            )
        return self._ways_from[key]


def _without(classes: Sequence[Class], one: Class) -> list[Class]:
    place = list(classes).index(one)
    return [*classes[:place], *classes[place + 1 :]]
