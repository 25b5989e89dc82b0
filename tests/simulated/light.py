"""Actors that weigh nothing: each answers what a supervisor asks of any kind, and does no work. For tests of the
supervisor, and for finding out what an actor costs that does nothing."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from actors.base import Actor
from actors.sandbox import SandboxActor
from actors.serving import Desk
from envpool.sandbox import Done, Job, Result, Value
from envpool.sandbox.meter import Running
from tests.simulated.runs import merged

JOB_SECONDS = 0.1
"""Of a marking actor: it waits and computes nothing, so that many of them do more than one on any machine."""
EVERY_KIND = (
    "buffer", "curator", "solver", "learner", "novelty", "validator", "evaluator", "composer", "generator",
    "calibrator",
)  # fmt: skip
LIGHT: dict[str, Any] = {
    "run": {"actors": dict.fromkeys(EVERY_KIND, "tests.simulated.light:LightActor")},
    "evaluation": {"enabled": False},
}
"""Sections of a run whose actors are all light but pool, metrics, supervisor and followers."""


def light(actors: dict[str, str], **sections: Any) -> dict[str, Any]:
    """`LIGHT` with some classes of this module, by kind."""
    named = {kind: f"tests.simulated.light:{name}" for kind, name in actors.items()}
    return merged(merged(LIGHT, {"run": {"actors": named}}), sections)


class LightActor(Actor):
    """What any kind is asked by the supervisor."""

    async def bootstrap(self) -> dict[str, int]:
        """As a validator: all is admitted."""
        return {"admitted": 1, "refused": 0}

    async def progress(self) -> dict[str, int]:
        """As a learner that has not begun."""
        return {"step": 0, "version": 0, "checkpoint": 0}

    async def checkpoint(self) -> int:
        """As a learner, which takes a while to save."""
        await asyncio.sleep(2.0)
        await self.peers.pool.put_state("saved", True)
        return 0

    async def forget(self, owner: str) -> None:
        """As a buffer without permits."""

    async def is_working(self) -> bool:
        """Whether it would make something now."""
        await self.ready()
        return self.working

    async def hang(self) -> None:
        """Never gives the event loop back."""
        time.sleep(10**6)


class FinishedLearner(LightActor):
    """A learner that has made all its updates."""

    async def progress(self) -> dict[str, int]:
        steps = self.config.run.steps
        return {"step": steps, "version": steps, "checkpoint": steps}


class UnsavedRivalLearner(LightActor):
    """A learner that cannot save where its policy is attached."""

    async def checkpoint(self) -> int:
        if self.config.policy.attached:
            raise OSError("no space left on device")
        return await super().checkpoint()


class FailingActor(LightActor):
    """Its start fails until a file is there."""

    async def start(self) -> None:
        if not (self.config.run_folder / "heal").exists():
            raise RuntimeError("the weights are on another disk")


class StillbornActor(LightActor):
    """Its process ends while it is made, until a file is there; each birth leaves its time."""

    def __init__(self, config: dict[str, Any], name: str) -> None:
        super().__init__(config, name)
        with (self.config.run_folder / "births").open("a") as file:
            file.write(f"{time.time()}\n")
        if not (self.config.run_folder / "heal").exists():
            os._exit(3)


class MarkingSandbox(SandboxActor):
    """The sandbox actor over an executor without a child, which does one job at a time and leaves a line of each."""

    async def start(self) -> None:
        await super().start()
        self._executor.close()
        self._executor = _Marking(self.config.run_folder / "marks-sandbox")  # type: ignore[assignment]


class MarkingSolver(LightActor):
    """A solver that answers with the prompt itself, one request at a time, and leaves a line of each."""

    async def start(self) -> None:
        self._desk = Desk(self.name)
        self._marking = _Marking(self.config.run_folder / "marks-solver")

    async def generate(
        self, prompts: Sequence[str], n: int, max_tokens: int, temperature: float, plain: bool = False
    ) -> list[list[dict[str, Any]]]:
        """As a solver's `generate`."""
        await self.ready()
        with self._desk.request(self._leaving):
            for prompt in prompts:
                await self._marking.mark(prompt)
        return [[{"text": prompt}] * n for prompt in prompts]

    async def drain(self) -> None:
        await super().drain()
        await self._desk.closed()


class _Marking:
    """An executor that takes a while for each job, one after the other, and writes down what it did."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._marks = folder / str(os.getpid())
        self._turn = asyncio.Lock()

    async def mark(self, job: str) -> None:
        """Do one job."""
        async with self._turn:
            await asyncio.sleep(JOB_SECONDS)
            with self._marks.open("a") as file:
                file.write(f"{job}\n")

    async def run_many(self, jobs: Sequence[Job]) -> list[Done]:
        """As `BatchExecutor.run_many`; the value of each call is the program's text."""
        return [await self._run(job) for job in jobs]

    async def _run(self, job: Job) -> list[Result]:
        await self.mark(job.source)
        return [Value(job.source) for _ in job.calls]

    def running(self) -> list[Running]:
        """Nothing."""
        return []

    def metrics(self) -> dict[str, int]:
        """Nothing."""
        return {}

    async def sweep(self) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""
