"""How often an order is right that was guessed: the share of type-fitting random orders that score.

Invariant: the rate is measured by running orders through the same judge that gives the reward, on instances built
from recipes, so it is the same on every machine. Whoever reads types and nothing else has this rate; above its
operator's limit a composite is not made (RACES; the measure and the limits are ours).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from envpool.answers import write
from envpool.composition.ordering import ORDER_TYPE, listing
from envpool.composition.proposals import Proposals
from envpool.contract import Failed, Outcome, Recipe, Scored, seeded
from envpool.execution import Examiner, ProgramFault
from envpool.members import Composite, OperatorName, Program
from envpool.signatures import parse_type

GUESS_LIMITS: dict[OperatorName, float] = {"SORT": 0.5, "SELECT": 0.1}
"""Guess rate above which a composite is not made (ours)."""
INSTANCES = 4
"""Instances that a guess rate is measured on (ours)."""
ORDERS = 48
"""Most orders run on one of them (ours): all that fit where there are no more."""

_ORDER = parse_type(ORDER_TYPE)


@dataclass(frozen=True, slots=True)
class GuessRate:
    """What guessing came to."""

    scored: int
    orders: int
    fitting: int
    """Type-fitting orders of one instance; not all were run where there are more than ORDERS."""

    @property
    def rate(self) -> float:
        return self.scored / self.orders

    def to_evidence(self) -> dict[str, float]:
        """As a member keeps it; `guess_rate` is named as for programs."""
        return {"guess_rate": self.rate, "guesses": self.orders, "fitting_orders": self.fitting}


def proposals(composite: Composite, listed: Sequence[Program]) -> Proposals:
    """The type-fitting orders of a SORT or SELECT composite whose steps are listed so."""
    return Proposals(listed, composite.size, composite.domain, composite.codomain)


def hopeless(composite: Composite, programs: Sequence[Program]) -> bool:
    """Whether so few orders fit that guessing is too good before any is run: the chain's own scores for certain."""
    return GUESS_LIMITS[composite.operator] * proposals(composite, programs).count < 1


async def guess_rate(
    examiner: Examiner, composite: Composite, programs: Mapping[str, Program], levels: Sequence[int]
) -> GuessRate | None:
    """The guess rate at these levels together; None where an instance cannot be built or a guess has no verdict.

    That is the case after a kill. `programs` has its parts by id. Raises InfrastructureFault from the executor while
    an instance is built.
    """
    told: list[Outcome] = []
    fitting = 0
    for recipe in [Recipe(composite.id, seed, level) for level in levels for seed in range(INSTANCES)]:
        try:
            instance = await examiner.build(recipe)
        except ProgramFault:
            return None
        listed = [programs[part] for part in listing(composite, instance.recipe.key())]
        guesses = proposals(composite, listed)
        fitting = guesses.count
        drawn = guesses.draw(seeded(f"{instance.recipe.key()}/guesses"), ORDERS)
        told += await examiner.score_all(instance, [write([order], [_ORDER]) for order in drawn])
    if any(isinstance(each, Failed) for each in told):
        return None
    return GuessRate(sum(isinstance(each, Scored) and each.success for each in told), len(told), fitting)
