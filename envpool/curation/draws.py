"""Whose turn it is: shares of the draws for seeds, composites and others, and the pick inside a class.

Invariants: after any number n of draws the seeds had at least floor x n of them, less a constant; in a class
with a share above 0 every member is drawn again and again, however small its weight. What a weight means is
the curator's affair.
"""

import random
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from itertools import accumulate

from envpool.curation.settings import COMPOSITES, GROUPS, SEEDS, CurationSettings


class Turns:
    """Deals draws out so that each class has its share at any time, within one or two draws."""

    def __init__(self) -> None:
        self.credits = dict.fromkeys(GROUPS, 0.0)

    def next(self, shares: Mapping[str, float]) -> str:
        """The class that is owed most; shares sum to 1."""
        for group, share in shares.items():
            self.credits[group] += share
        chosen = max(shares, key=lambda group: self.credits[group])
        self.credits[chosen] -= 1
        return chosen


class Pot:
    """The members of one class that are awake, in the order in which they wait."""

    def __init__(self) -> None:
        self.waiting: OrderedDict[str, None] = OrderedDict()
        self._members: list[str] = []
        self._bounds: list[float] = []

    def put(self, member: str) -> None:
        """Adds a member at the end of the queue."""
        self.waiting[member] = None

    def take(self, member: str) -> None:
        """Removes a member, if it is there."""
        self.waiting.pop(member, None)

    def reorder(self, members: Iterable[str]) -> None:
        """Puts these members, as far as they are here, into this order, before all others."""
        known = dict.fromkeys(member for member in members if member in self.waiting)
        others = [member for member in self.waiting if member not in known]
        self.waiting = OrderedDict.fromkeys([*known, *others])

    def weigh(self, weights: Mapping[str, float]) -> float:
        """Takes the weights of its members from the map; their sum."""
        self._members = list(self.waiting)
        self._bounds = list(accumulate(weights[member] for member in self._members))
        return self._bounds[-1] if self._bounds else 0.0

    def pick(self, rng: random.Random, waiting_share: float) -> str:
        """The member that waited longest, with that probability, else one by weight."""
        if rng.random() < waiting_share:
            member = next(iter(self.waiting))
        else:
            point = rng.random() * self._bounds[-1]
            member = self._members[min(bisect_right(self._bounds, point), len(self._members) - 1)]
        self.waiting.move_to_end(member)
        return member


def shares(masses: Mapping[str, float], settings: CurationSettings) -> dict[str, float]:
    """Shares, summing to 1, of the classes in `masses`: those with members awake, and their summed weights.

    Seeds have their floor, composites their configured share, and of what is left each class has its part by
    weight, and at least its equal part of `waiting_share`.
    """
    fixed: dict[str, float] = {}
    if settings.composite_share is not None and COMPOSITES in masses and len(masses) > 1:
        fixed[COMPOSITES] = settings.composite_share
    free = [group for group in masses if group not in fixed]
    floor = settings.seed_floor if SEEDS in masses else 0.0
    left = 1 - floor - sum(fixed.values())
    total = sum(masses[group] for group in free)
    least = settings.waiting_share / len(free)
    parts = {group: left * (least + (1 - settings.waiting_share) * masses[group] / total) for group in free}
    if SEEDS in parts:
        parts[SEEDS] += floor
    return parts | fixed
