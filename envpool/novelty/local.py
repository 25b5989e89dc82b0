"""Novelty served in this process: the embedding model and the index together.

Invariant: embedding, searching and adding are serialised, on one OpenMP thread.
"""

import asyncio

from envpool.novelty.contamination import HeldOut
from envpool.novelty.embedding import Embedder
from envpool.novelty.index import NoveltyIndex


class LocalNovelty:
    """Novelty in this process."""

    def __init__(
        self,
        index: NoveltyIndex | None = None,
        embedder: Embedder | None = None,
        held_out: HeldOut | None = None,
    ) -> None:
        self.index = NoveltyIndex() if index is None else index
        self._held_out = held_out or HeldOut()
        self._embedder = embedder or Embedder()
        self._lock = asyncio.Lock()

    async def nearest(self, rule: str, stripped: str) -> tuple[str | None, float, bytes]:
        async with self._lock:
            embedding = await asyncio.to_thread(self._embedder.program, rule, stripped)
            return *self.index.nearest(embedding), embedding

    async def add(self, id: str, embedding: bytes) -> None:
        async with self._lock:
            self.index.add(id, embedding)

    async def contamination(self, embedding: bytes, fingerprint: str, normal: str) -> str:
        return self._held_out.copied_by(embedding, fingerprint, normal)
