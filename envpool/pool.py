"""A pool as a library: open one, draw questions, score responses. No event loop, no Ray, no torch.

    from envpool import Pool

    with Pool.open("runs/local-1") as pool:
        instance = pool.draw(seed=7)
        outcome = pool.score(instance, "<answer>3</answer>")

Invariant: it is `AsyncPool` (under `aio`), waited for: an event loop runs in a thread of its own, so that it works in a
thread, beside a running loop and in a notebook alike.
"""

import asyncio
import threading
from collections.abc import Coroutine, Iterable, Sequence
from concurrent.futures import CancelledError, Future
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from envpool.async_pool import AsyncPool
from envpool.contract import Instance, Outcome, Recipe
from envpool.exchange.opening import read_pool
from envpool.exchange.snapshot import Snapshot
from envpool.members import Member
from envpool.sandbox.results import SandboxLimits

T = TypeVar("T")
CLOSED = "this pool is closed, or it was opened in the process that this one was forked from"


class Pool:
    """Questions of one moment of a pool. Safe from several threads; not after a fork: open it in each process.

    `aio` has the same methods as coroutines, for code that runs in an event loop.
    """

    def __init__(
        self, snapshot: Snapshot, *, packages: Iterable[str] = (), limits: SandboxLimits | None = None
    ) -> None:
        self.aio = AsyncPool(snapshot, packages=packages, limits=limits)
        self._loop = asyncio.new_event_loop()
        self._asking = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=_run, args=(self._loop,), name="envpool", daemon=True)
        self._thread.start()

    @classmethod
    def open(
        cls, path: str | Path, packages: Iterable[str] = (), *, limits: SandboxLimits | None = None
    ) -> Self:
        """The pool in a run's folder, a pool's or backup's folder, or a snapshot (`members.jsonl`, or its folder).

        `packages`: see `AsyncPool`. Raises NoPool, StoreError, SnapshotError, OSError.
        """
        return cls(read_pool(path), packages=packages, limits=limits)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def fingerprint(self) -> str:
        """Hash of all that draws depend on, see `snapshot.fingerprint`: what an export or a benchmark ran on."""
        return self.aio.fingerprint

    @property
    def snapshot(self) -> Snapshot:
        """Its members, their levels and where they come from."""
        return self.aio.snapshot

    def ids(self, held_out: bool = False) -> list[str]:
        """As `AsyncPool.ids`."""
        return self.aio.ids(held_out)

    def get(self, id: str) -> Member:
        """As `AsyncPool.get`."""
        return self.aio.get(id)

    def level(self, id: str) -> int:
        """As `AsyncPool.level`."""
        return self.aio.level(id)

    def draw(
        self, seed: int, *, member: str | None = None, level: int | None = None, held_out: bool = False
    ) -> Instance:
        """As `AsyncPool.draw`."""
        return self._wait(self.aio.draw(seed, member=member, level=level, held_out=held_out))

    def sample(
        self,
        count: int,
        *,
        seed: int = 0,
        member: str | None = None,
        level: int | None = None,
        held_out: bool = False,
    ) -> list[Instance]:
        """As `AsyncPool.sample`."""
        return self._wait(self.aio.sample(count, seed=seed, member=member, level=level, held_out=held_out))

    def build(self, recipe: Recipe) -> Instance:
        """As `AsyncPool.build`."""
        return self._wait(self.aio.build(recipe))

    def score(self, instance: Instance, response: str) -> Outcome:
        """As `AsyncPool.score`."""
        return self._wait(self.aio.score(instance, response))

    def score_all(self, instance: Instance, responses: Sequence[str]) -> list[Outcome]:
        """As `AsyncPool.score_all`."""
        return self._wait(self.aio.score_all(instance, responses))

    def close(self) -> None:
        """Waits for the programs under way, then ends the sandboxes; who waits is told. Idempotent."""
        if self._thread.is_alive():  # not in a process that was forked, where the lock may be held for ever
            with self._asking:
                first, self._closed = not self._closed, True
            if first:
                self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
        self.aio.close()

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        future = self._begun(work)
        try:
            return future.result()
        except CancelledError:
            raise RuntimeError(CLOSED) from None
        except BaseException:
            future.cancel()  # whoever waited is gone, by Ctrl-C for example
            raise

    def _begun(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Work that the loop knows of before it is told to stop, or that is refused."""
        if self._thread.is_alive():
            with self._asking:
                if not self._closed:
                    return asyncio.run_coroutine_threadsafe(work, self._loop)
        work.close()
        raise RuntimeError(CLOSED)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Until it is told to stop; then what is under way is cancelled, so that nobody waits for it for ever."""
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.get_loop().run_forever()
