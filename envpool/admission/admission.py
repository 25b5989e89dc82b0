"""Admission: one candidate through all gates, in order of cost (EvoEnv, L1 to L5, novelty, calibration, self-review).

Invariant: a program is admitted by one verdict only, also among candidates that are judged at the same time: the
last look at the register and the index and the entry in them are one step. The same holds for what falls at calibration
or review, so that of copies one is valid, whatever a model said. Programs run through the executor alone;
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
from envpool.admission.copies import READ_THE_REST, Claim, Copies
from envpool.admission.fallen import BEHAVIOUR, TURNED_DOWN, Fallen
from envpool.admission.form import Candidate
from envpool.admission.oracle import judges
from envpool.admission.register import Register
from envpool.admission.review import Review, reviewed
from envpool.admission.settings import AdmissionSettings
from envpool.admission.size import fits, foresees
from envpool.admission.variety import varies
from envpool.admission.verdict import Outgrown, Passed, Refusal, Rejected, Step, Verdict
from envpool.contract import Recipe
from envpool.members import BROUGHT, Member, Origin, Program
from envpool.novelty.fingerprint import fingerprint
from envpool.novelty.neighbours import Novelty
from envpool.sandbox import Executor, Mode
from envpool.sandbox.executor import WithPackages

logger = logging.getLogger(__name__)
T = TypeVar("T")
MECHANICS = ("L2", "L3", "L4", "L5")
OF_LEVELS = ("L2", "L4")
"""Those of them where a level can fail by its size alone."""
OUR_OWN = frozenset({Origin.SEED, Origin.BRICK, Origin.GRAMMAR})
"""Makers of this package: its tests run each call of its programs in a fork, and its grammar has no word for state."""


class Admission:
    """The gates over an executor; `known` is what the pool holds, and is kept up by what is admitted here, `fallen` is
    what models turned down, and is kept up likewise.

    Without `novelty` nothing is embedded and near duplicates pass; without `calibrate` no solver is asked, and without
    `review` no reviewer.
    """

    def __init__(
        self,
        executor: Executor,
        novelty: Novelty | None = None,
        known: Register | None = None,
        *,
        settings: AdmissionSettings | None = None,
        calibrate: Calibrate | None = None,
        review: Review | None = None,
        fallen: Fallen | None = None,
    ) -> None:
        self._executor = executor
        self._novelty = novelty
        self.known = Register() if known is None else known
        self._settings = settings or AdmissionSettings()
        self.fallen = Fallen() if fallen is None else fallen
        self._copies = Copies(self.known, novelty, self._settings, self.fallen)
        self._calibrate = calibrate
        self._review = review
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
        case = _Case(source, self._executor)
        try:
            member = await self._pass_gates(case, origin, tuple(parents), name, held_out)
        except Refusal as refusal:
            logger.debug("%s falls at %s: %s", case.id, case.fell, refusal.reason)
            return case.verdict(None, case.fell, refusal.reason)
        return case.verdict(member, "", f"passed {len(case.trail)} gates{case.end}")

    async def levels_hold(self, member: Member, level: int) -> Passed | Rejected:
        """L2 to L5 at one further level, as asked before it is used. Raises InfrastructureFault."""
        if not isinstance(member.material, Program):
            raise TypeError("only programs have levels")
        if level >= member.evidence.get("levels", level + 1):
            return Rejected(member.evidence.get("ends_at", "L2"), member.evidence.get("outgrown", ""))
        case = _Case(member.material.source, self._executor)
        try:
            candidate = await self._read(case, member.origin)
            recipes = [Recipe(member.id, seed, level) for seed in range(self._settings.draws)]
            await self._mechanics(case, candidate, recipes, member.origin)
        except Refusal as refusal:
            return Rejected(case.fell, refusal.reason, case.evidence)
        return Passed(case.evidence)

    async def _pass_gates(
        self, case: "_Case", origin: Origin, parents: tuple[str, ...], name: str, held_out: bool
    ) -> Member:
        await case.gate("size", form.size(case.source))
        candidate = await self._read(case, origin)
        case.evidence |= {"normal": candidate.normal, "skeleton": candidate.skeleton}
        if candidate.packages:
            case.evidence["packages"] = list(candidate.packages)
        claim = Claim(candidate, origin, held_out, name)
        await case.gate("duplicate", self._copies.by_code(claim))
        if origin in READ_THE_REST:
            await self._stands_apart(case, claim)
        drawn = await self._climb(case, candidate, origin)
        behaviour = await case.gate("behaviour", self._behaviour(case, claim))
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
        if origin is Origin.POLICY:
            try:
                await self._ask_models(case, candidate, member, drawn)
            except Refusal:
                await self._settle_fallen(case, claim, member)
                raise
        embedding = await self._settle(case, claim, member)
        return replace(member, embedding=embedding, evidence=dict(case.evidence))

    async def _read(self, case: "_Case", origin: Origin) -> Candidate:
        """Its form. From here on it runs where packages are, if people made it and it imports some: what a sandbox has
        for imported environments is for no model to build on.
        """
        brought = origin in BROUGHT
        candidate = await case.gate("L1", form.read(self._executor, case.source, packages=brought))
        if brought and candidate.packages:
            case.executor = WithPackages(self._executor)
        return candidate

    async def _ask_models(
        self, case: "_Case", candidate: Candidate, member: Member, drawn: Sequence[drawing.Draw]
    ) -> None:
        """Calibration, then review: what a review says must not decide on a reward, so it comes last."""
        if self._calibrate is not None:
            calibration = calibrates(self._executor, member, self._calibrate, self._settings)
            case.evidence |= await case.gate("calibration", calibration)
        if self._review is not None:
            review = reviewed(self._review, candidate, drawn, self._settings.reviews)
            case.evidence |= await case.gate("review", review)

    async def _climb(self, case: "_Case", candidate: Candidate, origin: Origin) -> list[drawing.Draw]:
        """L2 to L5 over the first levels. A collection's program whose next level would be too large, or no larger,
        has those below: its makers did not know these limits. Whatever else fails at a level, time too, is a fault.
        """
        levels, headroom = self._settings.levels, self._settings.headroom
        while True:
            recipes = [
                Recipe(case.id, seed, level)
                for level in range(levels)
                for seed in range(self._settings.seeds_per_level)
            ]
            try:
                return await self._mechanics(case, candidate, recipes, origin, headroom)
            except Outgrown as refusal:
                may_end = origin is Origin.IMPORTED and case.fell in OF_LEVELS
                if not may_end or refusal.level < self._settings.fewest_levels:
                    raise
                case.ends_below(refusal.level, refusal.reason)
                levels, headroom = refusal.level, 0

    async def _mechanics(
        self,
        case: "_Case",
        candidate: Candidate,
        recipes: Sequence[Recipe],
        origin: Origin,
        headroom: int = 0,
    ) -> list[drawing.Draw]:
        """L2 to L5."""
        strict = origin is Origin.POLICY
        drawn = await case.gate("L2", self._draws(case, candidate, recipes, headroom))
        mode = Mode.SAMPLE if origin in OUR_OWN else Mode.VALIDATE
        await case.gate("L3", drawing.repeats(case.executor, candidate, drawn, mode=mode))
        variety = varies(case.executor, candidate, drawn, self._settings.distinct_answers)
        case.evidence |= await case.gate("L4", variety)
        oracle = judges(case.executor, candidate, drawn, self._settings, strict=strict)
        case.evidence |= await case.gate("L5", oracle)
        return drawn

    async def _draws(
        self, case: "_Case", candidate: Candidate, recipes: Sequence[Recipe], headroom: int
    ) -> list[drawing.Draw]:
        drawn = await drawing.runs(case.executor, candidate, recipes)
        case.evidence |= fits(candidate, drawn, self._settings)
        await foresees(case.executor, candidate, recipes[-1].level, headroom, self._settings)
        return drawn

    async def _behaviour(self, case: "_Case", claim: Claim) -> str:
        behaviour = await fingerprint(case.executor, claim.candidate.program, claim.candidate.normal)
        await self._copies.by_behaviour(claim, behaviour)
        return behaviour

    async def _stands_apart(self, case: "_Case", claim: Claim, behaviour: str = "") -> bytes:
        """Far enough from what is held out, and a policy's from all that was admitted; the candidate's embedding."""
        nearest = await self._copies.nearest(claim.candidate)
        if nearest is None:
            return b""
        await case.gate("contamination", self._copies.set_apart(claim, nearest, behaviour))
        if claim.origin is Origin.POLICY:
            case.evidence |= nearest.evidence
            await case.gate("near_duplicate", self._copies.by_embedding(claim, nearest))
        return nearest.embedding

    async def _settle(self, case: "_Case", claim: Claim, member: Member) -> bytes:
        """The last look and the entry in register and index, one candidate at a time."""
        async with self._settling:
            await case.gate("duplicate", self._copies.by_code(claim))
            await case.gate("behaviour", self._copies.by_behaviour(claim, member.fingerprint))
            embedding = await self._stands_apart(case, claim, member.fingerprint)
            if self._novelty is not None:
                await self._novelty.add(member.id, embedding)
            self.known.add(member)
        return embedding

    async def _settle_fallen(self, case: "_Case", claim: Claim, member: Member) -> None:
        """As `_settle`, for a program that a model turned down. One that broke on the way is no more than invalid."""
        if (gate := case.fell) not in TURNED_DOWN:
            return
        case.evidence[BEHAVIOUR] = member.fingerprint
        async with self._settling:
            await case.gate("duplicate", self._copies.by_code(claim))
            await case.gate("behaviour", self._copies.by_behaviour(claim, member.fingerprint))
            self.fallen.fell(member, gate)
        case.fell = gate


class _Case:
    """One candidate on its way: what was found and which gates it passed."""

    def __init__(self, source: str, executor: Executor) -> None:
        self.source = source
        self.executor = executor
        self.id = form.bare(source).id
        self.evidence: dict[str, Any] = {}
        self.trail: list[Step] = []
        self.fell = ""
        self.end = ""
        """Why it has no further level."""

    def ends_below(self, level: int, why: str) -> None:
        """It has fewer levels than others, and is looked at again over those."""
        self.trail = [step for step in self.trail if step.gate not in MECHANICS]
        self.evidence |= {"levels": level, "outgrown": why, "ends_at": self.fell}
        self.end = f", with levels 0 to {level - 1}: {why}"

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
