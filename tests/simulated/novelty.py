"""The novelty actor with embeddings by hash in place of MiniLM: equal texts are near, all others far."""

from __future__ import annotations

import hashlib

import numpy as np

from actors.novelty import NoveltyActor
from envpool.novelty.embedding import DIMENSION, to_bytes


class HashEmbedder:
    """A unit vector for a text, without a model."""

    def program(self, rule: str, stripped: str) -> bytes:
        """As `Embedder.program`."""
        seed = hashlib.blake2b(f"{rule}\0{stripped}".encode(), digest_size=8).digest()
        vector = np.random.default_rng(int.from_bytes(seed)).standard_normal(DIMENSION)
        return to_bytes(vector / np.linalg.norm(vector))


class SimulatedNovelty(NoveltyActor):
    """As it is, but for the model."""

    async def start(self) -> None:
        await super().start()
        self._embedder = HashEmbedder()  # type: ignore[assignment]
