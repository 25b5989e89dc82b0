"""The calibrator actor: has an attached policy answer a few questions of every member, and goes on as the pool grows.

Invariant: the counts in the pool are its progress, so that after a kill only what is missing is asked; what the machine
failed is asked again and never counted as wrong. It moves no member but one whose program breaks. Which members are
due and how answers are judged is `training.calibration`'s.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from actors.auditing import Auditing
from actors.base import Actor
from actors.lookup import PoolLookup
from envpool.execution import Examiner
from envpool.members import Status
from training.calibration import Calibrated, Calibration, Due, answered, due
from training.policy.errors import GenerationRefused

PHASES = ("baseline", "training")
MEMBERS_AT_ONCE = 8
LOOK_SECONDS = 2.0
"""Between two looks at a pool in which nothing is due."""


class CalibratorActor(Actor):
    """One loop for one policy."""

    background_nice = 5

    async def start(self) -> None:
        policy = self.config.policy
        self._auditing = Auditing(self)
        examiner = Examiner(self.sandboxes, PoolLookup(self.pool_reader), observe=self._auditing.observe)
        self._calibration = Calibration(policy.name, examiner, self._ask)
        self._wanted_answers = self.config.admission.calibration_instances
        self._queue: deque[Due] = deque()
        self._given: dict[tuple[str, int], int] = {}
        """answers that a member has at a level, by what was recorded here; the replica may not show them yet"""
        self._passed: set[tuple[str, int]] = set()
        """members that this policy cannot be asked at a level"""
        self._done, self._success = 0, 0.0
        self.background("calibrate", self._calibrate_once)
        self.background("audit", self._auditing.once)

    def gauges(self) -> dict[str, float]:
        if not hasattr(self, "_queue"):
            return {}
        return {
            "calibrated": self._done,
            "left": len(self._queue),
            "refused": len(self._passed),
            "success": self._success,
            **self._auditing.metrics(),
        }

    async def drain(self) -> None:
        if hasattr(self, "_auditing"):
            self._auditing.leave()
        await super().drain()
        if hasattr(self, "_auditing"):
            await self._auditing.finish()

    async def stop(self) -> None:
        await super().stop()
        if hasattr(self, "_auditing"):
            await self._auditing.end()

    async def _calibrate_once(self) -> None:
        if not self._may_ask():
            await self.idle("run")
            return
        if not self._queue:
            self._queue.extend(self._due())
            self._done, success = answered(self.pool_reader, self.config.policy.name, self._wanted_answers)
            self._success = success or 0.0
        if not self._queue:
            await self.idle("pool", LOOK_SECONDS)
            return
        self.waiting_for = "solver"
        count = min(MEMBERS_AT_ONCE, len(self._queue))
        members = [self._queue.popleft() for _ in range(count)]
        await self._keep(members, await self._calibration.calibrate(members))

    def _may_ask(self) -> bool:
        going = self.phase in PHASES and not (self.draining or self.wanted.paused)
        return going and not self._leaving

    def _due(self) -> list[Due]:
        return [
            each
            for each in due(
                self.pool_reader, self.config.policy.name, self._wanted_answers, self.config.admission.levels
            )
            if (each.member, each.level) not in self._passed
            and self._given.get((each.member, each.level), 0) < self._wanted_answers
        ]

    async def _ask(self, prompts: Sequence[str]) -> list[str | GenerationRefused]:
        policy = self.config.policy
        answers = await self.solvers.ask_each(prompts, 1, policy.max_tokens, policy.temperature)
        self.waiting_for = "sandbox"
        return [each if isinstance(each, GenerationRefused) else str(each[0]["text"]) for each in answers]

    async def _keep(self, members: Sequence[Due], result: Calibrated) -> None:
        if result.counts:
            await self.peers.pool.record(result.counts)
            self._count()
        had = {each.member: self._wanted_answers - each.missing for each in members}
        for count in result.counts:
            self._given[count.member, count.level] = had[count.member] + count.attempts
        levels = {each.member: each.level for each in members}
        self._passed |= {(member, levels[member]) for member in result.refused}
        for member, reason in result.broken.items():
            await self._quarantine(member, reason)
        if result.troubles:
            text = f"{self.config.policy.name}: {len(result.troubles)} times, first {result.troubles[0]}"
            await self.peers.metrics.alarm("infrastructure", text)
            await self.idle("sandbox", LOOK_SECONDS)

    def _count(self) -> None:
        self._done, success = answered(self.pool_reader, self.config.policy.name, self._wanted_answers)
        self._success = success or 0.0

    async def _quarantine(self, member: str, reason: str) -> None:
        step = int((self.pool_reader.state("progress") or {}).get("step", 0))
        await self.peers.pool.transition(member, Status.QUARANTINED.value, reason, step)
