"""A pool that belongs to whoever needs it: opened once a process and at its first use, also after a fork.

Invariant: a score is a verdict. Where there is none the machine is asked again, and then NoVerdict is raised.
"""

import os
import threading
import time
import weakref
from collections.abc import Sequence
from pathlib import Path

from envpool.contract import Failed, Instance, Outcome
from envpool.exchange.rewards import NoVerdict, reward_of
from envpool.pool import Pool

PAUSES = (1.0, 5.0, 25.0)
"""Seconds before each new try where the machine failed (ours)."""


class Scoring:
    """Draws from and scores on the pool at a path. Safe from several threads, and across forks."""

    def __init__(
        self, path: str | Path, packages: Sequence[str] = (), pauses: Sequence[float] = PAUSES
    ) -> None:
        self._path = Path(path)
        self._packages = tuple(packages)
        self._pauses = tuple(pauses)
        self._opening = threading.Lock()
        self._pool: Pool | None = None
        _scorings.add(self)

    @property
    def pool(self) -> Pool:
        """The pool of this process. Raises as `Pool.open`."""
        with self._opening:
            if self._pool is None:
                self._pool = Pool.open(self._path, self._packages)
            return self._pool

    def score(self, instance: Instance, response: str) -> float:
        """The verdict in [0, 1]; 0 for a response without a readable answer.

        Raises NoVerdict, SandboxUnavailable, UnknownMember.
        """
        outcome = self.outcome(instance, response)
        return reward_of(outcome)

    def outcome(self, instance: Instance, response: str) -> Outcome:
        """Scored or Unparsed. Raises NoVerdict, SandboxUnavailable, UnknownMember."""
        outcome = self.pool.score(instance, response)
        for pause in self._pauses:
            # A member that broke, or an order that was killed, is the same the next time.
            if not (isinstance(outcome, Failed) and outcome.machine):
                break
            time.sleep(pause)
            outcome = self.pool.score(instance, response)
        if isinstance(outcome, Failed):
            raise NoVerdict(outcome)
        return outcome

    def close(self) -> None:
        """Ends the sandbox of this process; the next call would start another."""
        with self._opening:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def _forget(self) -> None:
        """Nothing of the parent's works in a child: neither its threads nor a lock that one of them holds."""
        self._opening = threading.Lock()
        self._pool = None


_scorings: weakref.WeakSet[Scoring] = weakref.WeakSet()


def _forget_pools() -> None:
    for scoring in list(_scorings):
        scoring._forget()


os.register_at_fork(after_in_child=_forget_pools)
