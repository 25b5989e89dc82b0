"""Everything ever admitted, as novelty sees it: the index, the families, and what is set apart.

Invariant: after `follow` it holds just the members of the pool, taken in the order of the journal, whatever was added
ahead of it; a member is never dropped, retired and quarantined ones stay. It is a cache: the file belongs to one pool
at one place of its journal, and where the two do not fit it is built anew from the journal's beginning. Nothing here
is embedded. Not safe for use from several threads at once.
"""

import logging
import os
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from envpool.novelty.clusters import FAMILY_SIMILARITY, Clusters
from envpool.novelty.contamination import HeldOut
from envpool.novelty.embedding import DIMENSION
from envpool.novelty.index import IndexMismatch, NoveltyIndex
from envpool.store.reading import ADMITTED_GATE, PoolReads

PAGE = 2000
logger = logging.getLogger(__name__)


class Archive:
    """Kept in step with one pool by its journal."""

    def __init__(self, similarity: float = FAMILY_SIMILARITY) -> None:
        self.index = NoveltyIndex()
        self.clusters = Clusters(similarity)
        self.held_out = HeldOut()
        self.seen = 0
        """The journal entry up to which it follows the pool."""
        self._members: dict[str, None] = {}
        self._ahead: set[str] = set()

    def __len__(self) -> int:
        """Members of the pool that it took note of."""
        return len(self._members)

    def add(self, identity: str, embedding: bytes) -> None:
        """Takes a program in that is about to be admitted, so that no copy of it passes meanwhile. Idempotent."""
        self.index.add(identity, embedding)
        if identity not in self._members:
            self._ahead.add(identity)

    @property
    def ahead(self) -> set[str]:
        """Programs that were added and are not in the journal, as far as it was followed."""
        return set(self._ahead)

    def follow(self, pool: PoolReads) -> dict[str, str]:
        """Takes in what was admitted since; the family of each program that got one."""
        assigned: dict[str, str] = {}
        while True:
            with pool.snapshot():
                entries = pool.journal(self.seen, PAGE)
                for entry in entries:
                    if entry.kind == "admit":
                        assigned |= self._take(pool, entry.id)
            if not entries:
                return assigned
            self.seen = entries[-1].seq

    def save(self, path: Path, pool: PoolReads) -> None:
        """Writes what it followed the pool for, atomically and durably."""
        ids = [identity for identity in self._members if identity in self.index]
        embeddings = np.array([np.frombuffer(self.index.embedding(each), "<f4") for each in ids], np.float32)
        draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
        with draft.open("wb") as file:
            np.savez(
                file,
                place=np.array(
                    [pool.pool_id(), str(self.seen), _mark(pool, self.seen), str(self.clusters.similarity)]
                ),
                members=np.array(list(self._members), dtype=np.str_),
                ids=np.array(ids, dtype=np.str_),
                families=np.array([self.clusters.family[each] for each in ids], dtype=np.str_),
                vectors=embeddings.reshape(len(ids), DIMENSION),
            )
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)

    @classmethod
    def open(cls, path: Path, pool: PoolReads, similarity: float = FAMILY_SIMILARITY) -> "Archive":
        """The saved archive brought up to the pool, or one built anew where it is not of this pool's history."""
        try:
            archive = cls._load(path, pool, similarity)
            archive.follow(pool)
            with pool.snapshot():
                archive.follow(pool)
                if len(archive) != (count := pool.funnel().get(ADMITTED_GATE, 0)):
                    raise IndexMismatch(f"it comes to {len(archive)} members, and the pool has {count}")
            return archive
        except FileNotFoundError:
            pass
        except IndexMismatch as mismatch:
            logger.warning("%s is built anew: %s", path.name, mismatch)
        archive = cls(similarity)
        archive.follow(pool)
        return archive

    @classmethod
    def _load(cls, path: Path, pool: PoolReads, similarity: float) -> "Archive":
        try:
            with np.load(path, allow_pickle=False) as saved:
                place, members, ids, families = (
                    [str(each) for each in saved[name]] for name in ("place", "members", "ids", "families")
                )
                vectors = saved["vectors"].astype("<f4")
        except FileNotFoundError:
            raise
        except (ValueError, KeyError, EOFError, OSError, BadZipFile) as error:
            raise IndexMismatch(f"it cannot be read: {error}") from error
        if (
            len(place) != 4
            or not len(ids) == len(families) == len(vectors)
            or vectors.shape[1:] != (DIMENSION,)
        ):
            raise IndexMismatch("its parts do not fit together")
        seen = int(place[1])
        if seen > pool.last_sequence() or place != [
            pool.pool_id(),
            str(seen),
            _mark(pool, seen),
            str(similarity),
        ]:
            raise IndexMismatch("it was saved for another pool, another history of it, or other families")
        archive = cls(similarity)
        archive.seen, archive._members = seen, dict.fromkeys(members)
        rows = [vector.tobytes() for vector in vectors]
        archive.index.extend(zip(ids, rows, strict=True))
        for identity, family, row in zip(ids, families, rows, strict=True):
            archive.clusters.restore(identity, family, row)
        for identity in members:
            archive._set_apart(pool, identity)
        return archive

    def _take(self, pool: PoolReads, identity: str) -> dict[str, str]:
        member = pool.get(identity)
        if member is None or identity in self._members:
            return {}
        self._members[identity] = None
        self._ahead.discard(identity)
        self.held_out.take(member)
        if not member.embedding:
            return {}
        self.index.add(identity, member.embedding)
        return {identity: self.clusters.assign(identity, member.embedding)}

    def _set_apart(self, pool: PoolReads, identity: str) -> None:
        row = pool.status_row(identity)
        if row is not None and row.held_out and (member := pool.get(identity)):
            self.held_out.take(member)


def _mark(pool: PoolReads, seen: int) -> str:
    """What the journal says at one place, by which two histories of a pool are told apart."""
    entries = pool.journal(seen - 1, 1) if seen else []
    return f"{entries[0].at!r} {entries[0].kind} {entries[0].id}" if entries else ""
