"""The learner actor: takes batches, has verl update the policy, and makes the new weights live.

Invariant: policy versions only rise, also when weights fall back to a checkpoint; what was trained after that
checkpoint reopens in the buffer, so no sample counts twice in the weights that survive. A checkpoint is whole
before the pool says that it is there. A solver that is away or has not started is not waited for without end: it takes
up what the pool names by itself. One that leaves saves first. The update itself is `training.grpo`'s work.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ray.exceptions import RayError

from actors import roster
from actors.base import Actor
from actors.peers import Peer, PeerUnavailable
from training.grpo.errors import LearnerError, LearnerRankLost
from training.grpo.settings import LearnerSettings
from training.policy.source import resolve_model
from training.precision import engine_dtype
from training.trajectory import Group

if TYPE_CHECKING:
    from training.grpo.checkpoints import Checkpoint
    from training.grpo.learner import Learner

T = TypeVar("T")
KEPT_EXPORTS = 2
ACKNOWLEDGE_SECONDS = 120.0
"""For a solver to take up new weights, before the next update is made without it."""
SIGN_OF_LIFE_SECONDS = 10.0
ENDING = ("final", "done")
STALL_SECONDS = 600.0
"""Waiting for a batch that long raises an alarm."""


OVERVIEW_SECONDS = 10.0


class LearnerActor(Actor):
    """One verl worker group and the loop around it."""

    async def start(self) -> None:
        self._busy = asyncio.Lock()
        self._step = self._version = self._last_checkpoint = 0
        self._batch_since = time.monotonic()
        self._stalled_at = -1
        self._astray = False
        folder = await asyncio.to_thread(resolve_model, self.config.policy.model)
        self._learner = await asyncio.to_thread(self._started, self._settings(folder), await self._avoided())
        await self._stand_at(await asyncio.to_thread(self._learner.load, self._checkpoints))
        self.background("learn", self._learn_once, vital=True)

    async def progress(self) -> dict[str, Any]:
        """Updates in the living weights, and their version."""
        await self.ready()
        return {"step": self._step, "version": self._version, "checkpoint": self._last_checkpoint}

    async def checkpoint(self) -> int:
        """Save now, unless the living weights are saved; returns the step saved. Idempotent."""
        await self.ready()
        async with self._busy:
            if self._astray:
                await self._fall_back()
            if self._step > self._last_checkpoint:
                await self._whole(self._save())
        return self._last_checkpoint

    async def drain(self) -> None:
        await super().drain()
        if self._starting.done() and not self._starting.exception():
            await self.checkpoint()

    def gauges(self) -> dict[str, float]:
        if not hasattr(self, "_last_checkpoint"):
            return {}
        return {"step": self._step, "version": self._version, "checkpoint": self._last_checkpoint}

    async def stop(self) -> None:
        await super().stop()
        if hasattr(self, "_learner"):
            await asyncio.to_thread(self._learner.close)

    @staticmethod
    def _started(settings: LearnerSettings, avoid: list[str]) -> Learner:
        # Only here: verl takes seconds to import, which whoever merely names this class need not pay.
        from training.grpo.learner import Learner

        learner = Learner(settings)
        learner.avoid = avoid
        learner.start()
        return learner

    def _settings(self, folder: Path) -> LearnerSettings:
        learner, policy = self.config.learner, self.config.policy
        return LearnerSettings(
            model_path=folder,
            ranks=learner.ranks,
            ranks_per_node=learner.ranks_per_node,
            gpus=learner.gpus > 0,
            threads=learner.threads or max(1, (os.cpu_count() or 1) // learner.ranks),
            lr=learner.lr,
            clip_low=learner.clip_low,
            clip_high=learner.clip_high,
            micro_batch=learner.micro_batch,
            temperature=policy.temperature,
            generator_advantage=learner.generator_advantage,
            precision=learner.precision,
            export_dtype=engine_dtype(policy.dtype, self.config.solver.gpus > 0),
            keep_checkpoints=learner.keep_checkpoints,
            name=f"{self.config.namespace}/{self.config.own('learner')}-",
            seed=self.config.run.seed,
        )

    async def _avoided(self) -> list[str]:
        """Nodes in quarantine; none where the supervisor does not say so soon."""
        try:
            overview = await asyncio.wait_for(self.peers.supervisor.overview(), OVERVIEW_SECONDS)
        except (TimeoutError, RayError):
            return []
        return [node["id"] for node in overview["nodes"] if node["quarantined"]]

    async def _learn_once(self) -> None:
        if self._step >= self.config.run.steps or not self.working:
            self._batch_since = time.monotonic()  # nobody makes groups for it now
            if self.phase in ENDING:
                await self.checkpoint()  # an attached policy may stand between two checkpoints
            await self.idle("run")
            return
        if self._astray:
            async with self._busy:
                await self._fall_back()
        taken = await self._buffer.take(self._version)
        if taken is None:
            await self._alarm_when_stalled()
            await self.idle("buffer")
            return
        self.waiting_for = ""
        async with self._busy:
            groups = [Group.from_dict(group) for group in taken]
            record = await self._whole(self._update(groups))
            if record is not None:  # telling of an update is no part of it: no failure there undoes it
                await self.peers.metrics.step(record, [group.id for group in groups])

    async def _alarm_when_stalled(self) -> None:
        """Zero progress is said, once a batch: groups without variance, for example, may never fill one."""
        waited = time.monotonic() - self._batch_since
        if waited > STALL_SECONDS and self._stalled_at != self._version:
            self._stalled_at = self._version
            text = f"{self._policy}: no batch for {waited:.0f} s after step {self._step}; the buffer's drops tell why"
            await self.peers.metrics.alarm("stall", text)

    async def _whole(self, work: Awaitable[T]) -> T | None:
        """Do it with all ranks: when it fails the group is built anew. Raises what is not the loss of a rank."""
        try:
            return await work
        except LearnerError as error:
            self._note("rank", f"{error}")
            await self._fall_back()
            if not isinstance(error, LearnerRankLost):
                raise
            return None
        except Exception:
            # Trained but not live: what follows would build on weights that no solver has.
            await self._fall_back()
            raise

    async def _fall_back(self) -> None:
        """Build the group anew from the newest checkpoint. Where that fails it is due before anything else is done.

        For the group may hold the base model by then, or weights whose later groups do not wait in the buffer.
        """
        self._astray = True
        self._learner.avoid = await self._avoided()
        await self._stand_at(await asyncio.to_thread(self._learner.restart, self._checkpoints))
        self._astray = False

    async def _update(self, groups: list[Group]) -> dict[str, Any]:
        waited, start = time.monotonic() - self._batch_since, time.monotonic()
        metrics = await asyncio.to_thread(self._learner.update, groups, self._version + 1)
        update_seconds = time.monotonic() - start
        self._step, self._version = self._step + 1, self._version + 1
        # Before it is published: if that fails, the batch is in these weights all the same.
        await self._buffer.trained([group.id for group in groups], self._version)
        await self._publish()
        if self._step % self.config.learner.checkpoint_every == 0 or self._step >= self.config.run.steps:
            await self._save()
        self._batch_since = time.monotonic()
        return {
            **metrics, "policy": self._policy, "step": self._step, "version": self._version, "wait_seconds": waited,
            "update_seconds": update_seconds, "publish_seconds": self._batch_since - start - update_seconds,
        }  # fmt: skip

    async def _publish(self) -> None:
        """Export the weights, say so in the pool, and make them live in every solver that serves."""
        own, folder = self.config.own, self._weights
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"version-{self._version:06d}.safetensors"
        await asyncio.to_thread(self._learner.export, path)
        # Before they are told: one that starts meanwhile, or misses the call, takes up what the pool names.
        await self.peers.pool.put_state(own("weights"), {"path": str(path), "version": self._version})
        await self._tell_solvers(str(path))
        for old in sorted(folder.glob("version-*.safetensors"))[:-KEPT_EXPORTS]:
            old.unlink(missing_ok=True)
        await self.peers.pool.put_state(own("progress"), {"step": self._step, "version": self._version})

    async def _tell_solvers(self, path: str) -> None:
        """Every solver of the policy that is wanted; one that does not answer in time is left to catch up by itself.

        Raises what a solver raises that could not take the weights.
        """
        telling = [
            asyncio.create_task(self._tell(name, path)) for name in roster.solvers(self.config, self.wanted)
        ]
        if not telling:
            return
        done, late = await asyncio.wait(telling, timeout=ACKNOWLEDGE_SECONDS)
        for task in done:
            task.result()
        for task in late:
            task.cancel()
        if late:
            text = f"{self._policy}: {len(late)} solvers did not take up version {self._version} in time"
            await self.peers.metrics.alarm("stall", text)

    async def _tell(self, name: str, path: str) -> None:
        try:
            # One that no node has room for yet says nothing at all, and would be waited for at every update.
            await asyncio.wait_for(self.peers[name].heartbeat(), SIGN_OF_LIFE_SECONDS)
        except (PeerUnavailable, TimeoutError):
            return
        try:
            await self.peers[name].update_weights(path, self._version)
        except PeerUnavailable:
            return  # scaled away meanwhile, or away: whoever takes its place starts with these weights

    async def _save(self) -> None:
        await asyncio.to_thread(self._learner.save, self._checkpoints, {"step": self._step})
        self._last_checkpoint = self._step
        await self._tell_saved(self._version)

    async def _tell_saved(self, version: int) -> None:
        """There is a whole checkpoint of this version, at the present step."""
        place = self.config.own("checkpoint")
        await self.peers.pool.put_state(place, {"step": self._step, "version": version})
        await self._buffer.checkpointed(version)

    async def _named_by_pool(self) -> int:
        return int((await self.peers.pool.state(self.config.own("weights")) or {}).get("version", 0))

    def _exported(self) -> list[int]:
        return [
            int(path.stem.removeprefix("version-")) for path in self._weights.glob("version-*.safetensors")
        ]

    @property
    def _policy(self) -> str:
        return self.config.policy.name

    @property
    def _buffer(self) -> Peer:
        return self.peers[self.config.own("buffer")]

    @property
    def _checkpoints(self) -> Path:
        return self.config.policy_folder / "checkpoints"

    @property
    def _weights(self) -> Path:
        return self.config.policy_folder / "weights"

    async def _stand_at(self, saved: Checkpoint | None) -> None:
        """Go on from a checkpoint (None: the base model) under a version above all that were ever live.

        Where the pool is older than the files beside it (it was restored from a backup, or is new), they count too: a
        checkpoint or an export with a lower number than theirs would be the first to be pruned.
        """
        since = saved.version if saved else 0
        live = max(await self._named_by_pool(), since, *self._exported())
        self._step = self._last_checkpoint = int(saved.extra["step"]) if saved else 0
        # Where nothing but the base model was ever live, solvers have loaded that themselves.
        self._version = live + 1 if live else 0
        # Before they are published: if that fails, no group may stay behind as trained.
        reopened = await self._buffer.reopen(since, self._version)
        if saved is not None:  # whoever saved it may have been killed before it could say so
            await self._tell_saved(since)
        if not live:
            return
        await self._publish()
        facts = {"step": self._step, "version": self._version, "was": live, "reopened": reopened}
        await self.peers.metrics.event("fallback", {"policy": self._policy, **facts})
