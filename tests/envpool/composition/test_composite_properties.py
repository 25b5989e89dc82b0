"""What holds for thousands of random composites of shipped bricks, worked out again by plain calls of their classes.

The composites are drawn by `random_composites` and run in this process; some are built in the sandbox besides.
"""

import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations, permutations, product

import pytest

from envpool.answers import write
from envpool.composition.fusion import IncompatibleTypes, fuse
from envpool.composition.guess_rates import guess_rate
from envpool.composition.operators import OPERATORS as KINDS
from envpool.composition.problems import Problem
from envpool.contract import Recipe, Scored, seeded
from envpool.execution import Examiner
from envpool.members import Composite, Member, OperatorName, Origin, Program
from envpool.sandbox import LocalExecutor
from envpool.signatures import ValueType, canonical_bytes, from_wire, literal, parse_type, to_wire
from tests.envpool.composition.in_process import Brick, Endless, InProcessExecutor, Refused, bricks
from tests.envpool.composition.random_composites import OPERATORS, SIZES, Composites, Posed

COUNT = 600
"""Composites of each operator."""
ALL_ORDERS = 24
"""Orders of an instance that are tried: all of up to four steps, as many at random of more."""
IN_THE_SANDBOX = 8
"""Composites of each operator that the sandbox builds too."""
PAIRS = 5_000

BY_ID = {brick.id: brick for brick in bricks()}
MEMBERS = {id: brick.member for id, brick in BY_ID.items()}


@cache
def drawing() -> Composites:
    return Composites(bricks())


@pytest.fixture(scope="module")
def drawn() -> dict[str, list[Posed]]:
    return {}


async def posed(drawn: dict[str, list[Posed]], operator: OperatorName) -> list[Posed]:
    """The random composites of one operator, as many of each size, drawn once for all tests."""
    if operator not in drawn:
        rng = random.Random(f"properties {operator}")
        drawn[operator] = [await drawing().posed(rng, operator, SIZES[n % len(SIZES)]) for n in range(COUNT)]
    return drawn[operator]


def composite_of(each: Posed) -> Composite:
    material = each.composite.material
    assert isinstance(material, Composite)
    return material


def executed(each: Posed) -> list[list[object]]:
    """For each chain its input and every step's output: the sampler and the steps called one by one."""
    recipe = each.instance.recipe
    traces = []
    for n, chain in enumerate(composite_of(each).chains):
        steps = [BY_ID[id] for id in chain]
        values = [steps[0].environment().sample(seeded(f"{recipe.key()}/{n}"), recipe.level)]
        for step in steps:
            values.append(step.environment().solve(values[-1]))
        traces.append(values)
    return traces


def listed(each: Posed) -> list[Brick]:
    """The bricks in the order in which the prompt shows them."""
    rules = {BY_ID[id].program.rule: BY_ID[id] for id in composite_of(each).parts}
    lines = [line.partition(": ") for line in each.instance.prompt.split("\n\n")[0].split("\n")]
    return [rules[rule] for number, _, rule in lines if number.isdigit()]


def other(value: object, vtype: ValueType) -> object:
    """Another value of the same type."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return f"{value}x"
        case list():
            return [*value, least(vtype.args[0])]
        case tuple():
            return (other(value[0], vtype.args[0]), *value[1:])
        case dict() if value:
            return {}
    return {least(vtype.args[0]): least(vtype.args[1])}


def least(vtype: ValueType) -> object:
    if vtype.kind == "tuple":
        return tuple(map(least, vtype.args))
    return {"int": 0, "bool": False, "str": "", "list": [], "dict": {}}[vtype.kind]


def answer(each: Posed, right: Sequence[bool]) -> str:
    """An answer with the right value in some slots and another one in all others."""
    types = [parse_type(text) for text in each.instance.answer_types]
    references = map(from_wire, each.instance.references)
    slots = zip(references, types, right, strict=True)
    return write([value if good else other(value, vtype) for value, vtype, good in slots], types)


@pytest.mark.parametrize("operator", OPERATORS)
async def test_inputs_and_references_are_what_the_steps_give_one_by_one(
    drawn: dict[str, list[Posed]], operator: OperatorName
) -> None:
    for each in await posed(drawn, operator):
        instance, traces = each.instance, [list(map(to_wire, values)) for values in executed(each)]
        if operator == "PARALLEL":
            assert [list(instance.inputs), list(instance.references)] == [
                [values[-2] for values in traces], [values[-1] for values in traces]
            ]  # fmt: skip
        elif operator == "SEQUENTIAL":
            assert [*instance.inputs[:1], *instance.references] == traces[0]
            assert list(instance.inputs) == traces[0][:-1]
        else:
            assert instance.inputs == ({"t": [traces[0][0], traces[0][-1]]},)
            order = [listed(each)[number - 1].id for number in instance.references[0]]
            assert tuple(order) == composite_of(each).chains[0]


@pytest.mark.parametrize("operator", OPERATORS)
async def test_the_prompt_depends_on_no_state_that_it_does_not_show(
    drawn: dict[str, list[Posed]], operator: OperatorName
) -> None:
    for each in await posed(drawn, operator):
        shown, hidden = [], []
        ordered = operator in ("SORT", "SELECT")
        for chain, values in zip(composite_of(each).chains, executed(each), strict=True):
            steps = tuple(BY_ID[id].program for id in chain)
            types = [parse_type(steps[0].domain), *(parse_type(step.codomain) for step in steps)]
            last = len(values) - 1
            changed = [
                value if n == 0 or (ordered and n == last) else other(value, types[n])
                for n, value in enumerate(values)
            ]
            for found, states in ((shown, values), (hidden, changed)):
                found.append(Problem(steps, literal(values[0]), tuple(map(to_wire, states))))
        if ordered:
            programs = tuple(brick.program for brick in listed(each))
            shown, hidden = ([replace(problems[0], listed=programs)] for problems in (shown, hidden))
        assert KINDS[operator].prompt(shown) == KINDS[operator].prompt(hidden) == each.instance.prompt


async def test_the_reward_of_sequential_is_the_longest_correct_prefix(drawn: dict[str, list[Posed]]) -> None:
    for each in await posed(drawn, "SEQUENTIAL"):
        size = composite_of(each).size
        for after in (True, False):
            patterns = [[True] * k + [False] + [after] * (size - k - 1) for k in range(size)]
            told = await each.examiner.score_all(each.instance, [answer(each, right) for right in patterns])
            assert told == [Scored(k / size) for k in range(size)]
        assert await each.examiner.score(each.instance, answer(each, [True] * size)) == Scored(1.0)


async def test_the_reward_of_parallel_is_the_share_correct_and_no_answer_touches_another(
    drawn: dict[str, list[Posed]],
) -> None:
    for each in await posed(drawn, "PARALLEL"):
        slots = len(each.instance.answer_types)
        patterns = list(product((True, False), repeat=slots))
        told = await each.examiner.score_all(each.instance, [answer(each, right) for right in patterns])
        assert told == [Scored(sum(right) / slots) for right in patterns]


def reaches(each: Posed, steps: Sequence[Brick]) -> bool | None:
    """Whether the steps, one after the other, turn the input into the output that is shown; None if one never ends."""
    value, target = (from_wire(wire) for wire in each.instance.inputs[0]["t"])
    for step in steps:
        try:
            value = step.proposed(value)
        except Endless:
            return None
        except Refused:
            return False
    return canonical_bytes(value) == canonical_bytes(target)


def orders(each: Posed, rng: random.Random) -> list[list[int]]:
    """All orders of the form asked for where there are few, else some at random; the reference's among them."""
    numbers, size = range(1, 1 + len(listed(each))), composite_of(each).size
    if math.perm(len(numbers), size) <= ALL_ORDERS:
        return [list(order) for order in permutations(numbers, size)]
    return [list(each.instance.references[0]), *(rng.sample(numbers, size) for _ in range(ALL_ORDERS - 1))]


@pytest.mark.parametrize("operator", ["SORT", "SELECT"])
async def test_exactly_the_orders_that_reach_the_output_are_accepted(
    drawn: dict[str, list[Posed]], operator: OperatorName
) -> None:
    rng, right = random.Random(operator), Counter[int]()
    for each in await posed(drawn, operator):
        shown, tried = listed(each), orders(each, rng)
        expected = [reaches(each, [shown[number - 1] for number in order]) for order in tried]
        told = await each.examiner.score_all(
            each.instance, [write([o], [parse_type("list[int]")]) for o in tried]
        )
        scores = [outcome.score if isinstance(outcome, Scored) else None for outcome in told]
        assert scores == expected
        right[sum(map(bool, expected))] += 1
    assert not right[0]
    assert right.total() - right[1] >= 5  # several orders do for some


@pytest.mark.parametrize("operator", ["SORT", "SELECT"])
async def test_the_guess_rate_is_the_share_of_type_fitting_orders_that_score(
    drawn: dict[str, list[Posed]], operator: OperatorName
) -> None:
    wholly = 0
    for each in (await posed(drawn, operator))[::10]:
        composite, level = composite_of(each), each.instance.recipe.level
        lookup = {**MEMBERS, composite.id: each.composite}.__getitem__
        rate = await guess_rate(InProcessExecutor(), composite, lookup, level)
        if rate is None or rate.orders < rate.fitting * len(rate.scored):
            continue
        wholly += 1
        came: list[bool] = []
        for seed in range(len(rate.scored)):
            instance = await Examiner(InProcessExecutor(), lookup).build(Recipe(composite.id, seed, level))
            again = replace(each, instance=instance)
            came += [reaches(again, order) for order in fitting_orders(listed(again), composite)]
        assert (sum(rate.scored), rate.orders, rate.rate) == (sum(came), len(came), sum(came) / len(came))
        assert rate.rate >= 1 / rate.fitting >= 1 / math.perm(len(composite.parts), composite.size)
    assert wholly >= 20


def fitting_orders(shown: Sequence[Brick], composite: Composite) -> Iterator[tuple[Brick, ...]]:
    """The orders that one would try who knows the types of the steps, and of input and output."""
    for order in permutations(shown, composite.size):
        types = [composite.domain, *(step.program.codomain for step in order)]
        if types[-1] == composite.codomain and all(
            a == b.program.domain for a, b in zip(types, order, strict=False)
        ):
            yield order


def test_bricks_fuse_exactly_where_the_types_fit() -> None:
    rng = random.Random("pairs")
    pairs = rng.sample(list(combinations([brick.program for brick in bricks()], 2)), PAIRS)
    for before, after in pairs:
        if before.codomain == after.domain:
            assert fuse("SEQUENTIAL", [(before, after)]).size == 2
        else:
            with pytest.raises(IncompatibleTypes):
                fuse("SEQUENTIAL", [(before, after)])


@pytest.mark.parametrize("operator", OPERATORS)
async def test_the_sandbox_builds_and_scores_the_same(
    drawn: dict[str, list[Posed]], operator: OperatorName
) -> None:
    executor = LocalExecutor()
    try:
        for each in (await posed(drawn, operator))[:IN_THE_SANDBOX]:
            examiner = Examiner(executor, {**MEMBERS, each.composite.id: each.composite}.__getitem__)
            assert await examiner.build(each.instance.recipe) == each.instance
            right = answer(each, [True] * len(each.instance.answer_types))
            assert await examiner.score(each.instance, right) == Scored(1.0)
    finally:
        executor.close()


TAMPERING = """
import builtins
import random

from envpool import Environment


class Tampering(Environment):
    rule = "Give the input number."

    def sample(self, rng: random.Random, level: int) -> int:
        random.Random.randint = lambda self, low, high: low
        builtins.sum = lambda values: 7
        return 1

    def solve(self, x: int) -> int:
        Environment.accepts = lambda self, x: False
        return x
"""


async def test_a_problem_of_parallel_is_the_same_beside_a_program_that_tampers_with_everything() -> None:
    tampering = Program(TAMPERING, "Tampering", "Give the input number.", "int", "int")
    honest = [brick for brick in bricks() if brick.name in ("lists/total", "numbers/digit_sum")]
    chains = [[tampering], *([brick.program] for brick in honest), [tampering]]
    composite = Member(fuse("PARALLEL", chains), Origin.COMPOSER)
    pool = {**MEMBERS, composite.id: composite, tampering.id: Member(tampering, Origin.BRICK)}
    executor = LocalExecutor()
    try:
        instance = await Examiner(executor, pool.__getitem__).build(Recipe(composite.id, 1, 1))
    finally:
        executor.close()
    for n, brick in enumerate(honest, 1):
        x = brick.environment().sample(seeded(f"{instance.recipe.key()}/{n}"), 1)
        assert (instance.inputs[n], instance.references[n]) == (to_wire(x), to_wire(brick.apply(x)))
    assert instance.references[0] == instance.references[3] == 1
