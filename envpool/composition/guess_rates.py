"""How often an order is right that was guessed: the share of type-fitting random orders that score.

Invariant: the rate is measured by running orders through the same judge that gives the reward, on instances built
from recipes, so it is the same on every machine. Whoever reads types and nothing else has this rate; above its
operator's limit a composite is not made (RACES; the measure and the limits are ours).
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from envpool.composition.operators import OPERATORS
from envpool.composition.ordering import listing
from envpool.composition.problems import Trial
from envpool.composition.proposals import Proposals
from envpool.composition.trials import outcomes
from envpool.contract import Instance, Recipe, seeded
from envpool.execution import Examiner, ProgramFault
from envpool.members import Composite, Member, OperatorName, Origin, Program
from envpool.sandbox.executor import Executor
from envpool.sandbox.results import Fault

GUESS_LIMITS: dict[OperatorName, float] = {"SORT": 0.5, "SELECT": 0.1}
"""Guess rate above which a composite is not made (ours)."""
INSTANCES = 4
"""Instances that a guess rate is measured on (ours)."""
ORDERS = 48
"""Most orders run on one of them (ours): all that fit where there are no more."""


@dataclass(frozen=True, slots=True)
class GuessRate:
    """What guessing came to."""

    scored: int
    orders: int
    fitting: int
    """Type-fitting orders of an instance; not all were run where there are more than ORDERS."""

    @property
    def rate(self) -> float:
        """The share that scored; no less than the chain's own order has among those that fit, sampled or not."""
        return max(self.scored / self.orders, 1 / self.fitting)

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
    executor: Executor, composite: Composite, lookup: Callable[[str], Member], levels: Sequence[int]
) -> GuessRate | None:
    """The guess rate at these levels together; None where an instance cannot be built or a guess has no verdict.

    That is the case after a kill. `lookup` finds its parts. Raises InfrastructureFault from the executor.
    """
    itself = Member(composite, Origin.COMPOSER)
    examiner = Examiner(executor, lambda id: itself if id == composite.id else lookup(id))
    recipes = [Recipe(composite.id, seed, level) for level in levels for seed in range(INSTANCES)]
    instances = await _built(examiner, recipes)
    if instances is None:
        return None
    programs = {part: _program(lookup(part)) for part in composite.parts}
    fitting = proposals(composite, list(programs.values())).count
    trials = [trial for instance in instances for trial in _trials(composite, programs, instance)]
    came = await outcomes(lambda program, calls: executor.run(program.source, calls), trials)
    if any(isinstance(each, Fault) for each in came):
        return None
    return GuessRate(came.count(True), len(came), fitting)


async def _built(examiner: Examiner, recipes: Sequence[Recipe]) -> list[Instance] | None:
    """Side by side, so that a program's child is still open when the next instance comes to the same step."""
    built = await asyncio.gather(*map(examiner.build, recipes), return_exceptions=True)
    for each in built:
        if isinstance(each, BaseException) and not isinstance(each, ProgramFault):
            raise each
    instances = [each for each in built if isinstance(each, Instance)]
    return instances if len(instances) == len(recipes) else None


def _trials(composite: Composite, programs: Mapping[str, Program], instance: Instance) -> Iterator[Trial]:
    """Random type-fitting orders of an instance, as its judge would run them; of all instances they run together."""
    key = instance.recipe.key()
    listed = [programs[part] for part in listing(composite, key)]
    (judge,) = OPERATORS[composite.operator].judges(
        [[programs[step] for step in composite.chains[0]]], listed
    )
    assert not isinstance(judge, Program)
    for order in proposals(composite, listed).draw(seeded(f"{key}/guesses"), ORDERS):
        yield from judge.trials(order, instance.inputs[0])


def _program(member: Member) -> Program:
    assert isinstance(member.material, Program)
    return member.material
