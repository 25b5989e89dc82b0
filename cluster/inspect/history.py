"""The pool's history, read from its journal from the first entry to the last.

Invariant: entries come in order and a page at a time, so that a long journal is never in memory whole.
"""

from __future__ import annotations

from collections.abc import Iterator

from envpool.store import PoolReader
from envpool.store.encoding import JournalEntry

PAGE = 1000


def history(reader: PoolReader) -> Iterator[JournalEntry]:
    """All entries of the journal."""
    after = 0
    while entries := reader.journal(after, PAGE):
        yield from entries
        after = entries[-1].seq
