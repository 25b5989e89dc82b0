"""What share of candidates gets past each gate, from the gates that they ended at.

Two readings: of all candidates, which never rises from one stage to the next and ends with the share admitted; and of
those that came to the gate. They differ since the look for copies comes before anything runs: a copy is stopped there,
whatever its program would have done, and where copies grow fewer programs reach L2 that need be no worse.
Pure: who counted, and over which time, is the caller's.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from envpool.admission.verdict import GATES
from envpool.answer_counts import Interval, wilson

STAGE_OF_GATE = {
    **dict.fromkeys(("reply", "size", "L1", "imports", "scan"), "L1"),
    **dict.fromkeys(("duplicate", "near_duplicate", "contamination"), "no_copy"),
}
"""Gates that are one stage; every other one is its own."""
STAGES = tuple(dict.fromkeys(STAGE_OF_GATE.get(gate, gate) for gate in GATES))


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many."""

    passed: int
    of: int

    @property
    def rate(self) -> float | None:
        """None of nothing."""
        return self.passed / self.of if self.of else None

    @property
    def interval(self) -> Interval:
        """Of the rate, with 95 % confidence, where candidates are independent."""
        return wilson(self.rate or 0.0, self.of)


@dataclass(frozen=True, slots=True)
class Passing:
    """How many candidates there were, and how many of them fell at each stage."""

    candidates: int
    fell: Mapping[str, int]

    @property
    def of_all(self) -> dict[str, Share]:
        """By stage, those past it, of all candidates."""
        return {
            stage: Share(share.passed, self.candidates) for stage, share in self.of_those_that_came.items()
        }

    @property
    def of_those_that_came(self) -> dict[str, Share]:
        """By stage, those past it, of those that were past the one before."""
        found, left = {}, self.candidates
        for stage in STAGES:
            found[stage] = Share(left - self.fell[stage], left)
            left -= self.fell[stage]
        return found


def passing(ended: Mapping[str, int], through: str = "") -> Passing:
    """From counts by the gate where candidates fell; those under `through` passed all of them.

    A gate that is not known here counts as the first one, so that no share is too high.
    """
    fell = dict.fromkeys(STAGES, 0)
    for gate, count in ended.items():
        if gate != through:
            stage = STAGE_OF_GATE.get(gate, gate)
            fell[stage if stage in fell else STAGES[0]] += count
    return Passing(sum(ended.values()), fell)


def change(before: Share, after: Share) -> Interval:
    """The 95 % interval of the difference of two independent shares (Newcombe 1998, method 10, from Wilson's)."""
    first, second = before.rate or 0.0, after.rate or 0.0
    low, high = before.interval, after.interval
    down = ((second - high.low) ** 2 + (low.high - first) ** 2) ** 0.5
    up = ((high.high - second) ** 2 + (first - low.low) ** 2) ** 0.5
    return Interval(max(-1.0, second - first - down), min(1.0, second - first + up))
