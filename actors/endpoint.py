"""The endpoint actor: a policy that a server elsewhere answers for, an attached one or that of a trainer elsewhere.

Invariant: it answers as a solver does, from the same conversation, and has neither weights nor a rollout: its answers
are counted and never trained on. What it asks for, and how often at once, is `training.policy.endpoint`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from actors.base import Actor
from actors.serving import Desk, requests
from cluster import wanted
from training.policy.chat import Chat
from training.policy.endpoint import EndpointEngine, EndpointSettings


class EndpointActor(Actor):
    """One client of one endpoint."""

    def __init__(self, config: dict[str, Any], name: str) -> None:
        super().__init__(config, name)
        self._desk = Desk(name)
        self._chat = Chat(system=self.config.policy.system, examples=self.config.policy.examples)
        self._engine: EndpointEngine | None = None

    async def start(self) -> None:
        engine = EndpointEngine(await self._settings())
        await engine.start()
        self._engine = engine

    async def generate(
        self, prompts: Sequence[str], n: int, max_tokens: int, temperature: float, plain: bool = False
    ) -> list[list[dict[str, Any]]]:
        """As a solver's. Raises SolverLeaving, EndpointUnavailable, GenerationRefused. Idempotent."""
        await self.ready()
        assert self._engine is not None
        with self._desk.request(self._leaving):
            asked = requests(Chat() if plain else self._chat, prompts, n, max_tokens, temperature)
            groups = await self._engine.generate(asked)
        return [[sample.to_dict() for sample in group] for group in groups]

    async def _settings(self) -> EndpointSettings:
        policy = self.config.policy
        if not policy.attached:
            return EndpointSettings(policy.endpoint, policy.model, policy.key_env)
        # From the pool itself: a replica may not know a policy yet that was attached just now.
        now = wanted.kept(await self.peers.pool.state(wanted.KEY), self.config)
        spec = now.policy(policy.name)
        return EndpointSettings(
            spec.endpoint,
            spec.model,
            spec.key_env,
            concurrency=spec.concurrency,
            timeout_seconds=spec.timeout_seconds,
            retries=spec.retries,
        )

    def gauges(self) -> dict[str, float]:
        return self._engine.metrics() if self._engine else {}

    async def drain(self) -> None:
        await super().drain()
        await self._desk.closed()

    async def stop(self) -> None:
        await super().stop()
        if self._engine:
            await self._engine.close()
