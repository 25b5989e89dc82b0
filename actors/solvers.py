"""All solvers of one policy as one: each request goes to the one with the fewest under way from here.

Invariant: a request is answered by one solver, or raises what that solver raised; one that leaves, is away or has not
started yet is passed over as long as there is another. The weights are the solvers' own matter: whoever answers says
in each sample which versions wrote it.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from actors.peers import PATIENCE_SECONDS, PeerRetired, Peers, PeerUnavailable
from training.policy.errors import GenerationRefused

AWAY_SECONDS = 3.0
"""A solver that does not answer for so long is away: what it was asked goes to another."""
PAUSE_SECONDS = 0.5

Answers = list[dict[str, Any]]
"""Samples of one prompt, as plain data."""


class SolverLeaving(RuntimeError):
    """This solver takes no more requests: it is scaled away or its policy is detached."""


class SolverGroup:
    """However many solvers there are at the moment. `peers` should be impatient: see `AWAY_SECONDS`."""

    def __init__(
        self, peers: Peers, names: Callable[[], Sequence[str]], patience: float = PATIENCE_SECONDS
    ) -> None:
        self._peers = peers
        self._names = names
        self._patience = patience
        self._under_way: Counter[str] = Counter()
        self._started: set[str] = set()
        self._waking: dict[str, asyncio.Task[None]] = {}

    async def generate(
        self, prompts: Sequence[str], n: int, max_tokens: int, temperature: float, plain: bool = False
    ) -> list[Answers]:
        """As a solver's `generate`, by one of them. Raises PeerUnavailable when none answers for the whole patience."""
        deadline, passed = time.monotonic() + self._patience, dict[str, float]()
        while True:
            name = await self._next(passed, deadline)
            self._under_way[name] += len(prompts)
            try:
                return await self._peers[name].generate(list(prompts), n, max_tokens, temperature, plain)
            except (SolverLeaving, PeerRetired, PeerUnavailable):
                self._started.discard(name)
                passed[name] = time.monotonic()
            finally:
                self._under_way[name] -= len(prompts)

    async def ask_each(
        self, prompts: Sequence[str], n: int, max_tokens: int, temperature: float
    ) -> list[Answers | GenerationRefused]:
        """Every prompt by itself, spread over all solvers: one that is refused does not take the others with it."""

        async def one(prompt: str) -> Answers | GenerationRefused:
            try:
                return (await self.generate([prompt], n, max_tokens, temperature))[0]
            except GenerationRefused as refusal:
                return refusal

        await self._roll_call()
        return await asyncio.gather(*map(one, prompts))

    async def _next(self, passed: dict[str, float], deadline: float) -> str:
        """The started solver with the least to do that was not passed over just now; waits while there is none."""
        while True:
            names, now = list(self._names()), time.monotonic()
            if not names:
                raise PeerRetired("the run wants no solver of this policy any more")
            for name in names:
                self._wake(name)
            ready = [
                name
                for name in names
                if name in self._started and now - passed.get(name, -AWAY_SECONDS) >= AWAY_SECONDS
            ]
            if ready:
                return min(ready, key=lambda name: (self._under_way[name], names.index(name)))
            if now > deadline:
                raise PeerUnavailable(f"no solver answered for {self._patience:.0f} s: {', '.join(names)}")
            waking = [self._waking[name] for name in names if name in self._waking]
            if waking:
                await asyncio.wait(waking, timeout=PAUSE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            else:
                await asyncio.sleep(PAUSE_SECONDS)

    async def _roll_call(self) -> None:
        """Give all that serve a moment to say so, or the first to answer would get everything."""
        for name in self._names():
            self._wake(name)
        if waking := list(self._waking.values()):
            await asyncio.wait(waking, timeout=PAUSE_SECONDS)

    def _wake(self, name: str) -> None:
        """Ask a solver that is not known to serve to be ready, and know it once it is."""
        if name not in self._started and name not in self._waking:
            task = self._waking[name] = asyncio.create_task(self._awake(name))
            task.add_done_callback(lambda _: self._waking.pop(name, None))

    async def _awake(self, name: str) -> None:
        try:
            await self._peers[name].ready()
        except Exception:  # noqa: BLE001 - why it cannot start is told by the actor itself and by its keeper
            await asyncio.sleep(PAUSE_SECONDS)
        else:
            self._started.add(name)
