"""What curation decides. A decision is data: the caller carries it out and writes it to the pool."""

from dataclasses import dataclass


class CurationError(ValueError):
    """The curator was asked about a member or policy it does not hold, or given a state it cannot read."""


@dataclass(frozen=True, slots=True)
class Promote:
    """Success at the present level is high enough for `level`; holds only once the caller says so."""

    member: str
    level: int
    reason: str


@dataclass(frozen=True, slots=True)
class Rest:
    """The member teaches nothing now; it is not drawn any more until it wakes."""

    member: str
    reason: str


@dataclass(frozen=True, slots=True)
class Wake:
    """The member is drawn again."""

    member: str
    reason: str


@dataclass(frozen=True, slots=True)
class Retire:
    """The member has had its time; it is not drawn again."""

    member: str
    reason: str


Decision = Promote | Rest | Wake | Retire
