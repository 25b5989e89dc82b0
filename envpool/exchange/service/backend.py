"""What a service serves from: whatever draws questions, judges answers and remembers what came of them.

Invariant: an outcome without a verdict travels as `Failed` and never as a score. Each backend is a file of its own:
`standing` for a pool that no run holds, `snapshot` for a copy that nobody writes; a live run has its own, an actor.
HTTP, tokens, limits and repeated requests are `app`'s.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from envpool.contract import Outcome, Recipe
from envpool.members import Composite, Member


class ServiceError(RuntimeError):
    """A service cannot do what it was asked."""


class UnknownQuestion(ServiceError):
    """A recipe that this backend never asks: its member is unknown, set apart, or cannot be asked at this level."""


class NothingToAsk(ServiceError):
    """No question can be had just now: no member is active, or the machine fails. Asking again later may help."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a trainer is asked. The recipe is its identity: whoever has it can have it judged, at any time."""

    recipe: Recipe
    prompt: str
    name: str
    """The program's name, or the operator of a composite."""
    family: str = ""


class Backend(Protocol):
    """Three calls, all safe to make at once from one event loop."""

    async def sample(self, client: str, count: int) -> list[Question]:
        """`count` fresh questions of the training side, or fewer. Raises NothingToAsk where there is none."""
        ...

    async def score(
        self, client: str, request: str, recipe: Recipe, responses: Sequence[str]
    ) -> list[Outcome]:
        """One outcome a response, counted once for each `request` where the backend counts.

        Raises UnknownQuestion; InfrastructureFault where the machine failed a response, and nothing is counted.
        """
        ...

    async def status(self) -> dict[str, Any]:
        """Plain values: `kind`, `policy`, `counts` (whether answers are counted), `members` and what else it knows."""
        ...


def name_of(member: Member) -> str:
    """What a person calls a member: a program's name, a composite's operator and size."""
    material = member.material
    return f"{material.operator} of {material.size}" if isinstance(material, Composite) else material.name
