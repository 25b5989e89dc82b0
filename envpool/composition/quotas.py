"""Quotas: how often each brick may still be used, and the weighted choice by what remains.

Invariant: what remains of a quota falls by one with each use, and rises only through `grant`, for every id
alike. Nothing here knows what a brick is.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence


class Quotas:
    """Uses left for each id (RACES: candidates are weighted by what is left of their quota)."""

    def __init__(self, uses: int) -> None:
        self._granted = uses
        self._used: Counter[str] = Counter()

    def grant(self, uses: int) -> None:
        """Allow every id this many more uses."""
        self._granted += uses

    def spend(self, ids: Iterable[str]) -> None:
        """Count one use of each id."""
        self._used.update(ids)

    def remaining(self, id: str) -> int:
        """Uses left for the id."""
        return max(0, self._granted - self._used[id])

    def allow(self, ids: Iterable[str]) -> bool:
        """Whether each of the ids has a use left."""
        return all(self.remaining(id) for id in ids)

    def choose(
        self, rng: random.Random, ids: Sequence[str], count: int, weight: Callable[[str], float] | None = None
    ) -> list[str]:
        """Up to `count` different ids, by what is left of their quota times their weight; spent ones never.

        The weight of an id is 0 (never chosen) or above; 1 where not given.
        """
        # Keys u^(1/w), largest first: a weighted draw without replacement.
        weights = ((id, self.remaining(id) * (weight(id) if weight else 1.0)) for id in ids)
        keys = [(rng.random() ** (1 / each), id) for id, each in weights if each > 0]
        return [id for _, id in sorted(keys, reverse=True)[:count]]
