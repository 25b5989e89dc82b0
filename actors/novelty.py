"""The novelty actor: embeddings (MiniLM) and their FAISS index in one process of their own.

Invariant: embedding, search and adding are serialised here, with one OpenMP thread. The index holds
every program that passed the gates while this run went, and at each start it is rebuilt from the pool.
"""

from __future__ import annotations

import asyncio
import os

from actors.base import Actor
from envpool.novelty import Embedder, NoveltyIndex


class NoveltyActor(Actor):
    """Answers how new a program is."""

    background_nice = 5

    async def start(self) -> None:
        os.environ["OMP_NUM_THREADS"] = "1"
        self._lock = asyncio.Lock()
        self._embedder = Embedder()
        self._index = NoveltyIndex()
        self._queries = 0
        for id in self.pool_reader.ids():
            member = self.pool_reader.get(id)
            if member is not None and member.embedding:
                self._index.add(id, member.embedding)

    async def nearest(self, rule: str, stripped: str) -> tuple[str | None, float, bytes]:
        """The nearest member, its cosine similarity, and the candidate's own embedding."""
        await self.ready()
        async with self._lock:
            self._queries += 1
            embedding = await asyncio.to_thread(self._embedder.program, rule, stripped)
            id, similarity = self._index.nearest(embedding)
            return id, similarity, embedding

    async def add(self, id: str, embedding: bytes) -> None:
        """Keep an admitted program in the index. Idempotent."""
        await self.ready()
        async with self._lock:
            self._index.add(id, embedding)

    def gauges(self) -> dict[str, float]:
        return {"indexed": len(self._index), "queries": self._queries}
