"""The novelty actor: embeddings (MiniLM), their FAISS index and the families in one process of their own.

Invariant: embedding, search and adding are serialised here, with one OpenMP thread. The archive holds every program
that passed the gates while this run went and follows the pool by its journal; its file is a cache, and is built anew
where it does not fit the pool. Families are assigned in the order of the journal and kept in the pool's state.
"""

from __future__ import annotations

import asyncio
import os
from itertools import islice
from pathlib import Path

from actors.base import Actor
from envpool.families import state_key
from envpool.novelty import Archive, Embedder

FOLLOW_SECONDS = 1.0
SAVE_SECONDS = 60.0
PUBLISHED_AT_ONCE = 256


class NoveltyActor(Actor):
    """Answers how new a program is, and whether it copies what is set apart."""

    background_nice = 5

    async def start(self) -> None:
        os.environ["OMP_NUM_THREADS"] = "1"
        self._lock = asyncio.Lock()
        self._embedder = Embedder()
        self._queries = 0
        similarity = self.config.novelty.family_similarity
        self._archive = await asyncio.to_thread(Archive.open, self._file, self.pool_reader, similarity)
        self._saved = len(self._archive)
        self._unpublished = dict(self._archive.clusters.family)
        self.background("follow", self._follow_once)
        self.background("save", self._save_once)

    async def nearest(self, rule: str, stripped: str) -> tuple[str | None, float, bytes]:
        """The nearest member, its cosine similarity, and the candidate's own embedding."""
        await self.ready()
        async with self._lock:
            self._queries += 1
            embedding = await asyncio.to_thread(self._embedder.program, rule, stripped)
            id, similarity = self._archive.index.nearest(embedding)
            return id, similarity, embedding

    async def add(self, id: str, embedding: bytes) -> None:
        """Keep a program that is about to be admitted in the index. Idempotent."""
        await self.ready()
        async with self._lock:
            self._archive.add(id, embedding)

    async def contamination(self, embedding: bytes, fingerprint: str, normal: str) -> str:
        """Why a candidate copies a held-out member; empty where it does not."""
        await self.ready()
        async with self._lock:
            self._unpublished |= self._archive.follow(self.pool_reader)
            near = self.config.novelty.near_duplicate
            return self._archive.held_out.copied_by(embedding, fingerprint, normal, near)

    async def stop(self) -> None:
        await super().stop()
        if hasattr(self, "_archive"):
            await self._save()

    def gauges(self) -> dict[str, float]:
        if not hasattr(self, "_archive"):
            return {}
        return {
            "indexed": len(self._archive.index),
            "queries": self._queries,
            "families": len(self._archive.clusters),
            "ahead": len(self._archive.ahead),
        }

    @property
    def _file(self) -> Path:
        return self.config.run_folder / "novelty.npz"

    async def _follow_once(self) -> None:
        await self.idle("", FOLLOW_SECONDS)
        async with self._lock:
            self._unpublished |= self._archive.follow(self.pool_reader)
        while some := dict(islice(self._unpublished.items(), PUBLISHED_AT_ONCE)):
            await asyncio.gather(*(self._publish(*each) for each in some.items()))
            self._unpublished = {id: family for id, family in self._unpublished.items() if id not in some}

    async def _publish(self, identity: str, family: str) -> None:
        if self.pool_reader.state(state_key(identity)) != family:
            await self.peers.pool.put_state(state_key(identity), family)

    async def _save_once(self) -> None:
        await self.idle("", SAVE_SECONDS)
        await self._save()

    async def _save(self) -> None:
        if len(self._archive) == self._saved:
            return
        async with self._lock:
            await asyncio.to_thread(self._archive.save, self._file, self.pool_reader)
            self._saved = len(self._archive)
