"""What gates answer: passed with evidence, or rejected with gate, reason and evidence. Plain data."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from envpool.members import Member

MECHANICAL = (
    "reply",
    "size",
    "L1",
    "imports",
    "scan",
    "duplicate",
    "contamination",
    "near_duplicate",
    "L2",
    "L3",
    "L4",
    "L5",
    "behaviour",
)
GATES = (*MECHANICAL, "calibration", "review")


class Refusal(Exception):
    """A gate's no; raised inside a gate, turned into `Rejected` where the gate was opened."""

    def __init__(self, reason: str, gate: str = "", /, **evidence: Any) -> None:
        super().__init__(reason)
        self.reason = reason
        self.gate = gate  # only where it is not the gate that was opened
        self.evidence = evidence


class Outgrown(Refusal):
    """A gate's no to a level, for its size or because it is no larger: it says nothing against the levels below."""

    def __init__(self, level: int, reason: str) -> None:
        super().__init__(reason)
        self.level = level

    def __reduce__(self) -> tuple[type["Outgrown"], tuple[int, str]]:
        """Of what it was made, so that a worker process can send it."""
        return type(self), (self.level, self.reason)


@dataclass(frozen=True, slots=True)
class Passed:
    """A gate's yes."""

    evidence: Mapping[str, Any] = field(default_factory=dict)
    passed: bool = field(default=True, init=False)
    gate: str = field(default="", init=False)
    reason: str = field(default="", init=False)


@dataclass(frozen=True, slots=True)
class Rejected:
    """A gate's no, with what a reader needs to understand it."""

    gate: str
    reason: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    passed: bool = field(default=False, init=False)


@dataclass(frozen=True, slots=True)
class Step:
    """One gate on the way of a candidate."""

    gate: str
    passed: bool
    seconds: float  # wall time


@dataclass(frozen=True, slots=True)
class Verdict:
    """All that admission says of one candidate; `member` is None where it was rejected."""

    id: str
    member: Member | None
    gate: str  # where it fell; empty for an admitted candidate
    reason: str
    evidence: Mapping[str, Any]
    trail: tuple[Step, ...]

    @property
    def valid(self) -> bool:
        """Whether every mechanical gate passed (the first part of the generator's reward, which no review touches)."""
        return self.gate not in MECHANICAL

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without the member itself."""
        return {
            "id": self.id,
            "admitted": self.member is not None,
            "valid": self.valid,
            "gate": self.gate,
            "reason": self.reason,
            "evidence": dict(self.evidence),
            "trail": [asdict(step) for step in self.trail],
        }
