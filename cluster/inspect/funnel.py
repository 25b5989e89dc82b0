"""The funnel over a run's time: candidates of one maker by learner step, and what share got past each gate.

Invariant: counted from the pool's journal, where every candidate that was judged is one entry, in the step that was
the learner's last one when the verdict was written. After a fall back to a checkpoint its steps come again, and
their candidates are added to the earlier ones.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from cluster.inspect.history import history
from envpool.admission.passing import STAGES, Passing, Share, change, passing
from envpool.members import Origin
from envpool.store import PoolReader

WINDOWS = 10
"""Into which a history is cut where no width is asked for."""
ADMITTED = ""
Ended = dict[int, Counter[str]]
"""By step, the gates at which candidates ended; `ADMITTED` for those that passed them all."""
Reading = Callable[[Passing], Mapping[str, Share]]
READINGS: dict[str, Reading] = {
    "of all": lambda found: found.of_all,
    "of those that came": lambda found: found.of_those_that_came,
}


@dataclass(frozen=True, slots=True)
class Window:
    """The candidates of some steps, the last one among them."""

    first: int
    last: int
    passing: Passing

    @property
    def steps(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


@dataclass(frozen=True, slots=True)
class Trend:
    """A share in the first and in the second half of the steps; `low` to `high` holds the change with 95 %."""

    before: float
    after: float
    low: float
    high: float

    @property
    def word(self) -> str:
        if self.low > 0:
            return "rose"
        return "fell" if self.high < 0 else "not clear"


def ended_by_step(reader: PoolReader, origin: Origin) -> Ended:
    """What became of one maker's candidates."""
    found: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for entry in history(reader):
        if entry.kind in ("admit", "reject") and entry.origin == origin:
            found[entry.step][entry.gate if entry.kind == "reject" else ADMITTED] += 1
    return dict(found)


def windows(ended: Ended, width: int = 0) -> list[Window]:
    """Windows of `width` steps from step 0 on, those without candidates too; `WINDOWS` of them without a width."""
    if not ended:
        return []
    last = max(ended)
    width = width or -(-(last + 1) // WINDOWS)
    starts = range(0, last + 1, width)
    return [
        Window(start, min(start + width - 1, last), _between(ended, start, start + width)) for start in starts
    ]


def whole(ended: Ended) -> Passing:
    """Over all steps."""
    return _between(ended, 0, max(ended, default=0) + 1)


def trends(ended: Ended, reading: Reading) -> dict[str, Trend]:
    """By stage; without those that one half of the steps has no candidates for."""
    middle = (max(ended, default=0) + 1) // 2
    before = reading(_between(ended, 0, middle))
    after = reading(_between(ended, middle, max(ended, default=0) + 1))
    both = [stage for stage in STAGES if before[stage].of and after[stage].of]
    return {stage: _trend(before[stage], after[stage]) for stage in both}


def plain(ended: Ended, found: list[Window]) -> dict[str, Any]:
    """All of it as plain data."""
    return {
        "stages": STAGES,
        **_plain(whole(ended)),
        "windows": [{"first": each.first, "last": each.last, **_plain(each.passing)} for each in found],
        "trends": {
            name: {stage: asdict(trend) for stage, trend in trends(ended, reading).items()}
            for name, reading in READINGS.items()
        },
    }


def _plain(found: Passing) -> dict[str, Any]:
    return {"candidates": found.candidates, "fell": dict(found.fell)}


def _between(ended: Ended, first: int, end: int) -> Passing:
    inside = (counts for step, counts in ended.items() if first <= step < end)
    return passing(sum(inside, Counter()), ADMITTED)


def _trend(before: Share, after: Share) -> Trend:
    interval = change(before, after)
    return Trend(before.rate or 0.0, after.rate or 0.0, interval.low, interval.high)
