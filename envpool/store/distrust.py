"""A member that was found to lie: what falls with it, and every finding that the journal has.

Invariant: it only reads; the writer moves and drops in its one transaction. What counts as a lie is not known here.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from envpool.members import Composite
from envpool.store import encoding
from envpool.store.reading import PoolReads

KIND = "distrust"
PART = "part"
"""Marks the entry of one that only fell with a part of it: the id of that part."""
AnswerRow = tuple[bytes, list[Any]]
"""The key of a row of answers, and policy, level and attempts, as the journal keeps them."""


@dataclass(frozen=True, slots=True)
class Distrusted:
    """One finding, as the journal has it."""

    sequence: int
    member: str
    composites: tuple[str, ...]
    """What is composed of it, and fell with it."""
    reason: str
    step: int
    evidence: dict[str, Any]


def composed_of(pool: PoolReads, identity: str) -> list[str]:
    """Composites with this member among their parts."""
    children = [member for member in map(pool.get, pool.children(identity)) if member is not None]
    return [
        child.id
        for child in children
        if isinstance(child.material, Composite) and identity in child.material.parts
    ]


def all_composed_of(pool: PoolReads, identity: str) -> list[str]:
    """Composites of it, and composites of those, each once."""
    found: dict[str, None] = {}
    rest = [identity]
    while rest:
        new = [each for each in composed_of(pool, rest.pop()) if each not in found]
        found.update(dict.fromkeys(new))
        rest += new
    return list(found)


def answer_rows(pool: PoolReads, identities: Iterable[str]) -> dict[str, list[AnswerRow]]:
    """All answers to these members, whichever policy gave them, by member.

    One look at the rows for all of them: the writer does nothing else meanwhile.
    """
    found: dict[str, list[AnswerRow]] = {each: [] for each in identities}
    ends = {each.encode(): each for each in found}
    for _, key, raw in pool.rows(("answers",)):
        policy, _, member = key[:-5].rpartition(b"\0")
        if member in ends:
            counts = encoding.unpack_counts(raw or b"")
            fields = [policy.decode(), encoding.level_of(key[-4:]), counts.attempts]
            found[ends[member]].append((key, fields))
    return found


def was_found(pool: PoolReads, identity: str) -> bool:
    """Whether the journal has a finding about this member itself. Reads all of it where there is none."""
    name = identity.encode()
    for _, key, raw in pool.rows(("journal",)):
        if name in (raw or b""):  # few are, and only these are worth taking apart
            entry = encoding.unpack_entry(key, raw or b"")
            if entry.id == identity and _is_finding(entry):
                return True
    return False


def findings(pool: PoolReads, after: int, limit: int = 1000) -> tuple[list[Distrusted], int]:
    """Findings among the next `limit` journal entries above `after`, and the last entry that was looked at."""
    with pool.snapshot():
        entries = pool.journal(after, limit)
        found = [
            Distrusted(
                entry.seq, entry.id, tuple(all_composed_of(pool, entry.id)), entry.reason, entry.step, entry.evidence
            )
            for entry in entries
            if _is_finding(entry)
        ]
    return found, entries[-1].seq if entries else after


def _is_finding(entry: encoding.JournalEntry) -> bool:
    return entry.kind == KIND and PART not in entry.evidence
