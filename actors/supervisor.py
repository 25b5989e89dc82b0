"""The supervisor actor: what is wanted of the run, and its phases.

Invariant: phases and wanted state are kept in the pool. Phases only go forward (starting, baseline, training, final,
done), and each is idempotent, so a supervisor that was killed goes on where its successor finds the run; Ray
restarts it. Its death stops nothing: all actors are detached. It makes and ends actors through its `Keeper` alone.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import ray

from actors import roster
from actors.base import FAILURE_PAUSE_SECONDS, Actor
from actors.keeper import Keeper
from cluster import placement, wanted
from cluster.config import Config
from cluster.wanted import Wanted, WantedError
from envpool.store import NoPool

TICK_SECONDS = 1.0
FAREWELL_SECONDS = 2.0
TELL_SECONDS = 10.0
END_SECONDS = 30.0
LAST = ("metrics", "pool")
STOPPING = "stopping"
"""Of the pool's state: the order to stop, until the run is taken up again."""


class SupervisorActor(Actor):
    """The run as an operator controls it."""

    def __init__(self, config: dict[str, Any], name: str) -> None:
        super().__init__(config, name)
        self._keeper = Keeper(self.config, self._note)
        self._changing = asyncio.Lock()
        self._stopping: asyncio.Task[dict[str, Any]] | None = None
        self._saving: asyncio.Task[None] | None = None
        self._hurried = False
        self._driver_at = time.monotonic()
        self._insisting = asyncio.create_task(self._insist())

    async def start(self) -> None:
        await self._keeper.make(next(post for post in roster.posts(self.config) if post.name == "pool"))
        await self.peers.pool.ready()
        if self.pool_reader.state(wanted.KEY) is None:
            await self._want(wanted.first(self.config))
        self.background("keep", self._keep_once)
        self.background("phases", self._phases_once, vital=True)
        ordered = self.pool_reader.state(STOPPING)
        if ordered and ray.get_runtime_context().was_current_actor_reconstructed:
            # The predecessor was killed in the middle of it; one that a driver makes takes the run up instead.
            self._hurried = ordered["now"]
            self._stopping = asyncio.create_task(self._stop_run())

    async def ready(self) -> str:
        """As every actor's; a driver that asks is still there."""
        self._driver_at = time.monotonic()
        return await super().ready()

    async def begin(self, config: dict[str, Any] | None = None) -> bool:
        """A driver takes the run up: no more draining, and counts that its configuration changed hold. Idempotent."""
        await self.ready()
        await self.peers.pool.put_state(STOPPING, None)
        await self.peers.pool.put_state("draining", False)
        if config is not None:
            await self._change(lambda now: wanted.begun(now, Config.model_validate(config)))
        return True

    async def scale(self, counts: Mapping[str, int]) -> dict[str, int]:
        """Other counts of actors; returns all that are wanted now. Raises WantedError."""
        return (await self._change(lambda now: self._held(wanted.scaled(now, counts)))).counts

    async def attach(self, spec: dict[str, Any]) -> dict[str, Any]:
        """Another policy joins the run. Idempotent. Raises WantedError."""
        now = await self._change(lambda now: self._held(wanted.attached(now, spec, self.config)))
        await self.peers.metrics.event("attached", {"policy": spec["name"]})
        return now.policy(spec["name"]).model_dump(mode="json")

    async def detach(self, name: str) -> dict[str, Any]:
        """A policy leaves: its actors drain, save and end; its statistics stay. Raises WantedError."""
        gone = self.wanted.policy(name) if name != self.config.policy.name else None
        await self._change(lambda now: wanted.detached(now, name, self.config))
        await self.peers.metrics.event("detached", {"policy": name})
        return gone.model_dump(mode="json") if gone else {}

    async def policies(self) -> list[dict[str, Any]]:
        """The run's own policy and the attached ones, with their counts of solvers."""
        await self.ready()
        return wanted.rows(self.wanted, self.config)

    async def pause(self) -> None:
        """Producers and learners stop after what is under way; everything stays loaded. Idempotent."""
        await self._change(lambda now: now.model_copy(update={"paused": True}))

    async def resume(self) -> None:
        """The opposite of `pause`. Idempotent."""
        await self._change(lambda now: now.model_copy(update={"paused": False}))

    async def checkpoint(self) -> dict[str, int]:
        """Save every learner now; returns the step saved, by policy. Raises why one could not, once all have tried."""
        saved = await self._save_each()
        for result in saved.values():
            if isinstance(result, BaseException):
                raise result
        return saved

    async def _save_each(self) -> dict[str, Any]:
        """By policy with a learner: the step that is saved, or why it could not be."""
        await self.ready()
        learners = {} if self.config.serve.enabled else {self.config.policy.name: "learner"}
        learners |= {spec.name: f"{spec.name}.learner" for spec in self.wanted.policies if spec.trainable}
        limit = self.config.supervision.drain_seconds
        saving = [asyncio.wait_for(self.peers[name].checkpoint(), limit) for name in learners.values()]
        return dict(zip(learners, await asyncio.gather(*saving, return_exceptions=True), strict=True))

    async def overview(self) -> dict[str, Any]:
        """Nodes, deaths, the wanted state, and whether the run is being stopped."""
        await self.ready()
        stopping = self._stopping is not None and not _failed(self._stopping)
        return self._keeper.overview() | {"wanted": self.wanted.model_dump(mode="json"), "stopping": stopping}

    async def stop_run(self, now: bool = False) -> dict[str, Any]:
        """Stop producing, finish the updates under way, save, and end every actor, this one last; `now` saves nothing.

        It goes on when the caller dies, or this process. Returns where the run stands. Idempotent; `now` cuts a stop
        short that still saves, and one that failed is tried again.
        """
        if self._stopping is None or _failed(self._stopping):
            self._hurried = False
            self._stopping = asyncio.create_task(self._stop_run())
        self._hurried = self._hurried or now
        if self._hurried and self._saving is not None:
            self._saving.cancel()
        return await asyncio.shield(self._stopping)

    def health(self) -> dict[str, Any]:
        report = super().health()
        return report | {
            "overview": self._keeper.overview(),
            "failing": report["failing"] | self._keeper.failing(),
        }

    def gauges(self) -> dict[str, float]:
        overview = self._keeper.overview()
        return {
            "deaths": float(sum(overview["restarts"].values())),
            "nodes": float(len(overview["nodes"])),
            "turn_ms": 1000 * self._keeper.turn_seconds,
        }

    async def stop(self) -> None:
        self._insisting.cancel()
        await super().stop()
        await self._keeper.close()

    async def _change(self, change: Callable[[Wanted], Wanted]) -> Wanted:
        await self.ready()
        async with self._changing:
            now = change(self.wanted)
            await self._want(now)
            return now

    def _held(self, now: Wanted) -> Wanted:
        """The same, where the cluster can hold it. Raises WantedError."""
        nodes = self._keeper.nodes
        if nodes and (lacks := placement.missing(placement.demand(self.config, now), nodes)):
            raise WantedError(f"the cluster cannot hold that: it {'; '.join(lacks)}")
        return now

    async def _want(self, now: Wanted) -> None:
        await self.peers.pool.put_state(wanted.KEY, now.model_dump(mode="json"))

    async def _keep_once(self) -> None:
        await self._keeper.turn(self.wanted)
        await asyncio.sleep(TICK_SECONDS)

    async def _stop_run(self) -> dict[str, Any]:
        phase, _ = self._standing()
        await self._tried("stop", self.peers.pool.put_state(STOPPING, {"now": self._hurried}))
        if not self._hurried:
            self._saving = asyncio.create_task(self._save(phase))
            await asyncio.wait([self._saving])
            if not self._saving.cancelled():
                self._saving.result()
        _, saved = self._standing()
        await self._tried("stopped", self.peers.metrics.event("stopped", {"step": saved}))
        await self.stop()  # before the actors end, or the keeper would make them again
        there = [name for name in await asyncio.to_thread(roster.present, self.config) if name != self.name]
        for names in in_order(there):
            await asyncio.gather(*map(self._end, names))
        self._farewell = asyncio.create_task(self._end_itself())
        return {"checkpoint": saved, "phase": phase, "served": self.config.serve.enabled}

    def _standing(self) -> tuple[str, int]:
        """The phase, empty where there is no pool yet, and the step that is saved."""
        try:
            return self.phase, int((self.pool_reader.state("checkpoint") or {"step": 0})["step"])
        except NoPool:
            return "", 0

    async def _save(self, phase: str) -> None:
        if phase not in ("", "done"):
            await self.peers.pool.put_state("draining", True)
        if self.config.serve.enabled and phase == "training":
            limit = self.config.supervision.drain_seconds
            await self._tried("server", self.peers.server.settled(), limit)
        if phase in ("training", "final", "done"):  # before it there is nothing to save
            for policy, result in (await self._save_each()).items():
                if isinstance(result, BaseException):
                    if policy == self.config.policy.name:
                        raise result
                    # It must not keep the run from saving and ending.
                    self._note(f"save {policy}", f"{type(result).__name__}: {result}")

    async def _tried(self, what: str, call: Awaitable[Any], seconds: float = TELL_SECONDS) -> None:
        """A run can be stopped though some of its actors are away."""
        try:
            await asyncio.wait_for(call, seconds)
        except Exception as error:  # noqa: BLE001 - whatever it is, the others must still be told
            self._note(what, f"{type(error).__name__}: {error}")

    async def _end(self, name: str) -> None:
        await self._tried(f"stop {name}", self.peers[name].stop(), END_SECONDS)
        await asyncio.to_thread(roster.kill, name, self.config)

    async def _end_itself(self) -> None:
        await asyncio.sleep(FAREWELL_SECONDS)  # for the answer to reach whoever asked
        await asyncio.to_thread(roster.end, self.config, by_itself=True)

    async def _phases_once(self) -> None:
        match self.phase:
            case "starting":
                await self._enter_baseline()
            case "baseline":
                await self._evaluate("before")
                await self._enter("training")
            case "training":
                await self._await_training()
            case "final":
                await self._evaluate("after")
                await self._enter("done")
            case _:
                await self._await_driver()

    async def _insist(self) -> None:
        """Start again and again: where no driver is, nobody else would ask for it."""
        while True:
            with suppress(Exception):  # told already
                await super().ready()
                return
            await asyncio.sleep(FAILURE_PAUSE_SECONDS)

    async def _await_driver(self) -> None:
        """A finished run is ended by its driver, or by itself where there is none."""
        await self.idle("")
        if time.monotonic() - self._driver_at > self.config.supervision.orphaned_seconds:
            await self.stop_run()

    async def _enter_baseline(self) -> None:
        self.waiting_for = "validator"
        counts = await self.peers.validator.bootstrap()
        await self.peers.metrics.event("bootstrap", counts)
        if counts["admitted"] == 0:
            raise RuntimeError(
                "no seed and no brick passed the gates; see `envolve pool ls --status rejected`"
            )
        evaluated = self.config.evaluation.enabled and not self.config.serve.enabled
        await self._enter("baseline" if evaluated else "training")

    async def _await_training(self) -> None:
        if self.config.serve.enabled:  # for as long as somebody trains on it elsewhere
            await self.idle("", TICK_SECONDS)
            return
        progress = await self.peers.learner.progress()
        if progress["step"] >= self.config.run.steps and progress["checkpoint"] >= self.config.run.steps:
            await self._enter("final" if self.config.evaluation.enabled else "done")
        else:
            await self.idle("learner", TICK_SECONDS)

    async def _evaluate(self, label: str) -> None:
        self.waiting_for = "evaluator"
        start = time.monotonic()
        result = await self.peers.evaluator.evaluate(label)
        rates = {kind: _mean(answers) for kind, answers in result.items()}
        await self.peers.metrics.event(
            "evaluation", {"label": label, "sets": rates, "seconds": time.monotonic() - start}
        )

    async def _enter(self, phase: str) -> None:
        self.waiting_for = ""
        await self.peers.pool.put_state("phase", phase)
        await self.peers.metrics.event("phase", {"phase": phase})


def in_order(there: Sequence[str]) -> list[list[str]]:
    """Who ends together: sandboxes after those who have what they learnt last recomputed, and `LAST` at the end."""
    rest = [name for name in there if name not in LAST]
    sandboxes = [name for name in rest if roster.kind_of(name) == "sandbox"]
    return [[name for name in rest if name not in sandboxes], sandboxes, *([name] for name in LAST)]


def _failed(task: asyncio.Task[Any]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


def _mean(answers: list[dict[str, Any]]) -> dict[str, float]:
    answers = [answer for answer in answers if answer["success"] is not None]
    count = max(1, len(answers))
    means = {key: sum(answer[key] for answer in answers) / count for key in ("success", "parsed")}
    return {"questions": float(len(answers))} | means
