"""What a policy has shown of programs and composites, as its curator last wrote it into the pool.

Invariant: older answers weigh less, as in the curator's own hands; nothing is guessed here. A class of members that is
not drawn has shown nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from envpool.curation.saved import recents
from envpool.curation.standings import order_guess
from envpool.curation.tracks import Recent, above_guessing
from envpool.members import Member, OperatorName, Program
from envpool.store.reading import PoolReads


@dataclass(frozen=True, slots=True)
class Answered:
    """A composite and the answers to it."""

    operator: OperatorName
    steps: tuple[str, ...]
    """The programs whose work it asks for: distractors are none of them."""
    recent: Recent
    guess: float = 0.0
    """Its guess rate."""

    @property
    def above_guessing(self) -> tuple[float, float]:
        """Weights of the answers that no guess decided, and of the successes among them."""
        return above_guessing(self.recent.weight, self.recent.successes, self.guess)

    @property
    def size(self) -> int:
        return len(self.steps)


@dataclass(frozen=True, slots=True)
class Shown:
    """Success lately, at the level that composites are asked at."""

    programs: Mapping[str, Recent] = field(default_factory=dict)
    composites: tuple[Answered, ...] = ()


class Showing:
    """Reads it again and again; what a member is made of is read once."""

    def __init__(self, key: str, level: int) -> None:
        """`key` is where the pool's state has the curator's; `level` the one that composites are asked at."""
        self._key, self._level = key, level
        self._members: dict[str, Member] = {}

    def read(self, pool: PoolReads) -> Shown:
        """Everything so far; nothing before the curator wrote for the first time."""
        state: Mapping[str, Any] | None = pool.state(self._key)
        programs: dict[str, Recent] = {}
        composites: list[Answered] = []
        for member, levels in recents(state).items():
            found, recent = self._member(pool, member), levels.get(self._level)
            if found is None or recent is None or not recent.weight:
                continue
            material = found.material
            if isinstance(material, Program):
                programs[member] = recent
            else:
                steps = tuple(step for chain in material.chains for step in chain)
                composites.append(Answered(material.operator, steps, recent, order_guess(found)))
        return Shown(programs, tuple(composites))

    def _member(self, pool: PoolReads, member: str) -> Member | None:
        """None of one that this replica of the pool does not have yet."""
        if member not in self._members and (found := pool.get(member)):
            self._members[member] = found
        return self._members.get(member)
