"""Composition over shipped bricks and the real sandbox."""

import random
from collections.abc import Iterator
from typing import get_args

import pytest

from envpool.answers import write
from envpool.composition.composer import Composer
from envpool.composition.guess_rates import GUESS_LIMITS, proposals
from envpool.composition.instances import INSTANCES
from envpool.composition.ordering import listing
from envpool.contract import Failed, Recipe, Scored
from envpool.execution import Examiner, ProgramFault
from envpool.members import Composite, Member, OperatorName, Origin
from envpool.sandbox import FaultKind, LocalExecutor
from envpool.seeds import read_seeds
from envpool.signatures import from_wire, parse_type
from tests.envpool.composition.bricks import inspected, shipped_bricks

REPLICAS = (0, 1)  # two sandboxes with different hash seeds

WANDERING = """
import random

from envpool import Environment


class Wandering(Environment):
    rule = "Give the distinct letters of the input text in the order of the first, or so."

    def sample(self, rng: random.Random, level: int) -> str:
        return "quick brown foxes"

    def solve(self, x: str) -> str:
        return "".join(set(x))
"""

ENDLESS = """
import random

from envpool import Environment


class Endless(Environment):
    rule = "Count up for ever."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(1, 9)

    def solve(self, x: int) -> int:
        while True:
            x += 1
"""


HALVING = """
import random

from envpool import Environment


class Halving(Environment):
    rule = "Halve the input number, which is even."

    def sample(self, rng: random.Random, level: int) -> int:
        return 4 * rng.randint(2, 9)

    def solve(self, x: int) -> int:
        while x % 2:
            pass
        return x // 2
"""


@pytest.fixture(scope="module")
def executor() -> Iterator[LocalExecutor]:
    executor = LocalExecutor()
    yield executor
    executor.close()


def examiners(executor: LocalExecutor, members: list[Member]) -> list[Examiner]:
    pool = {each.id: each for each in members}
    return [Examiner(executor, pool.__getitem__, replica=replica) for replica in REPLICAS]


async def test_proposals_over_shipped_bricks_are_the_same_whatever_the_hash_seed(
    executor: LocalExecutor,
) -> None:
    bricks = await shipped_bricks(executor)
    kinds = [(operator, size) for operator in get_args(OperatorName) for size in (2, 4)]
    made = await Composer(executor, bricks, seed=1).compose(kinds)
    assert len({each.id for each in made}) == len(kinds)
    here, there = examiners(executor, [*bricks, *made])
    for each in made:
        instance = await here.build(Recipe(each.id, 11, 0))
        assert await there.build(Recipe(each.id, 11, 0)) == instance
        assert await here.build(instance.recipe) == instance
        types = [parse_type(text) for text in instance.answer_types]
        text = write([from_wire(reference) for reference in instance.references], types)
        assert await there.score(instance, text) == Scored(1.0)
        assert len(instance.prompt) < 2500


async def test_seed_programs_are_built_and_scored_the_same_whatever_the_hash_seed(
    executor: LocalExecutor,
) -> None:
    seeds = [await inspected(executor, source, Origin.SEED) for _, source in read_seeds()]
    here, there = examiners(executor, seeds)
    for seed in seeds:
        for level in range(3):
            instance = await here.build(Recipe(seed.id, 3, level))
            assert await there.build(Recipe(seed.id, 3, level)) == instance
            text = write([from_wire(instance.references[0])], [parse_type(seed.material.codomain)])
            outcomes = await there.score_all(instance, [text, "<answer></answer>", "nothing"])
            assert outcomes[0] == Scored(1.0)
            assert not any(isinstance(outcome, Scored) and outcome.success for outcome in outcomes[1:])


async def test_a_program_that_depends_on_the_hash_seed_is_seen_by_two_replicas(
    executor: LocalExecutor,
) -> None:
    wandering = await inspected(executor, WANDERING)
    here, there = examiners(executor, [wandering])
    recipe = Recipe(wandering.id, 1, 0)
    assert (await here.build(recipe)).references != (await there.build(recipe)).references


async def test_a_program_that_does_not_end_is_a_fault_and_not_a_wait(executor: LocalExecutor) -> None:
    endless = await inspected(executor, ENDLESS)
    (brick,) = await shipped_bricks(executor, ["numbers/add_one"])
    chain = Composite("SEQUENTIAL", ((brick.id, endless.id),), "int", "int")
    composite = Member(chain, Origin.COMPOSER)
    examiner, _ = examiners(executor, [endless, brick, composite])
    for blamed in (endless, composite):
        with pytest.raises(ProgramFault) as caught:
            await examiner.build(Recipe(blamed.id, 1, 0))
        assert (caught.value.member, caught.value.fault.kind) == (blamed.id, FaultKind.CPU_LIMIT)


async def test_a_proposed_order_that_does_not_end_is_no_verdict_and_no_program_s_fault(
    executor: LocalExecutor,
) -> None:
    halving = await inspected(executor, HALVING)
    (brick,) = await shipped_bricks(executor, ["numbers/add_one"])
    order = Composite("SORT", ((halving.id, brick.id),), "int", "int")
    composite = Member(order, Origin.COMPOSER)
    here, _ = examiners(executor, [halving, brick, composite])
    instance = await here.build(Recipe(composite.id, 1, 0))
    right = from_wire(instance.references[0])
    texts = [write([each], [parse_type("list[int]")]) for each in (right, right[::-1])]
    scored, killed = await here.score_all(instance, texts)
    assert scored == Scored(1.0)
    assert isinstance(killed, Failed) and killed.killed and not killed.culprit
    assert "cpu_limit" in killed.reason


@pytest.mark.parametrize("operator", ["SORT", "SELECT"])
async def test_the_guess_rate_of_a_proposal_is_what_the_verdicts_of_all_orders_come_to(
    executor: LocalExecutor, operator: OperatorName
) -> None:
    bricks = await shipped_bricks(executor, ["numbers/*", "lists/*"])
    (made,) = await Composer(executor, bricks, seed=2).compose([(operator, 3)])
    pool = {each.id: each for each in [*bricks, made]}
    here, _ = examiners(executor, [*bricks, made])
    scored = told = 0
    for seed in range(INSTANCES):
        instance = await here.build(Recipe(made.id, seed, 0))
        listed = [pool[part].material for part in listing(made.material, instance.recipe.key())]
        fitting = proposals(made.material, listed)
        orders = fitting.draw(random.Random(0), fitting.count)
        outcomes = await here.score_all(
            instance, [write([each], [parse_type("list[int]")]) for each in orders]
        )
        scored += sum(outcome == Scored(1.0) for outcome in outcomes)
        told += len(outcomes)
    assert made.evidence["guess_rate"] == pytest.approx(scored / told, abs=0.05)
    assert scored / told <= GUESS_LIMITS[operator] + 0.05
