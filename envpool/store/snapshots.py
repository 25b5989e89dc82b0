"""A pool's replicated content as a stream of chunks: from a pool, into a file, out of it by number, to a replica.

Invariant: the chunks of a snapshot are of one moment, and what reads them notices a missing, doubled or cut-off
one. Groups are left out. A snapshot is not a backup: `backup` copies the pool itself.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from envpool.store.changes import Operation, Position, pack_operations, unpack_operations
from envpool.store.encoding import pack, unpack
from envpool.store.errors import StoreError
from envpool.store.reading import PoolReads

CHUNK_BYTES = 8 << 20


def snapshot_chunks(pool: PoolReads, chunk_bytes: int = CHUNK_BYTES) -> Iterator[bytes]:
    """Everything that a replica holds, in chunks of about so many bytes. Take them soon: old pages are held."""
    number, size, gathered = 0, 0, list[Operation]()
    for row in pool.rows():
        gathered.append(row)
        size += len(row[1]) + len(row[2] or b"") + 8
        if size >= chunk_bytes:
            yield pack((number, False, pack_operations(gathered)))
            number, size, gathered = number + 1, 0, []
    yield pack((number, True, pack_operations(gathered)))


def contents(chunks: Iterable[bytes]) -> Iterator[list[Operation]]:
    """The rows of each chunk. Raises StoreError unless they are all there, in order."""
    expected, complete = 0, False
    for chunk in chunks:
        number, last, operations = unpack(chunk)
        if complete or number != expected:
            raise StoreError(f"chunk {number} of a snapshot came where {expected} was due")
        yield unpack_operations(operations)
        expected, complete = expected + 1, last
    if not complete:
        raise StoreError(f"a snapshot was cut off after {expected} chunks")


@dataclass(frozen=True, slots=True)
class SnapshotFile:
    """A snapshot on disk, for several followers to take chunk by chunk."""

    path: Path
    position: Position
    offsets: tuple[int, ...]
    """Where each chunk begins, and where the last one ends."""

    @classmethod
    def write(cls, pool: PoolReads, path: Path, chunk_bytes: int = CHUNK_BYTES) -> Self:
        """Writes the pool's present content. Removes what it wrote where it fails."""
        try:
            with pool.snapshot(), path.open("wb") as file:
                offsets = [0]
                for chunk in snapshot_chunks(pool, chunk_bytes):
                    offsets.append(offsets[-1] + file.write(chunk))
                return cls(path, pool.position(), tuple(offsets))
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    @property
    def chunks(self) -> int:
        return len(self.offsets) - 1

    @property
    def size(self) -> int:
        """Bytes."""
        return self.offsets[-1]

    def chunk(self, index: int) -> bytes:
        """Raises FileNotFoundError once the snapshot was removed."""
        with self.path.open("rb") as file:
            return os.pread(file.fileno(), self.offsets[index + 1] - self.offsets[index], self.offsets[index])

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
