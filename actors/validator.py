"""The validator actor: every candidate, whoever made it, passes its gates here and nowhere else.

Invariant: a candidate ends as one record in the pool, admitted or rejected with gate, reason and evidence; an
infrastructure fault leaves no record, since it says nothing about the candidate. The queue is bounded: makers ask
for room first. The gates themselves are `envpool.admission`'s.
"""

from __future__ import annotations

import asyncio
from typing import Any

from actors.base import Actor
from actors.lookup import PoolLookup
from actors.sandbox import SandboxGroup
from envpool.admission import Admission, Verdict
from envpool.bricks import read_bricks
from envpool.contract import Failed, Instance, Scored
from envpool.execution import Examiner
from envpool.members import Composite, Member, Origin
from envpool.seeds import read_seeds

KEPT_EVIDENCE_CHARACTERS = 2000


class ValidatorActor(Actor):
    """Judges candidates, a few at once."""

    background_nice = 10

    async def start(self) -> None:
        admission = self.config.admission
        executor = SandboxGroup(self.peers, self.config.sandbox.count)
        self._examiner = Examiner(executor, PoolLookup(self.pool_reader))
        self._admission = Admission(
            executor, self.peers.novelty, self._known, settings=admission, novelty_settings=self.config.novelty,
            calibrate=self._calibrate if admission.calibrate else None,
        )  # fmt: skip
        for id in self.pool_reader.ids():
            self._remember(self.pool_reader.get(id))
        self._slots = asyncio.Semaphore(admission.concurrent)
        self._waiting = self._judged = self._admitted = 0

    async def room(self) -> int:
        """How many candidates may be sent now."""
        await self.ready()
        return max(0, self.config.admission.queue - self._waiting)

    async def judge(
        self, source: str, origin: str, parents: tuple[str, ...] = (), name: str = "", held_out: bool = False
    ) -> dict[str, Any]:
        """All gates for one program; the verdict as plain data. Idempotent: a program is admitted once."""
        await self.ready()
        self._waiting += 1
        try:
            async with self._slots:
                verdict = await self._admission.judge(
                    source, Origin(origin), parents, name=name, held_out=held_out
                )
                return await self._conclude(verdict, source, origin)
        finally:
            self._waiting -= 1

    async def judge_composite(self, member: dict[str, Any]) -> bool:
        """Admit a composite whose key is new and which can be asked. Idempotent."""
        await self.ready()
        composite = Member.from_dict(member)
        self._judged += 1
        if self.pool_reader.get(composite.id) is not None:
            await self._reject(
                composite.id,
                Origin.COMPOSER.value,
                "duplicate",
                "the same operator over the same material",
                {},
                "",
            )
            return False
        return await self.peers.pool.admit(member, "composed", self._step())

    async def level_refused(self, member: str, level: int) -> str:
        """Why a member may not be asked at a level: empty when L2 to L5 hold there."""
        await self.ready()
        found = self.pool_reader.get(member)
        if found is None:
            return "not in the pool"
        if isinstance(found.material, Composite):
            return "a composite has no level of its own"
        async with self._slots:
            outcome = await self._admission.levels_hold(found, level)
        return "" if outcome.passed else f"{outcome.gate}: {outcome.reason}"

    async def bootstrap(self) -> dict[str, int]:
        """Put the configured seeds and bricks through the gates. Idempotent; returns counts."""
        await self.ready()
        programs = [(name, source, Origin.SEED) for name, source in read_seeds(self.config.pool.seeds)]
        programs += [(name, source, Origin.BRICK) for name, source in read_bricks(self.config.pool.bricks)]
        known = {id for id in self.pool_reader.ids()}
        verdicts = await asyncio.gather(
            *(
                self.judge(source, origin.value, (), name, name in self.config.pool.held_out)
                for name, source, origin in programs
            )
        )
        admitted = sum(bool(verdict["admitted"]) for verdict in verdicts)
        return {"admitted": admitted, "refused": len(programs) - admitted, "known_before": len(known)}

    def gauges(self) -> dict[str, float]:
        return {"judged": self._judged, "admitted": self._admitted, "queue": self._waiting}

    async def _conclude(self, verdict: Verdict, source: str, origin: str) -> dict[str, Any]:
        self._judged += 1
        plain = verdict.to_dict()
        if verdict.member is None:
            await self._reject(verdict.id, origin, verdict.gate, verdict.reason, plain["evidence"], source)
            return {**plain, "admitted": False}
        admitted = await self.peers.pool.admit(verdict.member.to_dict(), verdict.reason, self._step())
        self._remember(verdict.member)
        if verdict.member.embedding:
            await self.peers.novelty.add(verdict.member.id, verdict.member.embedding)
        self._admitted += admitted
        return {**plain, "admitted": True}

    async def _reject(
        self, id: str, origin: str, gate: str, reason: str, evidence: dict[str, Any], source: str
    ) -> None:
        await self.peers.pool.reject(id, origin, gate, reason, evidence, source, self._step())

    async def _calibrate(self, member: Member, instances: list[Instance]) -> list[bool] | None:
        """One answer of the live solver for each instance; None when an answer got no verdict."""
        policy = self.config.policy
        answers = await self.peers["solver-0"].generate(
            [instance.prompt for instance in instances], 1, policy.max_tokens, policy.temperature
        )
        examiner = Examiner(SandboxGroup(self.peers, self.config.sandbox.count), lambda _: member)
        outcomes = [
            await examiner.score(instance, answer[0]["text"])
            for instance, answer in zip(instances, answers, strict=True)
        ]
        if any(isinstance(outcome, Failed) for outcome in outcomes):
            return None
        return [isinstance(outcome, Scored) and outcome.success for outcome in outcomes]

    def _step(self) -> int:
        return int((self.pool_reader.state("progress") or {}).get("step", 0))
