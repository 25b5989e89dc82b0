"""The solver actor: a vLLM engine that answers, and the loop that turns recipes into groups.

Invariant: it takes traffic only with the weights that the run currently has, also after a restart; a dead engine
ends this process, so that Ray starts it afresh. The loop pulls: permits from the buffer, recipes from the
curator. Playing a recipe is `training.rollout`'s work.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import time
import traceback
from collections.abc import Sequence
from typing import Any

from actors.base import Actor
from actors.curator import recipes_of
from actors.lookup import PoolLookup
from envpool.answer_counts import AnswerCount
from envpool.contract import Recipe
from envpool.execution import Examiner
from envpool.sandbox import InfrastructureFault
from training.policy.chat import Chat
from training.policy.engine import VllmEngine
from training.policy.errors import PolicyEngineLost
from training.policy.settings import EngineSettings, GenerationRequest
from training.precision import engine_dtype
from training.rollout import Played, Rollout
from training.trajectory import Sample

ENGINE_LOST_EXIT = 17


class SolverActor(Actor):
    """One engine of one policy."""

    engine: type = VllmEngine
    """What answers; in simulated runs something that answers at once."""

    async def start(self) -> None:
        policy, solver = self.config.policy, self.config.solver
        self._stopping = False
        self._chat = Chat(system=policy.system, examples=policy.examples)
        self._engine = self.engine(
            EngineSettings(
                model=policy.model,
                dtype=engine_dtype(policy.dtype, solver.gpus > 0),
                max_model_len=policy.max_model_len,
                max_num_seqs=solver.max_num_seqs,
                kv_cache_gib=solver.kv_cache_gib,
                threads=solver.threads,
                tensor_parallel=solver.tensor_parallel,
            )
        )
        await self._engine.start()
        try:
            await self._adopt_weights()
        except Exception:
            await self._engine.close()  # the next try starts another engine, and there is room for one
            raise
        lookup = PoolLookup(self.pool_reader)
        self._rollout = Rollout(
            Examiner(self.sandboxes, lookup),
            self._sample,
            policy.name,
            self.config.learner.group_size,
            self.config.reward.format_bonus,
        )
        self._playing: set[asyncio.Task[None]] = set()
        self._serial = itertools.count()
        self._infrastructure = self._groups = 0
        await self.peers.buffer.forget(self.name)
        self.background("rollout", self._rollout_once, vital=True)

    async def generate(
        self, prompts: Sequence[str], n: int, max_tokens: int, temperature: float, plain: bool = False
    ) -> list[list[dict[str, Any]]]:
        """`n` samples for each prompt, for review, calibration, evaluation and proposals. `plain` leaves the worked
        examples out. Idempotent."""
        await self.ready()
        chat = Chat() if plain else self._chat
        requests = [_request(chat, prompt, n, max_tokens, temperature) for prompt in prompts]
        groups = await self._generate(requests)
        return [[sample.to_dict() for sample in group] for group in groups]

    async def update_weights(self, path: str, version: int) -> int:
        """Replace the weights under running requests; returns the version that is live. Idempotent."""
        await self.ready()
        await self._guard(self._engine.update_weights(path, version))
        return int(self._engine.version)

    def gauges(self) -> dict[str, float]:
        return {
            **self._engine.metrics(),
            "version": self._engine.version,
            "groups": self._groups,
            "groups_running": len(self._playing),
            "infrastructure_failures": self._infrastructure,
        }

    async def stop(self) -> None:
        self._stopping = True
        await super().stop()
        for task in self._playing:
            task.cancel()
        await self._engine.close()

    async def _adopt_weights(self) -> None:
        weights = self.pool_reader.state("weights")
        if weights:
            await self._engine.update_weights(weights["path"], weights["version"])

    async def _sample(self, prompts: Sequence[str], n: int) -> list[list[Sample]]:
        policy = self.config.policy
        return await self._generate(
            [_request(self._chat, prompt, n, policy.max_tokens, policy.temperature) for prompt in prompts]
        )

    async def _generate(self, requests: list[GenerationRequest]) -> list[list[Sample]]:
        return await self._guard(self._engine.generate(requests))

    async def _guard(self, work: Any) -> Any:
        try:
            return await work
        except PolicyEngineLost:
            if self._stopping:
                raise
            # The engine cannot be revived inside this process; Ray restarts the actor.
            os._exit(ENGINE_LOST_EXIT)

    async def _rollout_once(self) -> None:
        room = self.config.solver.concurrent_groups - len(self._playing)
        permits = await self.peers.buffer.reserve(self.name, room) if room > 0 else []
        if not permits:
            await self.idle("solver is busy" if room <= 0 else "buffer")
            return
        try:
            recipes = recipes_of(await self.peers.curator.choose(len(permits)))
        except Exception:
            for permit in permits:
                await self.peers.buffer.release(permit, "error")  # or they would be out for ever
            raise
        for permit in permits[len(recipes) :]:
            await self.peers.buffer.release(permit, "no member to ask")
        self.waiting_for = ""
        for permit, recipe in zip(permits, recipes, strict=False):
            task = asyncio.create_task(self._play(permit, recipe))
            self._playing.add(task)
            task.add_done_callback(self._played)
        if not recipes:
            await self.idle("curator")

    def _played(self, task: asyncio.Task[None]) -> None:
        self._playing.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._note("play", "".join(traceback.format_exception(error)))

    async def _play(self, permit: str, recipe: Recipe) -> None:
        try:
            group = f"{self.name}-{time.time_ns():x}-{next(self._serial)}"
            await self._hand_in(permit, await self._rollout.play(recipe, group))
        except InfrastructureFault as fault:
            self._infrastructure += 1
            await self.peers.buffer.release(permit, "infrastructure")
            await self.peers.metrics.alarm("infrastructure", f"{recipe.member}: {fault}")
        except Exception:
            await self.peers.buffer.release(permit, "error")  # or it would be out for ever
            raise

    async def _hand_in(self, permit: str, played: Played) -> None:
        self._groups += 1
        recipe = played.recipe
        if played.broken:
            await self.peers.curator.quarantine(played.culprit, played.broken)
        if played.refused:
            await self.peers.curator.refused(recipe.member, recipe.level, played.refused)
        if played.failures:
            self._infrastructure += played.failures
            await self.peers.metrics.alarm(
                "infrastructure", f"{recipe.member}: {played.failures} responses without verdict"
            )
        if played.group is None:
            await self.peers.buffer.release(permit, "broken" if played.broken else "no instance")
            return
        # Before the group, which may be trained on at once; and before the count, which may wait for a new level.
        await self.peers.metrics.samples(played.rows, played.group.has_variance)
        await self.peers.buffer.put(permit, played.group.to_dict())
        count = AnswerCount(
            recipe.member,
            self.config.policy.name,
            recipe.level,
            played.attempts,
            played.successes,
            played.parsed,
            played.failures,
        )
        await self.peers.curator.record([count])


def _request(chat: Chat, prompt: str, n: int, max_tokens: int, temperature: float) -> GenerationRequest:
    return GenerationRequest(
        messages=tuple(chat.messages(prompt)), n=n, max_tokens=max_tokens, temperature=temperature
    )
