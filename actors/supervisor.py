"""The supervisor actor: makes the actors, keeps them ready, and walks the run through its phases.

Invariant: phases are kept in the pool and only go forward (starting, baseline, training, final, done); each is
idempotent, so a supervisor that was killed goes on where its successor finds the run. Its death stops nothing:
all other actors are detached and Ray restarts them, it only tells them to get ready again.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from actors import roster
from actors.base import Actor

TICK_SECONDS = 1.0
DRAIN_SECONDS = 300.0


class SupervisorActor(Actor):
    """Health and phases."""

    def __init__(self, config: dict[str, Any], name: str) -> None:
        super().__init__(config, name)
        self._getting_ready: dict[str, asyncio.Task[Any]] = {}
        self._posts = roster.posts(self.config)

    async def start(self) -> None:
        for post in self._posts:
            await asyncio.to_thread(roster.make, post, self.config)
        await self.peers.pool.ready()
        self.background("watch", self._watch_once)
        self.background("phases", self._phases_once, vital=True)

    async def begin(self) -> bool:
        """A driver takes the run up: whatever drained it before is over. Idempotent."""
        await self.ready()
        await self.peers.pool.put_state("draining", False)
        return True

    async def drain(self) -> dict[str, Any]:
        """Stop producing, finish the update under way, save. Returns where the run stands. Idempotent."""
        await self.peers.pool.put_state("draining", True)
        if self.phase == "training":  # before it there is nothing to save, and after it all is saved
            await asyncio.wait_for(self.peers.learner.checkpoint(), DRAIN_SECONDS)
        saved = (self.pool_reader.state("checkpoint") or {"step": 0})["step"]
        await self.peers.metrics.event("drained", {"step": saved})
        return {"checkpoint": saved, "phase": self.phase}

    async def shut_down(self) -> None:
        """Have every actor release what lives outside its process: zygotes, engine, ranks, files."""
        await self.stop()  # before the actors end, or the watch would start them again
        for task in self._getting_ready.values():
            task.cancel()
        last = ("metrics", "pool")
        first = [post.name for post in self._posts if post.name not in last]
        await asyncio.gather(*(self._stop(name) for name in first))
        for name in last:
            await self._stop(name)

    async def _stop(self, name: str) -> None:
        try:
            await asyncio.wait_for(self.peers[name].stop(), 30)
        except Exception as error:  # noqa: BLE001 - it is killed right after; the others must still be told
            self._note(f"stop {name}", f"{type(error).__name__}: {error}")

    async def _watch_once(self) -> None:
        """Ask every actor to be ready, without waiting for the slow ones: a restarted actor starts by being asked."""
        for post in self._posts:
            task = self._getting_ready.get(post.name)
            if task is None or task.done():
                self._count_start(post.name, task)
                self._getting_ready[post.name] = asyncio.create_task(self.peers[post.name].ready())
        await asyncio.sleep(TICK_SECONDS)

    def _count_start(self, name: str, task: asyncio.Task[Any] | None) -> None:
        if task is None or task.cancelled():
            return
        if (error := task.exception()) is None:
            self._in_a_row.pop(f"start of {name}", None)
        else:
            self._count_in_a_row(f"start of {name}", str(error))
            self._note(name, f"{name} is not ready: {error}")

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
                await self.idle("")

    async def _enter_baseline(self) -> None:
        self.waiting_for = "validator"
        counts = await self.peers.validator.bootstrap()
        await self.peers.metrics.event("bootstrap", counts)
        if counts["admitted"] == 0:
            raise RuntimeError(
                "no seed and no brick passed the gates; see `envolve pool ls --status rejected`"
            )
        await self._enter("baseline" if self.config.evaluation.enabled else "training")

    async def _await_training(self) -> None:
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


def _mean(answers: list[dict[str, Any]]) -> dict[str, float]:
    answers = [answer for answer in answers if answer["success"] is not None]
    count = max(1, len(answers))
    return {
        "questions": float(len(answers)),
        "success": sum(answer["success"] for answer in answers) / count,
        "parsed": sum(answer["parsed"] for answer in answers) / count,
    }
