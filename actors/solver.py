"""The solver actor: a vLLM engine that answers, and the loop that turns recipes into groups.

Invariant: it takes traffic only with the weights that its policy currently has, also after a restart, and takes up by
itself those it was not told of; a dead engine ends this process, so that another is made. The loop pulls: permits from
the buffer, recipes from the curator. One that leaves plays and answers what it has begun. A policy that is attached
and not trained has no such loop. Playing a recipe is `training.rollout`'s work.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from actors.auditing import Auditing
from actors.base import FAILURE_PAUSE_SECONDS, IDLE_SECONDS, Actor
from actors.curator import recipes_of
from actors.lookup import PoolLookup
from actors.serving import Desk, requests
from cluster import wanted
from envpool.answer_counts import AnswerCount
from envpool.contract import Recipe
from envpool.execution import Examiner
from envpool.members import Status
from envpool.sandbox import InfrastructureFault
from training.policy.chat import Chat
from training.policy.engine import VllmEngine
from training.policy.errors import PolicyEngineLost, WeightsNotShared
from training.policy.settings import EngineSettings, GenerationRequest
from training.precision import engine_dtype
from training.rollout import Played, Rollout
from training.trajectory import Sample

ENGINE_LOST_EXIT = 17
REPLICA_SECONDS = 10.0
"""How long a member that was just admitted may take to this node's replica."""
FAILURES_APART_SECONDS = 5.0
LOOK_SECONDS = 60.0
"""Between two looks at whether the engine still answers."""


class SolverActor(Actor):
    """One engine of one policy."""

    engine: type[VllmEngine] = VllmEngine
    """What answers; in simulated runs something that answers at once."""

    def __init__(self, config: dict[str, Any], name: str) -> None:
        super().__init__(config, name)
        self._chat = Chat(system=self.config.policy.system, examples=self.config.policy.examples)
        self._desk = Desk(name)
        self._engine: VllmEngine | None = None
        self._playing: set[asyncio.Task[None]] = set()
        self._serial = itertools.count()
        self._infrastructure = self._groups = self._killed = 0
        self._play_failed_at = 0.0
        self._stopping = False

    async def start(self) -> None:
        learns = await self._learns()
        engine = self.engine(self._settings())
        await engine.start()
        self._engine = engine
        try:
            if learns:  # else it is asked by others alone, and with the weights that it was attached with
                await self._begin_playing()
        except BaseException:
            self._engine = None
            await engine.close()  # the next try starts another engine, and there is room for one
            raise
        self.background("engine", self._look_once)

    async def generate(
        self, prompts: Sequence[str], n: int, max_tokens: int, temperature: float, plain: bool = False
    ) -> list[list[dict[str, Any]]]:
        """`n` samples for each prompt, for review, calibration, evaluation and proposals. `plain` leaves the worked
        examples out. Raises SolverLeaving, and what the engine raises. Idempotent."""
        await self.ready()
        with self._desk.request(self._leaving):
            groups = await self._generate(
                requests(Chat() if plain else self._chat, prompts, n, max_tokens, temperature)
            )
        return [[sample.to_dict() for sample in group] for group in groups]

    async def update_weights(self, path: str, version: int) -> int:
        """Replace the weights under running requests; returns the version that is live. Idempotent.

        One that has not started yet takes them up by itself, and answers at once. Raises WeightsNotShared.
        """
        if self._engine is None or not self._starting.done():
            return -1
        await self._adopt(self._engine, path, version)
        return int(self._engine.version)

    async def drain(self) -> None:
        if hasattr(self, "_auditing"):
            self._auditing.leave()
        await super().drain()
        if self._playing:
            await asyncio.wait(self._playing)
        await self._desk.closed()
        if hasattr(self, "_auditing"):
            await self._auditing.finish()

    def gauges(self) -> dict[str, float]:
        engine = self._engine
        return {
            **(engine.metrics() if engine else {}),
            "groups": self._groups,
            "groups_running": len(self._playing),
            "infrastructure_failures": self._infrastructure,
            "orders_killed": self._killed,
            **(self._auditing.metrics() if hasattr(self, "_auditing") else {}),
        }

    async def stop(self) -> None:
        self._stopping = True
        await super().stop()
        for task in self._playing:
            task.cancel()
        try:
            if hasattr(self, "_auditing"):
                await self._auditing.end()
        finally:
            if self._engine is not None:
                await self._engine.close()

    async def _look_once(self) -> None:
        """An engine that hangs ends this process as a dead one does: what it was asked is answered by another."""
        until = time.monotonic() + LOOK_SECONDS
        while not self._leaving and time.monotonic() < until:
            await asyncio.sleep(IDLE_SECONDS)
        if self._engine is not None:
            await self._guard(self._engine.check_health())

    async def _begin_playing(self) -> None:
        await self._take_up()
        self._auditing = Auditing(self)
        self._rollout = Rollout(
            Examiner(self.sandboxes, PoolLookup(self.pool_reader), observe=self._auditing.observe),
            self._sample,
            self.config.policy.name,
            self.config.learner.group_size,
            self.config.reward.format_bonus,
        )
        await self.peers[self.config.own("buffer")].forget(self.name)
        self.background("rollout", self._rollout_once, vital=True)
        self.background("audit", self._auditing.once)

    async def _learns(self) -> bool:
        """Whether its policy is trained. From the pool itself: a replica may not know what was attached just now."""
        policy = self.config.policy
        now = wanted.kept(await self.peers.pool.state(wanted.KEY), self.config)
        return not policy.attached or now.policy(policy.name).trainable

    def _settings(self) -> EngineSettings:
        policy, solver = self.config.policy, self.config.solver
        return EngineSettings(
            model=policy.model,
            dtype=engine_dtype(policy.dtype, solver.gpus > 0),
            max_model_len=policy.max_model_len,
            max_num_seqs=solver.max_num_seqs,
            kv_cache_gib=solver.kv_cache_gib,
            threads=solver.threads,
            tensor_parallel=solver.tensor_parallel,
        )

    async def _keep_up(self) -> None:
        """Take up newer weights that this solver was not told of: it had not started, or was cut off."""
        weights = self.pool_reader.state(self.config.own("weights"))
        if weights and self._engine and weights["version"] > self._engine.version:
            await self._take_up()

    async def _take_up(self) -> None:
        """The weights that the pool itself names, since files that a replica still names may be gone."""
        weights = await self.peers.pool.state(self.config.own("weights"))
        if weights and self._engine:
            await self._adopt(self._engine, weights["path"], weights["version"])

    async def _adopt(self, engine: VllmEngine, path: str, version: int) -> None:
        if version <= engine.version:
            return
        if not Path(path).exists():
            raise WeightsNotShared(
                f"{self.name} does not see {path}: learner and solvers must share the folder of the run "
                f"({self.config.run_folder}); set run.folder to one that every node has"
            )
        await self._guard(engine.update_weights(path, version))

    async def _sample(self, prompts: Sequence[str], n: int) -> list[list[Sample]]:
        policy = self.config.policy
        return await self._generate(requests(self._chat, prompts, n, policy.max_tokens, policy.temperature))

    async def _generate(self, asked: list[GenerationRequest]) -> list[list[Sample]]:
        assert self._engine is not None
        return await self._guard(self._engine.generate(asked))

    async def _guard(self, work: Any) -> Any:
        try:
            return await work
        except PolicyEngineLost:
            if self._stopping:
                raise
            # The engine cannot be revived inside this process; the supervisor makes another.
            os._exit(ENGINE_LOST_EXIT)

    async def _rollout_once(self) -> None:
        await self._keep_up()
        if "play" in self._in_a_row and not self._playing:
            await self.idle("failures", FAILURE_PAUSE_SECONDS)
        buffer = self.peers[self.config.own("buffer")]
        room = self.config.solver.concurrent_groups - len(self._playing)
        permits = await buffer.reserve(self.name, room) if room > 0 else []
        if not permits:
            await self.idle("solver is busy" if room <= 0 else "buffer")
            return
        try:
            recipes = recipes_of(await self.peers[self.config.own("curator")].choose(len(permits)))
        except Exception:
            for permit in permits:
                await buffer.release(permit, "error")  # or they would be out for ever
            raise
        for permit in permits[len(recipes) :]:
            await buffer.release(permit, "no member to ask")
        self.waiting_for = ""
        for permit, recipe in zip(permits, recipes, strict=False):
            task = asyncio.create_task(self._play(permit, recipe))
            self._playing.add(task)
            task.add_done_callback(self._played)
        if not recipes:
            await self.idle("curator")

    def _played(self, task: asyncio.Task[None]) -> None:
        self._playing.discard(task)
        if task.cancelled():
            return
        if (error := task.exception()) is None:
            self._in_a_row.pop("play", None)
            return
        trace = "".join(traceback.format_exception(error))
        self._note("play", trace)
        # Many play at once: what fails them all at the same moment is one failure.
        if time.monotonic() - self._play_failed_at > FAILURES_APART_SECONDS:
            self._play_failed_at = time.monotonic()
            self._count_in_a_row("play", trace)

    async def _play(self, permit: str, recipe: Recipe) -> None:
        buffer = self.peers[self.config.own("buffer")]
        try:
            if not await self._known_here(recipe.member):
                await buffer.release(permit, "replica behind")
                return
            if self.pool_reader.status(recipe.member) is Status.QUARANTINED:
                await buffer.release(permit, "distrusted")  # since the recipe was drawn
                return
            group = f"{self.name}-{time.time_ns():x}-{next(self._serial)}"
            await self._hand_in(permit, await self._rollout.play(recipe, group))
        except InfrastructureFault as fault:
            self._infrastructure += 1
            await buffer.release(permit, "infrastructure")
            await self.peers.metrics.alarm("infrastructure", f"{recipe.member}: {fault}")
        except Exception:
            await buffer.release(permit, "error")  # or it would be out for ever
            raise

    async def _known_here(self, member: str) -> bool:
        """Whether this node's replica has the member; one admitted just now is waited for."""
        deadline = time.monotonic() + REPLICA_SECONDS
        while self.pool_reader.status(member) is None:
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(0.05)
        return True

    async def _hand_in(self, permit: str, played: Played) -> None:
        self._groups += 1
        self._killed += played.killed
        policy, recipe = self.config.policy.name, played.recipe
        buffer, curator = self.peers[self.config.own("buffer")], self.peers[self.config.own("curator")]
        if played.broken:
            await curator.quarantine(played.culprit, played.broken)
        if played.refused:
            await curator.refused(recipe.member, recipe.level, played.refused)
        if played.failures:
            self._infrastructure += played.failures
            await self.peers.metrics.alarm(
                "infrastructure", f"{recipe.member}: {played.failures} responses without verdict"
            )
        if played.group is None:
            await buffer.release(permit, "broken" if played.broken else "no instance")
            return
        # Before the group, which may be trained on at once; and before the count, which may wait for a new level.
        await self.peers.metrics.samples(played.rows, played.group.has_variance, policy)
        await buffer.put(permit, played.group.to_dict())
        count = AnswerCount(
            recipe.member,
            policy,
            recipe.level,
            played.attempts,
            played.successes,
            played.parsed,
            played.failures + played.killed,
        )
        await curator.record([count])
