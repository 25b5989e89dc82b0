"""Gates "duplicate", "contamination", "near_duplicate" and "behaviour": whether a candidate copies what is there.

What counts as a copy depends on who made the candidate. Everybody's falls with a member's source, with its code but for
names and layout, and with its behaviour. What is imported falls besides with a member of its family that is set apart
where it is not, or the other way round: a task with other settings is the same task. A policy's falls besides with a
member's oracle but for constants (unless `constants_make_new`), near a member's embedding (where there is novelty), and
as a copy by source, code, oracle or behaviour of what `fallen` remembers; a person's falls besides near the embedding
of a held-out member. So with other constants a person's, a brick's or the grammar's program, which are alike by nature,
passes here where it behaves differently. Invariant: whoever copies a member that is set apart for evaluation falls as
contamination, whichever gate finds it; one that is set apart itself may only be no copy. Nothing is entered here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from envpool.admission.fallen import Fallen
from envpool.admission.form import Candidate
from envpool.admission.register import Register
from envpool.admission.settings import AdmissionSettings
from envpool.admission.verdict import Refusal
from envpool.members import Origin
from envpool.novelty.neighbours import Novelty

CONTAMINATION = "contamination"
READ_THE_REST = (Origin.POLICY, Origin.USER)
"""Whose programs may be a held-out one told anew; what ships, and the grammar's templates, were chosen by people. What
is imported shares its template with all of its collection, so that one task is near every other; it has its family."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A candidate as far as copies go: what it is, who made it, whether it is set apart itself, and its family."""

    candidate: Candidate
    origin: Origin
    held_out: bool = False
    family: str = ""


@dataclass(frozen=True, slots=True)
class Nearest:
    """The candidate's embedding, and the member that stands nearest to it."""

    id: str | None
    similarity: float
    embedding: bytes

    @property
    def evidence(self) -> Mapping[str, Any]:
        return {"similarity": self.similarity, "nearest": self.id or ""}


class Copies:
    """Looks for copies in what is known and, where there is `novelty`, near the candidate's embedding."""

    def __init__(
        self,
        known: Register,
        novelty: Novelty | None,
        settings: AdmissionSettings,
        fallen: Fallen | None = None,
    ) -> None:
        self._known = known
        self._fallen = Fallen() if fallen is None else fallen
        self._novelty = novelty
        self._settings = settings

    async def by_code(self, claim: Claim) -> None:
        """The same source, a family that is set apart, the same code but for names, or a policy's same oracle but for
        constants: Refusal.
        """
        candidate = claim.candidate
        strict = claim.origin is Origin.POLICY and not self._settings.constants_make_new
        for known in self._compared(claim):
            if candidate.program.id in known:
                raise self._copy(known, claim, candidate.program.id, "the same source as {}")
            self._refuse_a_divided_family(known, claim)
            if (other := known.with_code(candidate.normal)) is not None:
                raise self._copy(known, claim, other, "the same code, but for names and layout, as {}")
            if strict and (other := known.with_skeleton(candidate.skeleton)) is not None:
                raise self._copy(known, claim, other, "the same oracle, but for names, layout and constants, as {}")

    async def by_behaviour(self, claim: Claim, behaviour: str) -> None:
        """The same answers to every probe: Refusal."""
        for known in self._compared(claim):
            if (other := known.with_behaviour(behaviour)) is not None:
                raise self._copy(known, claim, other, "answers every probe as {} does")

    async def nearest(self, candidate: Candidate) -> Nearest | None:
        """Where the candidate stands among all that was admitted; None without novelty."""
        if self._novelty is None:
            return None
        return Nearest(*await self._novelty.nearest(candidate.program.rule, candidate.stripped))

    async def by_embedding(self, claim: Claim, nearest: Nearest) -> None:
        """A policy's rule and code that are too similar to a member's: Refusal."""
        limit = self._settings.near_duplicate
        if claim.origin is not Origin.POLICY or limit is None:
            return
        # Its own id is there where it was admitted before but could not be stored.
        if nearest.id in (None, claim.candidate.program.id) or nearest.similarity < limit:
            return
        reason = f"rule and code are {nearest.similarity:.2f} similar to {{}}"
        raise self._copy(self._known, claim, str(nearest.id), reason)

    async def set_apart(self, claim: Claim, nearest: Nearest | None, behaviour: str = "") -> None:
        """A copy of what is held out, as novelty knows it, by code, by behaviour or by embedding: Refusal."""
        if self._novelty is None or claim.held_out:
            return
        told_anew = nearest is not None and claim.origin in READ_THE_REST
        embedding = nearest.embedding if nearest is not None and told_anew else b""
        if reason := await self._novelty.contamination(embedding, behaviour, claim.candidate.normal):
            raise Refusal(reason.removeprefix(f"{CONTAMINATION}: "), CONTAMINATION)

    def _compared(self, claim: Claim) -> tuple[Register, ...]:
        """Members first: to copy one that is held out is contamination."""
        return (self._known, self._fallen) if claim.origin is Origin.POLICY else (self._known,)

    def _refuse_a_divided_family(self, known: Register, claim: Claim) -> None:
        """A collection names its tasks; two files of the same name are only that."""
        if claim.origin is not Origin.IMPORTED:
            return
        other = known.in_family(claim.family, held_out=not claim.held_out)
        if other is not None and claim.held_out:
            reason = "of one family with {}, which may be trained on: too late to set it apart"
            raise Refusal(reason.format(known.describe(other)), CONTAMINATION, copies=other)
        if other is not None:
            raise self._copy(known, claim, other, "of one family with {}")

    @staticmethod
    def _copy(known: Register, claim: Claim, other: str, reason: str) -> Refusal:
        apart = known.is_held_out(other) and not claim.held_out
        return Refusal(reason.format(known.describe(other)), CONTAMINATION if apart else "", copies=other)
