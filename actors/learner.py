"""The learner actor: takes batches, has verl update the policy, and makes the new weights live.

Invariant: policy versions only rise, also when weights fall back to a checkpoint; what was trained after that
checkpoint reopens in the buffer, so no sample counts twice in the weights that survive. A checkpoint is whole
before the pool says that it is there. The update itself is `training.grpo`'s work.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from actors.base import Actor
from training.grpo.learner import Learner, LearnerRankLost, LearnerSettings
from training.policy.source import resolve_model
from training.trajectory import Group

KEPT_EXPORTS = 2


class LearnerActor(Actor):
    """One verl worker group and the loop around it."""

    async def start(self) -> None:
        self._busy = asyncio.Lock()
        self._step = self._version = self._last_checkpoint = 0
        self._batch_since = time.monotonic()
        folder = await asyncio.to_thread(resolve_model, self.config.policy.model)
        self._learner = Learner(self._settings(folder))
        await asyncio.to_thread(self._learner.start)
        await self._fall_back()
        self.background("learn", self._learn_once)

    async def progress(self) -> dict[str, Any]:
        """Updates in the living weights, and their version."""
        await self.ready()
        return {"step": self._step, "version": self._version, "checkpoint": self._last_checkpoint}

    async def checkpoint(self) -> int:
        """Save now, unless the living weights are saved; returns the step saved. Idempotent."""
        await self.ready()
        async with self._busy:
            if self._step > self._last_checkpoint:
                await self._save()
        return self._last_checkpoint

    def gauges(self) -> dict[str, float]:
        return {"step": self._step, "version": self._version, "checkpoint": self._last_checkpoint}

    async def stop(self) -> None:
        await super().stop()
        await asyncio.to_thread(self._learner.close)

    def _settings(self, folder: Path) -> LearnerSettings:
        learner, policy = self.config.learner, self.config.policy
        return LearnerSettings(
            model_path=str(folder),
            ranks=learner.ranks,
            gpus=learner.gpus,
            threads=learner.threads,
            lr=learner.lr,
            clip_low=learner.clip_low,
            clip_high=learner.clip_high,
            micro_batch=learner.micro_batch,
            temperature=policy.temperature,
            generator_advantage=learner.generator_advantage,
            autocast=learner.autocast,
            seed=self.config.run.seed,
        )

    async def _learn_once(self) -> None:
        if self._step >= self.config.run.steps or self.phase != "training" or self.draining:
            await self.idle("run")
            return
        taken = await self.peers.buffer.take(self._version)
        if taken is None:
            await self.idle("buffer")
            return
        self.waiting_for = ""
        async with self._busy:
            try:
                await self._update([Group.from_dict(group) for group in taken])
            except LearnerRankLost as lost:
                self._note("rank", f"{lost}")
                await asyncio.to_thread(self._learner.restart)
                await self._fall_back()

    async def _update(self, groups: list[Group]) -> None:
        waited, start = time.monotonic() - self._batch_since, time.monotonic()
        metrics = await asyncio.to_thread(self._learner.update, groups, self._version)
        update_seconds = time.monotonic() - start
        self._step, self._version = self._step + 1, self._version + 1
        await self._publish()
        await self.peers.buffer.trained([group.id for group in groups], self._version)
        if self._step % self.config.learner.checkpoint_every == 0 or self._step >= self.config.run.steps:
            await self._save()
        self._batch_since = time.monotonic()
        await self.peers.metrics.step(
            {"step": self._step, "version": self._version, **metrics, "wait_seconds": waited,
             "update_seconds": update_seconds, "publish_seconds": self._batch_since - start - update_seconds},
            [group.id for group in groups],
        )  # fmt: skip

    async def _publish(self) -> None:
        """Export the weights and make them live in every solver, then say so in the pool."""
        folder = self.config.run_folder / "weights"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"version-{self._version:06d}.safetensors"
        await asyncio.to_thread(self._learner.export, path)
        await self.peers.pool.put_state("weights", {"path": str(path), "version": self._version})
        solvers = [self.peers[f"solver-{index}"] for index in range(self.config.solver.count)]
        await asyncio.gather(*(solver.update_weights(str(path), self._version) for solver in solvers))
        # Only now: every solver has acknowledged the newer file.
        for old in sorted(folder.glob("version-*.safetensors"))[:-KEPT_EXPORTS]:
            old.unlink(missing_ok=True)
        await self.peers.pool.put_state("progress", {"step": self._step, "version": self._version})

    async def _save(self) -> None:
        folder = self.config.run_folder / "checkpoints"
        await asyncio.to_thread(
            self._learner.save, folder, {"step": self._step, "version": self._version}, self.config.learner.keep_checkpoints
        )
        self._last_checkpoint = self._step
        await self.peers.pool.put_state("checkpoint", {"step": self._step, "version": self._version})
        await self.peers.buffer.checkpointed(self._version)

    async def _fall_back(self) -> None:
        """Take up the last whole checkpoint (or the base model) under a version above all that were ever live."""
        live = int((self.pool_reader.state("weights") or {}).get("version", 0))
        saved = await asyncio.to_thread(self._learner.load_latest, self.config.run_folder / "checkpoints")
        self._step = self._last_checkpoint = int(saved["step"]) if saved else 0
        self._version = int(saved["version"]) if saved else 0
        if live == 0:
            return  # nothing but the base model was ever live, and solvers have loaded that themselves
        since, self._version = self._version, live + 1
        await self._publish()
        reopened = await self.peers.buffer.reopen(since, self._version)
        await self.peers.metrics.event(
            "fallback", {"step": self._step, "version": self._version, "was": live, "reopened": reopened}
        )
