"""Instances of a composite that is in no pool yet, built from recipes as they will be when it is asked.

Invariant: a composite that gives its instances here gives them readily, so that a question of it which runs out of
draws stays rare. Built side by side, so that those which come to the same step are one round trip. What they are good
for is the caller's affair.
"""

import asyncio
from collections.abc import Callable

from envpool.contract import Instance, Recipe
from envpool.execution import Examiner, ProgramFault
from envpool.members import Composite, Member, Origin
from envpool.sandbox.executor import Executor
from envpool.sandbox.merging import Merging

INSTANCES = 16
"""Instances built at a time (ours)."""
DRAWS = 2.0
"""Draws that one of them may take on average (ours): of a composite for which every other draw runs, one question in
65,000 runs out of them."""


async def instances_of(
    executor: Executor, composite: Composite, lookup: Callable[[str], Member], level: int, first: int = 0
) -> list[Instance] | None:
    """INSTANCES of them, with seeds from `first` on; None where one cannot be built, or they take too many draws.

    `lookup` finds the composite's parts. Raises InfrastructureFault from the executor.
    """
    itself = Member(composite, Origin.COMPOSER)
    examiner = Examiner(Merging(executor), lambda id: itself if id == composite.id else lookup(id))
    recipes = [Recipe(composite.id, first + n, level) for n in range(INSTANCES)]
    built = await asyncio.gather(*map(examiner.build, recipes), return_exceptions=True)
    for each in built:
        if isinstance(each, BaseException) and not isinstance(each, ProgramFault):
            raise each
    instances = [each for each in built if isinstance(each, Instance)]
    draws = sum(each.recipe.attempt + 1 for each in instances)
    return instances if len(instances) == INSTANCES and draws <= DRAWS * INSTANCES else None
