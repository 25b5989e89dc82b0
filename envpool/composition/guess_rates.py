"""How often an order is right that was guessed: the share of type-fitting random orders that score.

Invariant: the rate is measured by running orders through the same judge that gives the reward, on instances built
from recipes, so it is the same on every machine. Whoever reads types and nothing else has this rate; where it may lie
above its operator's limit a composite is not made (RACES; the measure and the limits are ours).
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import pstdev

from envpool.composition.instances import INSTANCES, instances_of
from envpool.composition.operators import OPERATORS
from envpool.composition.ordering import listing
from envpool.composition.problems import Trial
from envpool.composition.proposals import Proposals
from envpool.composition.trials import outcomes
from envpool.contract import Instance, seeded
from envpool.members import Composite, Member, OperatorName, Program
from envpool.sandbox.executor import Executor
from envpool.sandbox.results import Fault

GUESS_LIMITS: dict[OperatorName, float] = {"SORT": 0.5, "SELECT": 0.1}
"""Guess rate above which a composite is not made (ours)."""
ORDERS = 192
"""Orders that a guess rate is measured on (ours): where few fit, on more instances, so that one which now and then
goes right as well is found out."""
MARGIN = 1.64
"""Standard errors below its limit that a measured rate must lie: then 95 % of the true ones are below it (ours)."""


@dataclass(frozen=True, slots=True)
class GuessRate:
    """What guessing came to."""

    scored: tuple[int, ...]
    """By instance, how many of the orders run on it scored; on each as many were run."""
    orders: int
    """Orders run on all instances together."""
    fitting: int
    """Type-fitting orders of an instance; not all were run where there are many."""

    @property
    def rate(self) -> float:
        """The share that scored; no less than the chain's own order has among those that fit, sampled or not."""
        return max(sum(self.scored) / self.orders, 1 / self.fitting)

    @property
    def bound(self) -> float:
        """What the rate on other instances is below, with 95 % confidence: the rate itself where all were alike."""
        return self.rate + MARGIN * pstdev(self.scored) * math.sqrt(len(self.scored)) / self.orders

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
    executor: Executor, composite: Composite, lookup: Callable[[str], Member], level: int
) -> GuessRate | None:
    """The guess rate at a level, measured on no more instances where it is above its limit already.

    None where instances cannot be built readily, or a guess has no verdict, as after a kill. `lookup` finds its parts.
    Raises InfrastructureFault from the executor.
    """
    programs = {part: _program(lookup(part)) for part in composite.parts}
    fitting = proposals(composite, list(programs.values())).count
    most = ORDERS // INSTANCES
    scored: list[int] = []
    while True:
        instances = await instances_of(executor, composite, lookup, level, first=len(scored))
        if instances is None:
            return None
        trials = [list(_trials(composite, programs, each, most)) for each in instances]
        came = await outcomes(
            lambda program, calls: executor.run(program.source, calls),
            [one for each in trials for one in each],
        )
        if any(isinstance(each, Fault) for each in came):
            return None
        told = iter(came)
        scored += [[next(told) for _ in each].count(True) for each in trials]
        rate = GuessRate(tuple(scored), len(scored) * min(fitting, most), fitting)
        if rate.orders >= ORDERS or rate.rate > GUESS_LIMITS[composite.operator]:
            return rate


def _trials(
    composite: Composite, programs: Mapping[str, Program], instance: Instance, most: int
) -> Iterator[Trial]:
    """Random type-fitting orders of an instance, as its judge would run them; of all instances they run together."""
    key = instance.recipe.key()
    listed = [programs[part] for part in listing(composite, key)]
    (judge,) = OPERATORS[composite.operator].judges(
        [[programs[step] for step in composite.chains[0]]], listed
    )
    assert not isinstance(judge, Program)
    for order in proposals(composite, listed).draw(seeded(f"{key}/guesses"), most):
        yield from judge.trials(order, instance.inputs[0])


def _program(member: Member) -> Program:
    assert isinstance(member.material, Program)
    return member.material
