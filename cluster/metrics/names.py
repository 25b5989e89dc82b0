"""What an actor's name says: whose it is, of which kind, and which of them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBERED = re.compile(r"-([0-9]+|[0-9a-f]{12})$")


@dataclass(frozen=True, slots=True)
class ActorName:
    """`NAME.solver-0` is the solver 0 of the attached policy NAME; `solver-0` of the run's own, whose name is ""."""

    policy: str
    kind: str
    number: str

    @property
    def group(self) -> str:
        """The kind with its policy, as the counts of the wanted state name it: `solver`, `NAME.solver`."""
        return f"{self.policy}.{self.kind}" if self.policy else self.kind


def parse(name: str) -> ActorName:
    """An actor's name taken apart; a follower's number is its node's id."""
    policy, _, rest = name.rpartition(".")
    found = _NUMBERED.search(rest)
    number = found.group(1) if found else ""
    return ActorName(policy, rest[: found.start()] if found else rest, number)
