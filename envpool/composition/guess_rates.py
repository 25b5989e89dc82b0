"""How often an order is right that was guessed: the share of type-fitting random orders that score.

Invariant: the rate is measured by running orders through the same judge that gives the reward, on instances built
from recipes, so it is the same on every machine. Whoever reads types and nothing else has this rate; where it may lie
above its operator's limit a composite is not made (RACES; the measure and the limits are ours).
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import pstdev

from envpool.composition.instances import instances_of
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
LEAST: dict[OperatorName, int] = {"SORT": 32, "SELECT": 64}
"""Instances that a guess rate is measured on at the least (ours): so many that the one which `bound` adds is less than
half of the limit."""
ORDERS = 192
"""Orders that it is measured on at the least (ours): where few fit an instance, on more instances."""
AN_INSTANCE = 6
"""Orders run on one instance at the most (ours): it is other instances that find out what goes right rarely."""
MARGIN = 1.64
"""Standard errors that a measured rate must lie below its limit: then 95 % of the true ones are below it (ours)."""


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
        """What the rate on other instances is below, with 95 % confidence.

        Worked out as if one more instance had been met, on which every order scores. So instances that are rare, such
        as an empty list that most orders leave as it is, weigh even where there was none among those measured.
        """
        count = len(self.scored)
        shares = [*(each * count / self.orders for each in self.scored), 1.0]
        mean = (count * self.rate + 1) / (count + 1)
        return mean + MARGIN * pstdev(shares) / math.sqrt(count + 1)

    def is_within(self, limit: float) -> bool:
        """Whether the rate on other instances is within the limit as well, as far as can be told.

        Of two orders one is the chain's, so half is the least there is: the other must have scored on no instance.
        """
        return self.bound <= limit or (self.fitting == 2 and self.rate == 0.5 == limit)

    def to_evidence(self) -> dict[str, float]:
        """As a member keeps it; `guess_rate` is named as for programs."""
        return {"guess_rate": self.rate, "guesses": self.orders, "fitting_orders": self.fitting}


def proposals(composite: Composite, listed: Sequence[Program]) -> Proposals:
    """The type-fitting orders of a SORT or SELECT composite whose steps are listed so."""
    return Proposals(listed, composite.size, composite.domain, composite.codomain)


def hopeless(composite: Composite, programs: Sequence[Program]) -> bool:
    """Whether so few orders fit that guessing is too good before any is run: the chain's own scores for certain."""
    return not _can_be_within(composite.operator, proposals(composite, programs).count)


@cache
def _can_be_within(operator: OperatorName, fitting: int) -> bool:
    """Whether the rate is within the limit where of so many orders the chain's own alone scores."""
    best = GuessRate((1,) * LEAST[operator], LEAST[operator] * fitting, fitting)
    return best.is_within(GUESS_LIMITS[operator])


async def guess_rate(
    executor: Executor, composite: Composite, lookup: Callable[[str], Member], level: int
) -> GuessRate | None:
    """The guess rate at a level, measured on no more instances where it is above its limit already.

    None where instances cannot be built readily, or a guess has no verdict, as after a kill. `lookup` finds its parts.
    Raises InfrastructureFault from the executor.
    """
    programs = {part: _program(lookup(part)) for part in composite.parts}
    fitting = proposals(composite, list(programs.values())).count
    least, limit = LEAST[composite.operator], GUESS_LIMITS[composite.operator]
    scored: list[int] = []
    while True:
        instances = await instances_of(executor, composite, lookup, level, first=len(scored))
        if instances is None:
            return None
        trials = [list(_trials(composite, programs, each)) for each in instances]
        came = await outcomes(
            lambda program, calls: executor.run(program.source, calls),
            [one for each in trials for one in each],
        )
        if any(isinstance(each, Fault) for each in came):
            return None
        told = iter(came)
        scored += [[next(told) for _ in each].count(True) for each in trials]
        rate = GuessRate(tuple(scored), len(scored) * min(fitting, AN_INSTANCE), fitting)
        if rate.rate > limit or (rate.orders >= ORDERS and len(scored) >= least):
            return rate


def _trials(composite: Composite, programs: Mapping[str, Program], instance: Instance) -> Iterator[Trial]:
    """Random type-fitting orders of an instance, as its judge would run them; of all instances they run together."""
    key = instance.recipe.key()
    listed = [programs[part] for part in listing(composite, key)]
    (judge,) = OPERATORS[composite.operator].judges(
        [[programs[step] for step in composite.chains[0]]], listed
    )
    assert not isinstance(judge, Program)
    for order in proposals(composite, listed).draw(seeded(f"{key}/guesses"), AN_INSTANCE):
        yield from judge.trials(order, instance.inputs[0])


def _program(member: Member) -> Program:
    assert isinstance(member.material, Program)
    return member.material
