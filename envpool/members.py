"""Pool members as frozen data: a program (source text) or a composite (an operator over frozen members).

Invariant: a member's id is the hash of its material, so equal material is the same member on every machine
and a changed program is a new member with a parent. Nothing here reads, parses or runs a program's source,
and nothing here touches a disk: the store keeps members, the sandbox runs them.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Self, get_args

SCHEMA = 1
ID_HEX_DIGITS = 20

OracleKind = Literal["equality", "feasibility"]
OperatorName = Literal["SEQUENTIAL", "PARALLEL", "SORT", "SELECT"]
ORDERED: frozenset[OperatorName] = frozenset(("SORT", "SELECT"))
"""Operators that ask for an order of steps."""
_ORACLES = get_args(OracleKind)
_OPERATORS = get_args(OperatorName)


class MemberError(ValueError):
    """A member's data has an unknown schema version or breaks a rule of its form."""


class Status(StrEnum):
    """Where a member stands in its life."""

    ACTIVE = "active"
    RESTING = "resting"
    RETIRED = "retired"
    QUARANTINED = "quarantined"
    REJECTED = "rejected"


class Origin(StrEnum):
    """Who made a member."""

    SEED = "seed"
    BRICK = "brick"
    GRAMMAR = "grammar"
    POLICY = "policy"
    COMPOSER = "composer"
    USER = "user"
    IMPORTED = "imported"
    """Of another collection of environments, made a program of our contract."""


BROUGHT = (Origin.USER, Origin.IMPORTED)
"""Whose programs may import packages, where the sandbox has some."""


@dataclass(frozen=True, slots=True)
class Program:
    """One `Environment` subclass as source text, with what inspection in the sandbox read from it."""

    source: str
    name: str
    rule: str
    domain: str
    codomain: str
    oracle: OracleKind = "equality"

    def __post_init__(self) -> None:
        if self.oracle not in _ORACLES:
            raise MemberError(f"unknown oracle {self.oracle!r}")

    @property
    def id(self) -> str:
        return "p" + _digest(self.source)


@dataclass(frozen=True, slots=True)
class Composite:
    """An operator over member ids: PARALLEL takes several chains of one or more members, the others one.

    Domain and codomain are those of the chain (of all chains together for PARALLEL), whatever is asked about it.
    """

    operator: OperatorName
    chains: tuple[tuple[str, ...], ...]
    domain: str
    codomain: str
    distractors: tuple[str, ...] = ()
    """SELECT: members that are shown among the steps of the chain and are none of them."""

    def __post_init__(self) -> None:
        if self.operator not in _OPERATORS:
            raise MemberError(f"unknown operator {self.operator!r}")
        if not self.chains or not all(self.chains):
            raise MemberError("a composite needs at least one chain, and no chain may be empty")
        if self.operator != "PARALLEL" and len(self.chains) != 1:
            raise MemberError(f"{self.operator} takes one chain, not {len(self.chains)}")
        if bool(self.distractors) != (self.operator == "SELECT"):
            raise MemberError(
                f"{self.operator} with {len(self.distractors)} distractors: SELECT alone has them"
            )
        if self.operator in ORDERED:
            self._refuse_no_order()

    def _refuse_no_order(self) -> None:
        (chain,) = self.chains
        if len(chain) < 2:
            raise MemberError(f"{self.operator} needs two steps or more: one has no order")
        if len(self.parts) != len(chain) + len(self.distractors):
            raise MemberError(
                f"{self.operator} shows each member once, and a distractor is no step of the chain"
            )

    @property
    def id(self) -> str:
        """The same for distractors in any order; without any, as it was before there were some."""
        material = [self.operator, self.chains, *([sorted(self.distractors)] if self.distractors else [])]
        return "c" + _digest(json.dumps(material, separators=(",", ":")))

    @property
    def size(self) -> int:
        """How many environments are composed (RACES, t)."""
        return sum(len(chain) for chain in self.chains)

    @property
    def parts(self) -> tuple[str, ...]:
        """The distinct member ids it is made of, in order of appearance, distractors last."""
        return tuple(dict.fromkeys(part for chain in (*self.chains, self.distractors) for part in chain))


@dataclass(frozen=True, slots=True)
class Member:
    """Material with its lineage and the evidence it was admitted on."""

    material: Program | Composite
    origin: Origin
    parents: tuple[str, ...] = ()
    family: str = ""
    """Members of one family are held out together."""
    held_out: bool = False
    """Set apart for evaluation: never sampled in training, never a parent, never a brick."""
    fingerprint: str = ""
    """Hash of the outputs on the probe bank of the domain; empty where there is none."""
    embedding: bytes = b""
    """Little-endian float32, as the novelty index stores it; empty where there is none."""
    evidence: Mapping[str, Any] = field(default_factory=dict, hash=False)
    created: float = 0.0
    """Seconds since the epoch."""

    @property
    def id(self) -> str:
        return self.material.id

    @property
    def kind(self) -> Literal["program", "composite"]:
        return "program" if isinstance(self.material, Program) else "composite"

    @property
    def may_use_packages(self) -> bool:
        """Whether it runs where third-party packages are: somebody brought it in, and it imports some."""
        return self.origin in BROUGHT and bool(self.evidence.get("packages"))

    def level_within(self, level: int) -> int:
        """The level, or the highest below it that the program has: a collection's may have fewer (`Admission`)."""
        return min(level, int(self.evidence.get("levels", level + 1)) - 1)

    @property
    def signature(self) -> str:
        """Domain and codomain as text, written as `str(Signature)` writes them."""
        return f"{self.material.domain} -> {self.material.codomain}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values only (embedding stays bytes), with the schema version."""
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "material": _material_to_dict(self.material),
            "origin": self.origin.value,
            "parents": list(self.parents),
            "family": self.family,
            "held_out": self.held_out,
            "fingerprint": self.fingerprint,
            "embedding": self.embedding,
            "evidence": dict(self.evidence),
            "created": self.created,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """The member that `to_dict` wrote. Raises MemberError for another schema or a broken record."""
        if record.get("schema") != SCHEMA:
            raise MemberError(
                f"member schema {record.get('schema')!r} is not {SCHEMA}, the one this version reads"
            )
        try:
            return cls(
                _material_from_dict(record["kind"], record["material"]),
                Origin(record["origin"]),
                tuple(record["parents"]),
                record["family"],
                record["held_out"],
                record["fingerprint"],
                record["embedding"],
                _evidence(record["evidence"]),
                record["created"],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise MemberError(f"broken member record: {error!r}") from error


_PROGRAM_FIELDS = ("source", "name", "rule", "domain", "codomain", "oracle")


def _digest(text: str) -> str:
    # Model text may hold lone surrogates; it still needs an id, if only to be rejected under it.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:ID_HEX_DIGITS]


def _evidence(record: Mapping[str, Any]) -> dict[str, Any]:
    evidence = dict(record)
    packages = evidence.get("packages", ())
    if not isinstance(packages, list | tuple) or not all(isinstance(name, str) for name in packages):
        raise MemberError(f"evidence.packages is {packages!r}; it is a list of names")
    return evidence


def _material_to_dict(material: Program | Composite) -> dict[str, Any]:
    if isinstance(material, Program):
        return {name: getattr(material, name) for name in _PROGRAM_FIELDS}
    return {
        "operator": material.operator,
        "chains": [list(chain) for chain in material.chains],
        "domain": material.domain,
        "codomain": material.codomain,
        "distractors": list(material.distractors),
    }


def _material_from_dict(kind: str, record: Mapping[str, Any]) -> Program | Composite:
    if kind == "program":
        return Program(**{name: record[name] for name in _PROGRAM_FIELDS})
    if kind != "composite":
        raise MemberError(f"unknown kind of member {kind!r}")
    chains = tuple(tuple(chain) for chain in record["chains"])
    distractors = tuple(record.get("distractors", ()))  # none in records from before SELECT
    return Composite(record["operator"], chains, record["domain"], record["codomain"], distractors)
