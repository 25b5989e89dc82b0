"""Grouped commits: operations from many callers become durable together, in as few transactions as can be.

Invariant: a future is done only once its operation is durable, or has failed and left nothing behind;
operations run in the order they were submitted. While one group is being synced the next one gathers, so
nothing waits for a timer. An operation may run twice (see `_commit`): it must only read and write the pool.
"""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from envpool.store.errors import StoreError
from envpool.store.writing import PoolWriter

T = TypeVar("T")
MAX_GROUP = 1024
_Job = tuple[Callable[[PoolWriter], Any], "Future[Any]"]


class GroupCommit:
    """One thread that owns the transactions of a writer."""

    def __init__(self, writer: PoolWriter, max_group: int = MAX_GROUP) -> None:
        self._writer = writer
        self._max_group = max_group
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._closing = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="pool-commits", daemon=True)
        self._thread.start()

    def submit(self, operation: Callable[[PoolWriter], T]) -> "Future[T]":
        """The future of an operation, done when it is durable. Raises StoreError after close()."""
        future: Future[T] = Future()
        with self._closing:
            if self._closed:
                raise StoreError("the pool takes no more operations: it was closed")
            self._jobs.put((operation, future))
        return future

    def close(self) -> None:
        """Commits what was submitted and ends the thread; the writer stays open. Idempotent."""
        with self._closing:
            if not self._closed:
                self._closed = True
                self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            group = [job]
            last = False
            while len(group) < self._max_group and not self._jobs.empty():
                following = self._jobs.get()
                if following is None:
                    last = True
                    break
                group.append(following)
            self._commit([each for each in group if each[1].set_running_or_notify_cancel()])
            if last:
                return

    def _commit(self, group: list[_Job]) -> None:
        try:
            with self._writer.batch():
                results = [operation(self._writer) for operation, _ in group]
        except Exception as error:  # noqa: BLE001 - whatever it is, it goes to the caller whose operation raised it
            if len(group) == 1:
                group[0][1].set_exception(error)
                return
            # One bad operation must not take the others with it: each gets a transaction of its own.
            for job in group:
                self._commit([job])
            return
        for (_, future), result in zip(group, results, strict=True):
            future.set_result(result)
