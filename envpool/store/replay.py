"""The journal read from its beginning: where every id stands, and every count, as the history alone tells it.

Invariant: entries are taken in order; one that does not follow from those before it is named. The records, indexes and
counters of the pool are never looked at: they are what this is held against.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from envpool.answer_counts import AnswerCount, Counts
from envpool.members import Status
from envpool.store.encoding import JournalEntry
from envpool.store.reading import ADMITTED_GATE

MOVED = ("admit", "reject", "move")


@dataclass(slots=True)
class Replay:
    """Sums over the entries added so far."""

    sequence: int = 0
    standing: dict[str, str] = field(default_factory=dict)
    """Status by id."""
    gates: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How many candidates ended at a gate, by gate and maker."""
    answers: dict[tuple[str, str, int], Counts] = field(default_factory=dict)
    """By policy, id and level."""
    levels: dict[tuple[str, str], int] = field(default_factory=dict)
    """By policy and id."""

    def add(self, entry: JournalEntry) -> Iterator[str]:
        """Takes the next entry; yields in words what contradicts those before it."""
        if entry.seq != self.sequence + 1:
            yield f"it follows {self.sequence}: there is a gap"
        self.sequence = entry.seq
        if entry.kind in MOVED:
            yield from self._move(entry)
        elif entry.kind == "answers":
            self._count(entry)
        elif entry.kind == "level":
            yield from self._set_level(entry)
        elif entry.kind == "distrust":
            self._forget(entry)
        else:
            yield f"its kind {entry.kind!r} is unknown"

    def _move(self, entry: JournalEntry) -> Iterator[str]:
        was = self.standing.get(entry.id, "")
        if entry.frm != was:
            yield f"{entry.id} goes from {entry.frm!r} to {entry.to!r}, and stood at {was!r}"
        if entry.kind == "admit" and was not in ("", Status.REJECTED):
            yield f"{entry.id} is admitted again"
        self.standing[entry.id] = Status(entry.to)
        if entry.kind != "move":
            self.gates[entry.gate if entry.kind == "reject" else ADMITTED_GATE, entry.origin] += 1

    def _count(self, entry: JournalEntry) -> None:
        for fields in entry.evidence["counts"]:
            answer = AnswerCount(*fields)
            key = (answer.policy, answer.member, answer.level)
            self.answers[key] = self.answers.get(key, Counts()) + answer.counts

    def _forget(self, entry: JournalEntry) -> None:
        """All answers to a member that lies."""
        for key in [key for key in self.answers if key[1] == entry.id]:
            del self.answers[key]

    def _set_level(self, entry: JournalEntry) -> Iterator[str]:
        key = (entry.evidence["policy"], entry.id)
        was = self.levels.get(key, 0)
        if int(entry.frm) != was:
            yield f"{entry.id} goes from level {entry.frm} to {entry.to}, and was at {was}"
        self.levels[key] = int(entry.to)
