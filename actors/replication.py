"""The pool actor's side of replication: waking those who wait for a change, and keeping snapshots to be fetched.

Invariant: a bell rings for every change that comes after one listens; a snapshot is handed out only while the change
log goes on from it, so that who has restored it never needs another at once. Nothing here reads the pool's records.
"""

from __future__ import annotations

import asyncio
import shutil
import uuid
from contextlib import suppress
from pathlib import Path

from envpool.store import PoolWriter
from envpool.store.changes import ChangeLog
from envpool.store.snapshots import SnapshotFile

KEPT_SNAPSHOTS = 2


class ChangeBell:
    """Futures of an event loop that are done at the next change, which another thread commits."""

    def __init__(self, log: ChangeLog, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._next: asyncio.Future[None] | None = None
        log.on_append(self._committed)

    def listen(self) -> asyncio.Future[None]:
        """Done once a change was committed after this call. Look for changes after it, not before."""
        if self._next is None:
            self._next = self._loop.create_future()
        return self._next

    def _committed(self) -> None:
        # Read in the committing thread: a change that comes before one listens is found by looking.
        if self._next is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._ring)

    def _ring(self) -> None:
        rung, self._next = self._next, None
        if rung is not None:
            rung.set_result(None)


class SnapshotShelf:
    """The newest snapshots of a pool, in files."""

    def __init__(self, writer: PoolWriter, folder: Path) -> None:
        self._writer = writer
        self._folder = folder
        self._kept: list[SnapshotFile] = []
        self._writing = asyncio.Lock()
        self.clear()

    async def begin(self) -> SnapshotFile:
        """A snapshot that the change log goes on from: the newest one, or a new one."""
        async with self._writing:
            if not self._kept or self._writer.changes(*self._kept[-1].position, limit_bytes=0) is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                path = self._folder / uuid.uuid4().hex
                self._kept.append(await asyncio.to_thread(SnapshotFile.write, self._writer, path))
            while len(self._kept) > KEPT_SNAPSHOTS:
                self._kept.pop(0).remove()
            return self._kept[-1]

    async def chunk(self, name: str, index: int) -> bytes | None:
        """A chunk of a snapshot by its file's name; None where it is not kept any more."""
        for snapshot in self._kept:
            if snapshot.path.name == name:
                with suppress(FileNotFoundError):
                    return await asyncio.to_thread(snapshot.chunk, index)
        return None

    def clear(self) -> None:
        """Removes all snapshots."""
        self._kept.clear()
        shutil.rmtree(self._folder, ignore_errors=True)
