"""Online clustering of embeddings into families (ours; the paper counts 45 families among 840 environments).

Invariant: who joins which family depends on the embeddings and on the order in which they came, on nothing else; a
member never moves. A family is known by its founder, whose embedding stands for it, so families do not drift and run
into each other as means do: at a similarity of 0.65 means made seven families of the shipped programs, one of them with
nine tenths of all.
"""

import numpy as np

from envpool.novelty.embedding import DIMENSION

FAMILY_SIMILARITY = 0.70
"""Makes 14 families of the 129 shipped programs; above it is the gate of near duplicates, 0.80."""
DECIMALS = 5
"""Similarities are compared as rounded: the last bits of a product differ between machines."""


class Clusters:
    """Families by their founders."""

    def __init__(self, similarity: float = FAMILY_SIMILARITY) -> None:
        self.similarity = similarity
        self.family: dict[str, str] = {}
        """The founder's id by member."""
        self._founders: list[str] = []
        self._vectors = np.zeros((64, DIMENSION))
        """A row a founder; the rest is room."""

    def assign(self, identity: str, embedding: bytes) -> str:
        """The family of a member: the nearest founder's, or its own where all are too far. Idempotent."""
        if identity in self.family:
            return self.family[identity]
        vector = np.frombuffer(embedding, dtype="<f4").astype(np.float64)
        if self._founders:
            near = np.round(self._vectors[: len(self)] @ vector, DECIMALS)
            best = int(near.argmax())
            if near[best] >= self.similarity:
                self.family[identity] = self._founders[best]
                return self._founders[best]
        self._found(identity, vector)
        return identity

    def restore(self, identity: str, family: str, embedding: bytes) -> None:
        """Takes a member in as it was assigned before; founders in the order in which they founded."""
        if identity == family:
            self._found(identity, np.frombuffer(embedding, dtype="<f4").astype(np.float64))
        else:
            self.family[identity] = family

    def __len__(self) -> int:
        return len(self._founders)

    def _found(self, identity: str, vector: np.ndarray) -> None:
        self.family[identity] = identity
        if len(self) == len(self._vectors):
            self._vectors = np.concatenate([self._vectors, np.zeros_like(self._vectors)])
        self._vectors[len(self)] = vector
        self._founders.append(identity)
