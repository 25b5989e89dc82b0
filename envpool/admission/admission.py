"""Admission: one candidate through all gates, in order of cost (EvoEnv, L1 to L5, novelty, calibration).

Invariant: a program is admitted by one verdict only, also among candidates that are judged at the same time: the
last look at the register and the index and the entry in them are one step. Programs run through the executor alone;
an InfrastructureFault passes through and is no verdict. Admission writes nothing to the pool; its caller does.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from envpool.admission import draws as drawing
from envpool.admission import form
from envpool.admission.calibration import Calibrate, calibrates
from envpool.admission.form import Candidate
from envpool.admission.oracle import judges
from envpool.admission.register import Register
from envpool.admission.settings import AdmissionSettings
from envpool.admission.size import fits, foresees
from envpool.admission.variety import varies
from envpool.admission.verdict import Passed, Refusal, Rejected, Step, Verdict
from envpool.contract import Recipe
from envpool.members import Member, Origin, Program
from envpool.novelty.fingerprint import fingerprint
from envpool.novelty.neighbours import Novelty
from envpool.sandbox import Executor, Mode

logger = logging.getLogger(__name__)
T = TypeVar("T")
SHIPPED = frozenset({Origin.SEED, Origin.BRICK})
"""Makers whose programs come with this package, where its own tests run each of their calls in a fork."""


class Admission:
    """The gates over an executor; `known` is what the pool holds, and is kept up by what is admitted here.

    Without `novelty` nothing is embedded and near duplicates pass; without `calibrate` no solver is asked.
    """

    def __init__(
        self,
        executor: Executor,
        novelty: Novelty | None = None,
        known: Register | None = None,
        *,
        settings: AdmissionSettings | None = None,
        calibrate: Calibrate | None = None,
    ) -> None:
        self._executor = executor
        self._novelty = novelty
        self.known = Register() if known is None else known
        self._settings = settings or AdmissionSettings()
        self._calibrate = calibrate
        self._settling = asyncio.Lock()

    async def judge(
        self,
        source: str,
        origin: Origin,
        parents: Sequence[str] = (),
        *,
        name: str = "",
        held_out: bool = False,
    ) -> Verdict:
        """The verdict on one program; `name` is its family. Raises InfrastructureFault."""
        case = _Case(source)
        try:
            member = await self._pass_gates(case, origin, tuple(parents), name, held_out)
        except Refusal as refusal:
            logger.debug("%s falls at %s: %s", case.id, case.fell, refusal.reason)
            return case.verdict(None, case.fell, refusal.reason)
        return case.verdict(member, "", f"passed {len(case.trail)} gates")

    async def levels_hold(self, member: Member, level: int) -> Passed | Rejected:
        """L2 to L5 at one further level, as asked before it is used. Raises InfrastructureFault."""
        if not isinstance(member.material, Program):
            raise TypeError("only programs have levels")
        case = _Case(member.material.source)
        try:
            candidate = await case.gate("L1", form.read(self._executor, member.material.source))
            recipes = [Recipe(member.id, seed, level) for seed in range(self._settings.draws)]
            await self._mechanics(case, candidate, recipes, member.origin)
        except Refusal as refusal:
            return Rejected(case.fell, refusal.reason, case.evidence)
        return Passed(case.evidence)

    async def _pass_gates(
        self, case: "_Case", origin: Origin, parents: tuple[str, ...], name: str, held_out: bool
    ) -> Member:
        await case.gate("size", form.size(case.source))
        candidate = await case.gate("L1", form.read(self._executor, case.source))
        case.evidence |= {"normal": candidate.normal, "skeleton": candidate.skeleton}
        await case.gate("duplicate", self._no_copy(candidate, origin))
        if origin is Origin.POLICY and self._novelty is not None:
            await case.gate("near_duplicate", self._no_near_copy(case, candidate, self._novelty))
        recipes = [
            Recipe(case.id, seed, level)
            for level in range(self._settings.levels)
            for seed in range(self._settings.seeds_per_level)
        ]
        await self._mechanics(case, candidate, recipes, origin, self._settings.headroom)
        behaviour = await case.gate("behaviour", self._behaviour(candidate))
        member = Member(
            candidate.program,
            origin,
            parents,
            name,
            held_out,
            behaviour,
            evidence=case.evidence,
            created=time.time(),
        )
        if origin is Origin.POLICY and self._calibrate is not None:
            calibration = calibrates(self._executor, member, self._calibrate, self._settings)
            case.evidence |= await case.gate("calibration", calibration)
        embedding = await self._settle(case, candidate, member)
        return replace(member, embedding=embedding, evidence=dict(case.evidence))

    async def _mechanics(
        self, case: "_Case", candidate: Candidate, recipes: Sequence[Recipe], origin: Origin, headroom: int = 0
    ) -> None:
        """L2 to L5."""
        strict = origin is Origin.POLICY
        drawn = await case.gate("L2", self._draws(case, candidate, recipes, headroom))
        mode = Mode.SAMPLE if origin in SHIPPED else Mode.VALIDATE
        await case.gate("L3", drawing.repeats(self._executor, candidate, drawn, mode=mode))
        variety = varies(self._executor, candidate, drawn, self._settings.distinct_answers)
        case.evidence |= await case.gate("L4", variety)
        oracle = judges(self._executor, candidate, drawn, self._settings, strict=strict)
        case.evidence |= await case.gate("L5", oracle)

    async def _draws(
        self, case: "_Case", candidate: Candidate, recipes: Sequence[Recipe], headroom: int
    ) -> list[drawing.Draw]:
        drawn = await drawing.runs(self._executor, candidate, recipes)
        case.evidence |= fits(candidate, drawn, self._settings)
        await foresees(self._executor, candidate, recipes[-1].level, headroom, self._settings)
        return drawn

    async def _no_copy(self, candidate: Candidate, origin: Origin) -> None:
        if candidate.program.id in self.known:
            raise Refusal(f"the same source as {self.known.describe(candidate.program.id)}")
        if (other := self.known.with_code(candidate.normal)) is not None:
            raise Refusal(
                f"the same code, but for names and layout, as {self.known.describe(other)}", copies=other
            )
        if origin is not Origin.POLICY or self._settings.constants_make_new:
            return
        if (other := self.known.with_skeleton(candidate.skeleton)) is not None:
            what = "the same oracle, but for names, layout and constants,"
            raise Refusal(f"{what} as {self.known.describe(other)}", copies=other)

    async def _no_near_copy(self, case: "_Case", candidate: Candidate, novelty: Novelty) -> bytes:
        nearest, similarity, embedding = await novelty.nearest(candidate.program.rule, candidate.stripped)
        case.evidence |= {"similarity": similarity, "nearest": nearest or ""}
        # Its own id is there where it was admitted before but could not be stored.
        if nearest not in (None, candidate.program.id) and similarity >= self._settings.near_duplicate:
            raise Refusal(f"rule and code are {similarity:.2f} similar to {self.known.describe(nearest)}")
        return embedding

    async def _behaviour(self, candidate: Candidate) -> str:
        behaviour = await fingerprint(self._executor, candidate.program, candidate.normal)
        await self._no_same_behaviour(behaviour)
        return behaviour

    async def _no_same_behaviour(self, behaviour: str) -> None:
        if (other := self.known.with_behaviour(behaviour)) is not None:
            raise Refusal(f"answers every probe as {self.known.describe(other)} does", copies=other)

    async def _settle(self, case: "_Case", candidate: Candidate, member: Member) -> bytes:
        """The last look and the entry in register and index, one candidate at a time."""
        async with self._settling:
            await case.gate("duplicate", self._no_copy(candidate, member.origin))
            await case.gate("behaviour", self._no_same_behaviour(member.fingerprint))
            embedding = b""
            if self._novelty is not None and member.origin is Origin.POLICY:
                near = self._no_near_copy(case, candidate, self._novelty)
                embedding = await case.gate("near_duplicate", near)
            elif self._novelty is not None:
                _, _, embedding = await self._novelty.nearest(candidate.program.rule, candidate.stripped)
            if self._novelty is not None:
                await self._novelty.add(member.id, embedding)
            self.known.add(member)
        return embedding


class _Case:
    """One candidate on its way: what was found and which gates it passed."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.id = form.bare(source).id
        self.evidence: dict[str, Any] = {}
        self.trail: list[Step] = []
        self.fell = ""

    async def gate(self, name: str, work: Awaitable[T]) -> T:
        """Open one gate. Raises Refusal where it stays shut."""
        started = time.perf_counter()
        self.fell = name
        try:
            outcome = await work
        except Refusal as refusal:
            self.fell = refusal.gate or name
            self.evidence |= refusal.evidence
            self._step(False, started)
            raise
        self._step(True, started)
        return outcome

    def verdict(self, member: Member | None, gate: str, reason: str) -> Verdict:
        return Verdict(self.id, member, gate, reason, dict(self.evidence), tuple(self.trail))

    def _step(self, passed: bool, started: float) -> None:
        self.trail.append(Step(self.fell, passed, time.perf_counter() - started))
