"""Different questions out of a pool, for data that is to lie still: training, and two sets that are held out.

`train`: of members that are trained on, from the training side of the split. `held_out_questions`: of the same members,
from the other side. `held_out_families`: of members that are set apart whole.

Invariant: no question comes twice, in one split or in two. The same pool and seed give the same questions in the same
order, and a larger count the same ones and more.
"""

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, get_args

from envpool.async_pool import NoQuestion
from envpool.contract import Instance, seeded
from envpool.exchange.draws import Families, item_seed
from envpool.pool import Pool
from envpool.returned import ProgramFault

Split = Literal["train", "held_out_questions", "held_out_families"]
SPLITS: tuple[Split, ...] = get_args(Split)
REPEATS = 20
"""Draws of a member in a row that ask nothing new, after which it is held to have no more questions (ours)."""


@dataclass(slots=True)
class Gathering:
    """Takes questions of a pool until there are no more."""

    pool: Pool
    seed: int = 0
    level: int | None = None
    """Of programs; None: where the run's policy stands."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Draws that were passed over, by the member whose program broke on them."""
    _seen: set[str] = field(default_factory=set)

    def take(self, split: Split, count: int) -> Iterator[Instance]:
        """So many questions of a split, fewer where the pool has no more.

        Raises SandboxUnavailable, InfrastructureFault.
        """
        return itertools.islice(self._new(split), count)

    def _new(self, split: Split) -> Iterator[Instance]:
        """Those of one split that were not seen before, until every member has no more."""
        apart = split == "held_out_families"
        picks = Families(self.pool.snapshot).picks(seeded(f"{split}:{self.seed}"), apart)
        repeats = dict.fromkeys(self.pool.ids(held_out=apart), 0)  # of those that may have more
        for item, member in enumerate(picks):
            if not repeats:
                return
            if member not in repeats:
                continue
            instance = self._drawn(member, item_seed(self.seed, item), held_out=split != "train")
            if instance is not None and instance.digest not in self._seen:
                self._seen.add(instance.digest)
                repeats[member] = 0
                yield instance
                continue
            repeats[member] += 1
            if instance is None or repeats[member] == REPEATS:
                del repeats[member]

    def _drawn(self, member: str, seed: int, held_out: bool) -> Instance | None:
        try:
            return self.pool.draw(seed, member=member, level=self.level, held_out=held_out)
        except NoQuestion:
            return None
        except ProgramFault as fault:
            self.left_out[fault.member] += 1
            return None
