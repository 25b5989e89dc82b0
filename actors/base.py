"""What every actor of a run has: one start, background loops, a report, a tested way to stop.

Invariant: an actor starts itself, also after a restart. It reads the pool on its own node: the writer's files where the
writer is, else the node's replica, which has by its start all that the pool had then. A background failure is never
silent: the first traceback of each loop is kept and reported, and the loop goes on after a pause; a loop that the run
cannot do without and that only fails is for the driver to see. A failed `start` is tried again by the next `ready`.
The base knows nothing of what an actor is for.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
import traceback
from collections.abc import Awaitable, Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import ray

from actors import code_watch, roster
from actors.peers import Peers
from actors.sandboxes import SandboxGroup
from actors.solvers import AWAY_SECONDS, SolverGroup
from cluster import wanted
from cluster.config import Config
from cluster.wanted import Wanted
from envpool.store import PoolReader

REPORT_SECONDS = 2.0
FAILURE_PAUSE_SECONDS = 2.0
IDLE_SECONDS = 0.25
CATCH_UP_SECONDS = 60.0

HEALTH = "health"

logger = logging.getLogger(__name__)


WITHOUT_POOL = ("pool", "supervisor")
"""Actors that start before the pool can be read; the supervisor makes it."""


class Actor:
    """A named member of the run. Subclasses override `start`, `gauges`, `drain` and `stop`."""

    background_nice = 0
    """Added to the process's niceness: work that may wait for solver and learner."""

    def __init__(self, config: dict[str, Any], name: str) -> None:
        self.config = Config.model_validate(config)
        self.name = name
        self.peers = Peers(self.config.namespace, wanted=self._is_wanted)
        self.waiting_for = "start"
        self._failures: dict[str, str] = {}
        self._failed = 0
        self._in_a_row: dict[str, tuple[int, str]] = {}
        self._loops: set[asyncio.Task[None]] = set()
        self._leaving = False
        self._pool_folder = self.config.pool_folder
        logging.basicConfig(level=logging.INFO, format=f"%(levelname)s {name}: %(message)s")
        if self.background_nice:
            os.nice(self.background_nice)
        if self.config.run.audit:
            code_watch.install()
        # Runs once the loop is free again, which is after the whole of `__init__`.
        self._starting = asyncio.get_running_loop().create_task(self._start())

    async def ready(self) -> str:
        """Start once; returns the actor's name when it can serve. Raises what `start` raised."""
        if self._starting.done() and self._starting.exception() is not None:
            self._starting = asyncio.create_task(self._start())
        await asyncio.shield(self._starting)
        return self.name

    async def start(self) -> None:
        """Whatever must be there before the first call is served."""

    def gauges(self) -> dict[str, float]:
        """Numbers for the status view and the metrics."""
        return {}

    async def heartbeat(self) -> dict[str, Any]:
        """Whether the actor lives, and where; answered at any time."""
        started = self._starting.done() and not self._starting.cancelled() and not self._starting.exception()
        return {"pid": os.getpid(), "node": node_id(), "started": started, "leaving": self._leaving}

    async def drain(self) -> None:
        """Take nothing new and finish what is under way; returns when nothing is left. Idempotent."""
        self._leaving = True
        await asyncio.gather(
            *(loop for loop in self._loops if loop.get_name() != HEALTH), return_exceptions=True
        )

    async def until_gone(self, *kinds: str) -> None:
        """Wait until the run has no actor of these kinds any more; not where it wants this one again."""
        while self.name not in roster.names(self.config, self.wanted):
            there = await asyncio.to_thread(roster.present, self.config)
            if not any(roster.kind_of(name) in kinds for name in there):
                return
            await asyncio.sleep(IDLE_SECONDS)

    async def stop(self) -> None:
        """End background work and release what lives outside this process. Idempotent."""
        loops, self._loops = self._loops, set()
        for loop in loops:
            loop.cancel()
        await asyncio.gather(*loops, return_exceptions=True)

    def health(self) -> dict[str, Any]:
        """The actor's state as plain data."""
        return {
            "name": self.name,
            "pid": os.getpid(),
            "node": node_id(),
            "policy": self.config.policy.name if self.config.policy.attached else "",
            "waiting_for": self.waiting_for,
            "failures": self._failed,
            "first_failures": dict(self._failures),
            # Of what the run cannot do without; the failures of an attached policy end no run.
            "failing": {} if self.config.policy.attached else dict(self._in_a_row),
            "audit": code_watch.findings(),
            "gauges": self.gauges(),
            "at": time.time(),
        }

    @cached_property
    def pool_reader(self) -> PoolReader:
        """The pool on this node, read-only. A replica may be some milliseconds behind: see `PoolActor.state`."""
        return PoolReader.open(self._pool_folder)

    @property
    def wanted(self) -> Wanted:
        """The wanted state of the run."""
        return wanted.kept(self.pool_reader.state(wanted.KEY), self.config)

    @cached_property
    def sandboxes(self) -> SandboxGroup:
        """The run's sandboxes, however many there are at the moment."""
        return SandboxGroup(self.peers, lambda: self.wanted.counts["sandbox"])

    @cached_property
    def solvers(self) -> SolverGroup:
        """The solvers of this actor's policy, however many there are at the moment."""
        return self.solvers_of("")

    def solvers_of(self, policy: str) -> SolverGroup:
        """Those of an attached policy, by its name, which may come and go; of this actor's own where none is named."""
        impatient = Peers(self.config.namespace, AWAY_SECONDS, wanted=self._is_wanted)
        return SolverGroup(impatient, lambda: roster.solvers(self.config, self.wanted, policy))

    @property
    def phase(self) -> str:
        """The run's phase, as the supervisor last wrote it: starting, baseline, training, final or done."""
        return str(self.pool_reader.state("phase") or "starting")

    @property
    def draining(self) -> bool:
        """Whether the run is being stopped: producers make nothing new."""
        return bool(self.pool_reader.state("draining"))

    @property
    def working(self) -> bool:
        """Whether producers and learners go on: the run is training, and neither paused, drained nor left."""
        return self.phase == "training" and not (self.draining or self._leaving or self.wanted.paused)

    async def caught_up(self) -> None:
        """Wait until this node's replica has all that is in the pool now. Raises TimeoutError."""
        newest = await self.peers.pool.newest()
        async with asyncio.timeout(CATCH_UP_SECONDS):
            while self.pool_reader.position().change < newest:
                await asyncio.sleep(0.02)

    async def idle(self, reason: str, seconds: float = IDLE_SECONDS) -> None:
        """Wait, and let the status view say for whom; not for long where the actor leaves meanwhile."""
        self.waiting_for = reason
        until = time.monotonic() + seconds
        await asyncio.sleep(min(seconds, IDLE_SECONDS))
        while not self._leaving and (left := until - time.monotonic()) > 0:
            await asyncio.sleep(min(left, IDLE_SECONDS))

    def background(self, name: str, once: Callable[[], Awaitable[None]], vital: bool = False) -> None:
        """Repeat `once` until the actor stops; without a `vital` loop the run goes nowhere."""
        self._loops.add(asyncio.create_task(self._repeat(name, once, vital), name=name))

    async def _start(self) -> None:
        try:
            if self.name not in WITHOUT_POOL:
                self._pool_folder = await self._nearest_pool()
                if not roster.is_follower(self.name):
                    await self.caught_up()
            await self.start()
        except Exception:
            self._note("start", traceback.format_exc())
            self._count_in_a_row("start", traceback.format_exc())
            raise
        self._in_a_row.pop("start", None)
        self.waiting_for = ""
        self.background(HEALTH, self._send_health)

    async def _nearest_pool(self) -> Path:
        """The folder that this node reads the pool from; waits until it is there."""
        await self.peers.pool.ready()
        place = await self.peers.pool.place()
        if roster.is_follower(self.name) or place["node"] == node_id():
            return Path(place["path"])
        return Path(await self.peers[roster.follower(node_id()).name].path())

    def _is_wanted(self, name: str) -> bool:
        if not self._starting.done():  # whoever it waits for is wanted
            return True
        return roster.is_follower(name) or name in roster.names(self.config, self.wanted)

    async def _repeat(self, name: str, once: Callable[[], Awaitable[None]], vital: bool) -> None:
        while name == HEALTH or not self._leaving:
            try:
                await once()
                self._in_a_row.pop(name, None)
            except Exception:  # noqa: BLE001 - the one boundary where background failures surface
                self._note(name, traceback.format_exc())
                if vital:
                    self._count_in_a_row(name, traceback.format_exc())
                await asyncio.sleep(FAILURE_PAUSE_SECONDS)

    def _count_in_a_row(self, what: str, trace: str) -> None:
        count, first = self._in_a_row.get(what, (0, trace))
        self._in_a_row[what] = (count + 1, first)

    def _note(self, where: str, trace: str) -> None:
        self._failed += 1
        self._failures.setdefault(where, trace)
        logger.error("%s failed:\n%s", where, trace)

    async def _send_health(self) -> None:
        await asyncio.sleep(REPORT_SECONDS)
        await self.peers.metrics.report(self.health())


def node_id() -> str:
    """The Ray node that this process is on; empty outside Ray."""
    return str(ray.get_runtime_context().get_node_id()) if ray.is_initialized() else ""
