"""The one thing admission asks of novelty: what stands nearest to a program.

Light on purpose: a gate may be served from another process, and needs neither the model nor the index here.
"""

from typing import Protocol

BONUS_LOW = 0.45  # paper (EvoEnv)
BONUS_HIGH = 0.65  # paper (EvoEnv)


class Novelty(Protocol):
    """Nearest neighbours over everything ever admitted."""

    async def nearest(self, rule: str, stripped: str) -> tuple[str | None, float, bytes]:
        """Id of the nearest program or None, its similarity, and the embedding asked about."""

    async def add(self, id: str, embedding: bytes) -> None:
        """Keep a program. Idempotent."""

    async def contamination(self, embedding: bytes, fingerprint: str, normal: str) -> str:
        """Why a candidate copies a held-out member; empty where it does not. What is given empty is not compared."""


def bonus(similarity: float, low: float = BONUS_LOW, high: float = BONUS_HIGH) -> float:
    """Novelty reward in [0, 1]: 1 up to `low`, 0 from `high` on, linear in between (the line is ours)."""
    return min(1.0, max(0.0, (high - similarity) / (high - low)))
