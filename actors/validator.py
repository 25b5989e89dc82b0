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
from envpool.admission import Admission, AdmissionSettings, Register, Verdict
from envpool.admission.verdict import Refusal
from envpool.contract import Failed, Instance, Scored
from envpool.execution import Examiner
from envpool.members import Composite, Member, Origin, Program
from envpool.shipped import Shipped, shipped
from training.policy.errors import GenerationRefused


class ValidatorActor(Actor):
    """Judges candidates, a few at once."""

    background_nice = 10

    async def start(self) -> None:
        admission = self.config.admission
        executor = self.sandboxes
        self._examiner = Examiner(executor, PoolLookup(self.pool_reader))
        register = Register(filter(None, map(self.pool_reader.get, self.pool_reader.ids())))
        self._admission = Admission(
            executor,
            self.peers.novelty,
            register,
            settings=AdmissionSettings(
                seeds_per_level=admission.seeds_per_level,
                levels=admission.levels,
                perturbations=admission.perturbations,
                guess_limit=admission.guess_limit,
                near_duplicate=self.config.novelty.near_duplicate,
                calibration_instances=admission.calibration_instances,
            ),
            calibrate=self._calibrate if admission.calibrate else None,
        )
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
        if found is None:  # admitted just now, it may be on its way to this node
            await self.caught_up()
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
        pool = self.config.pool
        programs = shipped(pool.seeds, pool.bricks, pool.held_out)
        verdicts = await asyncio.gather(*(self._bring_in(program) for program in programs))
        admitted = sum(verdicts)
        return {"admitted": admitted, "refused": len(programs) - admitted}

    def gauges(self) -> dict[str, float]:
        return {"judged": self._judged, "admitted": self._admitted, "queue": self._waiting}

    async def _bring_in(self, program: Shipped) -> bool:
        if self.pool_reader.get(Program(program.source, "", "", "", "").id) is not None:
            return True
        verdict = await self.judge(
            program.source, program.origin.value, name=program.name, held_out=program.held_out
        )
        return bool(verdict["admitted"])

    async def _conclude(self, verdict: Verdict, source: str, origin: str) -> dict[str, Any]:
        self._judged += 1
        plain = verdict.to_dict()
        if verdict.member is None:
            await self._reject(verdict.id, origin, verdict.gate, verdict.reason, plain["evidence"], source)
            return {**plain, "admitted": False}
        try:
            admitted = await self.peers.pool.admit(verdict.member.to_dict(), verdict.reason, self._step())
        except Exception:
            # It is not in the pool, so a second try must not find a copy of it in the register.
            self._admission.known.remove(verdict.member)
            raise
        self._admitted += admitted
        return {**plain, "admitted": True}

    async def _reject(
        self, id: str, origin: str, gate: str, reason: str, evidence: dict[str, Any], source: str
    ) -> None:
        await self.peers.pool.reject(id, origin, gate, reason, evidence, source, self._step())

    async def _calibrate(self, member: Member, instances: list[Instance]) -> list[bool] | None:
        """One answer of the live solver for each instance; None when an answer got no verdict."""
        policy = self.config.policy
        prompts = [instance.prompt for instance in instances]
        try:
            answers = await self.solvers.generate(prompts, 1, policy.max_tokens, policy.temperature)
        except GenerationRefused as refusal:
            raise Refusal(f"the solver cannot be asked: {refusal}") from refusal
        examiner = Examiner(self.sandboxes, lambda _: member)
        outcomes = [
            await examiner.score(instance, answer[0]["text"])
            for instance, answer in zip(instances, answers, strict=True)
        ]
        if any(isinstance(outcome, Failed) for outcome in outcomes):
            return None
        return [isinstance(outcome, Scored) and outcome.success for outcome in outcomes]

    def _step(self) -> int:
        return int((self.pool_reader.state("progress") or {}).get("step", 0))
