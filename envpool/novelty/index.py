"""The exact nearest-neighbour index over embeddings (FAISS, inner product of unit vectors = cosine).

Invariant: row n of the index is id n, on disk too: both are one file, replaced whole. The index is a cache that
can always be rebuilt from the embeddings members carry. Not safe for use from several threads at once.
"""

import os
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from zipfile import BadZipFile

import faiss
import numpy as np

from envpool.novelty import huge_pages
from envpool.novelty.embedding import DIMENSION

BLOCK = 1024
"""Members that are taken in at once: copies of all of them would double the memory of a rebuild."""


class IndexMismatch(ValueError):
    """A saved index is broken or holds other members than it should; rebuild it from the pool."""


class NoveltyIndex:
    """Ids with their unit vectors."""

    def __init__(self) -> None:
        faiss.omp_set_num_threads(1)
        self._index = faiss.IndexFlatIP(DIMENSION)
        self._ids: list[str] = []
        self._known: dict[str, int] = {}
        self._advised = (0, 0)

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, id: object) -> bool:
        return id in self._known

    def add(self, id: str, embedding: bytes) -> None:
        """Keep one embedding (as `Embedder` gives it). Idempotent by id."""
        self.extend([(id, embedding)])

    def extend(self, entries: Iterable[tuple[str, bytes]]) -> None:
        """Keep several embeddings; ids that are there already are skipped."""
        rest = iter(entries)
        while block := list(islice(rest, BLOCK)):
            new = {id: _vector(embedding) for id, embedding in block if id not in self._known}
            if new:
                self._index.add(np.stack(list(new.values())))
                self._known.update(zip(new, range(len(self), len(self) + len(new)), strict=True))
                self._ids.extend(new)
        if self._ids:
            self._ask_for_huge_pages()

    def _ask_for_huge_pages(self) -> None:
        """For the vectors, where they have moved, or a quarter more of them came, since it was asked last."""
        address, count = int(self._index.get_xb()), len(self)
        if address != self._advised[0] or 4 * count > 5 * self._advised[1]:
            huge_pages.ask_for(address, 4 * DIMENSION * count)
            self._advised = (address, count)

    def embedding(self, id: str) -> bytes:
        """What was kept for an id. Raises KeyError."""
        return self._index.reconstruct(self._known[id]).astype("<f4").tobytes()

    def nearest(self, embedding: bytes) -> tuple[str | None, float]:
        """The nearest id and its cosine similarity; (None, 0.0) in an empty index."""
        if not self._ids:
            return None, 0.0
        similarities, rows = self._index.search(_vector(embedding)[None], 1)
        return self._ids[int(rows[0, 0])], float(similarities[0, 0])

    def save(self, path: Path) -> None:
        """Write the index, atomically and durably."""
        vectors = (
            self._index.reconstruct_n(0, len(self)) if self._ids else np.zeros((0, DIMENSION), np.float32)
        )
        draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
        with draft.open("wb") as file:
            np.savez(file, ids=np.array(self._ids, dtype=np.str_), vectors=vectors)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)

    @classmethod
    def load(cls, path: Path) -> "NoveltyIndex":
        """The index that `save` wrote. Raises FileNotFoundError, IndexMismatch."""
        index = cls()
        try:
            with np.load(path, allow_pickle=False) as saved:
                ids, vectors = [str(id) for id in saved["ids"]], saved["vectors"].astype(np.float32)
        except (ValueError, KeyError, EOFError, OSError, BadZipFile) as error:
            if isinstance(error, FileNotFoundError):
                raise
            raise IndexMismatch(f"{path.name} cannot be read: {error}") from error
        if vectors.shape != (len(ids), DIMENSION) or len(set(ids)) != len(ids):
            raise IndexMismatch(f"{path.name} holds {len(ids)} ids and vectors of shape {vectors.shape}")
        index.extend((id, vector.tobytes()) for id, vector in zip(ids, vectors, strict=True))
        return index

    @classmethod
    def open(cls, path: Path, members: Iterable[tuple[str, bytes]]) -> "NoveltyIndex":
        """The saved index if it holds just these (id, embedding) pairs, else one rebuilt from them."""
        wanted = dict(members)
        try:
            index = cls.load(path)
        except (FileNotFoundError, IndexMismatch):
            index = cls()
        if index._known.keys() != wanted.keys():
            index = cls()
            index.extend(wanted.items())
        return index


def _vector(embedding: bytes) -> np.ndarray:
    vector = np.frombuffer(embedding, dtype="<f4").astype(np.float32)
    if vector.shape != (DIMENSION,) or not np.isfinite(vector).all():
        raise ValueError(f"an embedding has {DIMENSION} finite numbers, not {vector.shape}")
    return vector
