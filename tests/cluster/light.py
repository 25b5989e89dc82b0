"""Runs whose stages are simulated, so that many can be started, steered and stopped: no model, no sandbox, no batch.

Pool, metrics, supervisor, followers and the driver are the real ones. The real stages in their place:
`tests/test_end_to_end.py`, `tests/test_survival.py`.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from actors.base import Actor
from cluster.config import Config
from envpool.store import NoPool, PoolReader

STEP_SECONDS = 0.1
KINDS = (
    "solver", "sandbox", "composer", "generator", "novelty", "evaluator", "buffer", "curator", "calibrator",
)  # fmt: skip
STAGES = {
    **dict.fromkeys(KINDS, "tests.cluster.light:LightStage"),
    "validator": "tests.cluster.light:LightValidator",
    "learner": "tests.cluster.light:LightLearner",
}


class LightStage(Actor):
    """A simulated stage that lives and does nothing."""

    async def play(self, *_: Any) -> None:
        """Whatever a neighbour might ask."""

    async def forget(self, owner: str) -> None:
        """As a buffer without permits."""


class LightValidator(LightStage):
    """A simulated validator: the pool begins with one member."""

    async def bootstrap(self) -> dict[str, int]:
        return {"admitted": 1, "rejected": 0}


class LightLearner(LightStage):
    """A simulated learner: an update is a number that grows. A file `full disk` in the run's folder makes saving fail,
    and `slow disk` lets it take until the file is gone.
    """

    async def start(self) -> None:
        self._saved = self._step = (await self._kept("checkpoint"))["step"]
        self._saving = asyncio.Lock()
        self.background("learn", self._learn_once)

    async def progress(self) -> dict[str, Any]:
        await self.ready()
        return {"step": self._step, "version": self._step, "checkpoint": self._saved}

    async def checkpoint(self) -> int:
        await self.ready()
        async with self._saving:
            if (self.config.policy_folder / "full disk").exists():
                raise OSError("no space left on device")
            while (self.config.policy_folder / "slow disk").exists():
                await asyncio.sleep(STEP_SECONDS)
            step = self._step  # a call may come between, and an update with it
            await self._put("checkpoint", step)
            self._saved = step
            return step

    async def _learn_once(self) -> None:
        await asyncio.sleep(STEP_SECONDS)
        if not self.working:
            return
        if self._step < self.config.run.steps:
            self._step += 1
            await self._put("progress", self._step)
        elif self._saved < self._step:
            await self.checkpoint()

    async def _kept(self, key: str) -> dict[str, Any]:
        return await self.peers.pool.state(self.config.own(key)) or {"step": 0}

    async def _put(self, key: str, step: int) -> None:
        await self.peers.pool.put_state(self.config.own(key), {"step": step, "version": step})


@dataclass(frozen=True)
class LightRun:
    """One such run: what starts it, and what it has written."""

    config: Config
    file: Path

    @property
    def name(self) -> str:
        return self.config.run.name

    @property
    def command(self) -> list[str]:
        """The arguments of `envolve run`; the same ones start, join and resume."""
        return ["--config", str(self.file), "--plain"]

    @property
    def which(self) -> list[str]:
        """The arguments of every other command."""
        return ["--run", self.name, "--folder", str(self.config.run.folder)]

    def state(self, key: str) -> Any:
        """A piece of what the run keeps in its pool; None while there is no pool."""
        try:
            with PoolReader.open(self.config.pool_folder) as reader:
                return reader.state(key)
        except NoPool:
            return None

    def status(self) -> dict[str, Any]:
        path = self.config.run_folder / "status.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def light_run(folder: Path, name: str, steps: int = 100_000, **sections: Any) -> LightRun:
    """A run with simulated stages in this folder; `sections` are more of its configuration."""
    settings = {
        "run": {"name": name, "folder": str(folder), "steps": steps, "actors": STAGES},
        "pool": {"map_size_gib": 0.1, "replica_folder": str(folder / "replicas")},
        "evaluation": {"enabled": False},
        "sandbox": {"count": 1},
        "metrics": {"tensorboard": False, "wandb": "off", "prometheus": False},
        **sections,
    }
    file = folder / f"{name}.yaml"
    file.write_text(yaml.safe_dump(settings), encoding="utf-8")
    return LightRun(Config.model_validate(settings), file)
