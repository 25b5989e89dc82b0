"""The validator actor: every candidate, whoever made it, passes its gates here and nowhere else.

Invariant: a candidate ends as one record in the pool, admitted or rejected with gate, reason and evidence; an
infrastructure fault leaves no record, since it says nothing about the candidate. The queue is bounded: makers ask
for room first. The gates themselves are `envpool.admission`'s.
"""

from __future__ import annotations

import asyncio
from typing import Any

from actors.asking import Models
from actors.base import Actor
from cluster.config import Config
from envpool.admission import Admission, AdmissionSettings, Register, Verdict
from envpool.admission.composites import fuses, is_no_guess
from envpool.admission.concluded import PROPOSAL, concluded
from envpool.admission.copies import CONTAMINATION
from envpool.admission.fallen import fallen_before
from envpool.admission.form import bare
from envpool.admission.verdict import Refusal
from envpool.curation.parts import quarantined_parts
from envpool.members import BROUGHT, Composite, Member, Origin, Program
from envpool.shipped import Shipped
from envpool.store import StoreError

SHOWN = 5
"""Names that an alarm gives."""


class ValidatorActor(Actor):
    """Judges candidates, a few at once."""

    background_nice = 10

    async def start(self) -> None:
        register = Register(filter(None, map(self.pool_reader.get, self.pool_reader.ids())))
        models = Models(self)
        self._admission = Admission(
            self.sandboxes,
            self.peers.novelty,
            register,
            settings=settings_of(self.config),
            calibrate=models.calibrate if self.config.admission.calibrate and self.config.asks_policy else None,
            review=models.review if self.config.reviews else None,
            fallen=fallen_before(self.pool_reader),
        )
        self._slots = asyncio.Semaphore(self.config.admission.concurrent)
        self._running: dict[tuple[str, str], asyncio.Task[dict[str, Any]]] = {}
        """judgings of proposals, by proposal and source"""
        self._waiting = self._judged = self._admitted = self._reviewed = self._compared = 0
        self._agreement = 0.0

    async def room(self) -> int:
        """How many candidates may be sent now."""
        await self.ready()
        return max(0, self.config.admission.queue - self._waiting)

    async def judge(
        self,
        source: str,
        origin: str,
        parents: tuple[str, ...] = (),
        name: str = "",
        held_out: bool = False,
        proposal: dict[str, Any] | None = None,
        facts: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """All gates for one program; the verdict as plain data. Idempotent: a program is admitted once.

        `facts` are what it says of itself, for its evidence. `proposal` (`Draft.origin`) is kept with the verdict, and
        asking again for the same one gives that verdict, also while it is still judged: judged beside itself it would
        be its own copy.
        """
        await self.ready()
        if proposal is None:
            return await self._judge(source, origin, parents, name, held_out, proposal, facts)
        key = str(proposal["id"]), source
        if (running := self._running.get(key)) is None:
            running = asyncio.ensure_future(self._judge(source, origin, parents, name, held_out, proposal))
            self._running[key] = running
            running.add_done_callback(lambda ended: self._judged_once(key, ended))
        return await asyncio.shield(running)  # whoever asked first may go, and the second one waits on

    async def refuse(self, reply: str, origin: str, reason: str, proposal: dict[str, Any]) -> dict[str, Any]:
        """The verdict on a reply that holds no program. Idempotent, as `judge`."""
        await self.ready()
        if (known := concluded(self.pool_reader, reply, proposal["id"])) is not None:
            return known.to_dict()
        return await self._conclude(Verdict(bare(reply).id, None, "reply", reason, {}, ()), reply, origin, proposal)

    async def judge_composite(self, member: dict[str, Any]) -> bool:
        """Admit a composite whose key is new and which can be asked. Idempotent."""
        await self.ready()
        composite = Member.from_dict(member)
        self._judged += 1
        if self.pool_reader.get(composite.id) is not None:
            gate, reason = "duplicate", "the same operator over the same material"
        elif apart := self._held_out_parts(composite):
            gate, reason = CONTAMINATION, f"made of the held-out {', '.join(apart)}"
        elif refusal := await self._unfit(composite):
            gate, reason = refusal.gate, refusal.reason
        else:
            try:
                return await self.peers.pool.admit(member, "composed", self._step())
            except StoreError:
                await self.caught_up()
                left = quarantined_parts(self.pool_reader, composite)
                if not left:
                    raise
                gate, reason = "parts", f"made of {', '.join(left)}, quarantined since it was composed"
        await self._reject(composite.id, Origin.COMPOSER.value, gate, reason, {}, "")
        return False

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
        programs = self.config.programs()
        verdicts = await asyncio.gather(*(self._bring_in(program) for program in programs))
        fell = [each for each, admitted in zip(programs, verdicts, strict=True) if not admitted]
        await self._tell_of([each.name for each in fell if each.origin in BROUGHT])
        admitted = sum(verdicts)
        return {"admitted": admitted, "refused": len(programs) - admitted}

    def gauges(self) -> dict[str, float]:
        if not hasattr(self, "_slots"):
            return {}
        told: dict[str, float] = {"judged": self._judged, "admitted": self._admitted, "queue": self._waiting}
        if self._reviewed:
            told["reviewed"] = self._reviewed
        if self._compared:
            told["review_agreement"] = self._agreement / self._compared
        return told

    async def _tell_of(self, fell: list[str]) -> None:
        """An alarm, where somebody's own programs have no place in this run."""
        if fell:
            some = ", ".join(fell[:SHOWN]) + ", ..." * (len(fell) > SHOWN)
            why = "`envolve pool ls --status rejected` says why"
            text = f"{len(fell)} of what pool.imports brings fell ({some}): {why}"
            await self.peers.metrics.alarm("imports", text)

    async def _bring_in(self, program: Shipped) -> bool:
        if self.pool_reader.get(Program(program.source, "", "", "", "").id) is not None:
            return True
        verdict = await self.judge(
            program.source,
            program.origin.value,
            name=program.name,
            held_out=program.held_out,
            facts=dict(program.facts),
        )
        return bool(verdict["admitted"])

    def _judged_once(self, key: tuple[str, str], ended: asyncio.Task[dict[str, Any]]) -> None:
        del self._running[key]
        if not ended.cancelled():
            ended.exception()  # seen, also where nobody waits any more

    async def _judge(
        self,
        source: str,
        origin: str,
        parents: tuple[str, ...],
        name: str,
        held_out: bool,
        proposal: dict[str, Any] | None,
        facts: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        self._waiting += 1
        try:
            async with self._slots:
                if proposal and (known := concluded(self.pool_reader, source, proposal["id"])) is not None:
                    return known.to_dict()
                verdict = await self._admission.judge(
                    source, Origin(origin), parents, name=name, held_out=held_out
                )
                return await self._conclude(verdict, source, origin, proposal, facts)
        finally:
            self._waiting -= 1

    async def _conclude(
        self,
        verdict: Verdict,
        source: str,
        origin: str,
        proposal: dict[str, Any] | None,
        facts: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        self._judged += 1
        self._note_review(verdict)
        plain = verdict.to_dict()
        evidence = {**plain["evidence"], **(facts or {})}
        traced = {**evidence, PROPOSAL: proposal} if proposal else evidence
        if verdict.member is None:
            try:
                await self._reject(verdict.id, origin, verdict.gate, verdict.reason, traced, source)
            except Exception:
                self._admission.fallen.forget(verdict.id)  # or a second try would find a copy of it
                raise
            return {**plain, "admitted": False}
        try:
            member = verdict.member.to_dict() | {"evidence": traced}
            admitted = await self.peers.pool.admit(member, verdict.reason, self._step())
        except Exception:
            # It is not in the pool, so a second try must not find a copy of it in the register.
            self._admission.known.remove(verdict.member)
            raise
        self._admitted += admitted
        return {**plain, "admitted": True}

    async def _unfit(self, member: Member) -> Refusal | None:
        """Why a composite is none that may be asked; None where it is."""
        if not isinstance(member.material, Composite):
            return Refusal("it is a program, and not composed", "types")
        if any(self.pool_reader.get(part) is None for part in member.material.parts):
            await self.caught_up()  # a part admitted just now may be on its way to this node
        try:
            fuses(member.material, self.pool_reader.get)
            is_no_guess(member)
        except Refusal as refusal:
            return refusal
        return None

    def _held_out_parts(self, composite: Member) -> list[str]:
        """What a composite that is not set apart itself may not be made of."""
        if composite.held_out or not isinstance(composite.material, Composite):
            return []
        parts = composite.material.parts
        rows = {part: self.pool_reader.status_row(part) for part in parts}
        return [part for part, row in rows.items() if row is not None and row.held_out]

    def _note_review(self, verdict: Verdict) -> None:
        self._reviewed += "reviews" in verdict.evidence
        if (agreement := verdict.evidence.get("review_agreement")) is not None:
            self._compared += 1
            self._agreement += agreement

    async def _reject(
        self, id: str, origin: str, gate: str, reason: str, evidence: dict[str, Any], source: str
    ) -> None:
        await self.peers.pool.reject(id, origin, gate, reason, evidence, source, self._step())

    def _step(self) -> int:
        return int((self.pool_reader.state("progress") or {}).get("step", 0))


def settings_of(config: Config) -> AdmissionSettings:
    """What a run's gates are set to."""
    admission, novelty = config.admission, config.novelty
    return AdmissionSettings(
        seeds_per_level=admission.seeds_per_level,
        levels=admission.levels,
        headroom=admission.headroom,
        distinct_answers=admission.distinct_answers,
        prompt_characters=admission.prompt_characters,
        answer_characters=admission.answer_characters,
        perturbations=admission.perturbations,
        guess_limit=admission.guess_limit,
        constants_make_new=admission.constants_make_new,
        near_duplicate=novelty.near_duplicate if novelty.enabled else None,
        calibration_instances=admission.calibration_instances,
        reviews=config.review.count,
    )
