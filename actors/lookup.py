"""Members by id, as the examiner asks for them: from the pool's files on this node, kept in memory.

Invariant: a member is frozen once admitted, so what was read once is right for ever.
"""

from __future__ import annotations

from functools import lru_cache

from envpool.members import Member
from envpool.store import PoolReader

KEPT_MEMBERS = 4096


class PoolLookup:
    """Callable: id to Member. Raises KeyError for an id that was never admitted."""

    def __init__(self, reader: PoolReader) -> None:
        self._get = lru_cache(KEPT_MEMBERS)(self._read)
        self._reader = reader

    def __call__(self, id: str) -> Member:
        return self._get(id)

    def _read(self, id: str) -> Member:
        member = self._reader.get(id)
        if member is None:
            raise KeyError(f"no member {id} in the pool")
        return member
