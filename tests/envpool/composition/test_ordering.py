"""SORT and SELECT over the simulated executor: what is asked, which orders are run, and what they score."""

from itertools import permutations

import pytest

from envpool.answers import write
from envpool.composition.ordering import Order, meet
from envpool.contract import Failed, Instance, Recipe, Scored, Unparsed
from envpool.execution import Examiner
from envpool.members import Composite, Member, Origin
from envpool.signatures import parse_type
from tests.envpool.composition.simulated import (
    PROGRAMS,
    AddOne,
    Digits,
    Double,
    EvenDigits,
    HalfOfEven,
    HangsOnOdd,
    Letters,
    RaisesOnOdd,
    SimulatedExecutor,
    Square,
    TenMoreThanEven,
    TextOfOdd,
    Total,
    Triple,
    member,
)

ORDER = [parse_type("list[int]")]


def sort(*programs: type) -> Member:
    return _ordered("SORT", programs)


def select(programs: tuple[type, ...], distractors: tuple[type, ...]) -> Member:
    return _ordered("SELECT", programs, distractors)


def _ordered(operator: str, programs: tuple[type, ...], distractors: tuple[type, ...] = ()) -> Member:
    chain = tuple(member(each).id for each in programs)
    shown_too = tuple(member(each).id for each in distractors)
    domain, codomain = PROGRAMS[programs[0]][0], PROGRAMS[programs[-1]][1]
    return Member(Composite(operator, (chain,), domain, codomain, shown_too), Origin.COMPOSER)


def examiner_of(material: Member, executor: SimulatedExecutor | None = None) -> Examiner:
    pool = {each.id: each for each in [material, *map(member, PROGRAMS)]}
    return Examiner(executor or SimulatedExecutor(), pool.__getitem__)


def listed(instance: Instance) -> list[str]:
    """The rules in the order in which the prompt shows them."""
    lines = [line.partition(": ") for line in instance.prompt.splitlines()]
    return [rule for number, _, rule in lines if number.isdigit()]


def numbers(instance: Instance, *programs: type) -> list[int]:
    return [1 + listed(instance).index(each.rule) for each in programs]


async def score(examiner: Examiner, instance: Instance, order: list[int]) -> object:
    return await examiner.score(instance, write([order], ORDER))


async def test_sort_shows_all_steps_the_input_and_the_output_and_asks_for_the_order() -> None:
    material = sort(Double, AddOne)
    instance = await examiner_of(material).build(Recipe(material.id, 3, 0))
    x, y = instance.inputs[0]["t"]
    first, second = listed(instance)
    assert y == 2 * x + 1
    assert {first, second} == {Double.rule, AddOne.rule}
    assert instance.prompt == (
        "These steps, each done once and in the right order, turn the input into the output. "
        "The result of a step is the input of the next. Give the numbers of the steps in that order.\n"
        f"1: {first}\n2: {second}\n\n"
        f"Input: {x}\nOutput: {y}\n\n"
        "Answer as <answer>[number, ...]</answer>"
    )
    assert instance.references == (numbers(instance, Double, AddOne),)


async def test_select_says_how_many_of_the_steps_to_use() -> None:
    material = select((Double, AddOne), (Square, Digits))
    instance = await examiner_of(material).build(Recipe(material.id, 3, 0))
    assert instance.prompt.startswith(
        "Some of these steps, done in the right order, turn the input into the output. "
        "The result of a step is the input of the next. Use exactly 2 of them, none twice. "
        "Give their numbers in that order.\n1: "
    )
    assert sorted(listed(instance)) == sorted(each.rule for each in (Double, AddOne, Square, Digits))
    assert instance.references == (numbers(instance, Double, AddOne),)


async def test_the_order_shown_follows_from_the_recipe_and_tells_nothing_of_the_chain() -> None:
    forward, backward = sort(Double, AddOne, Square), sort(Square, AddOne, Double)
    shown: dict[str, set[tuple[str, ...]]] = {}
    for material in (forward, backward):
        for seed in range(40):
            instance = await examiner_of(material).build(Recipe(material.id, seed, 1))
            assert await examiner_of(material).build(instance.recipe) == instance
            shown.setdefault(material.id, set()).add(tuple(listed(instance)))
    assert [len(each) for each in shown.values()] == [6, 6]


@pytest.mark.parametrize("seed", range(5))
async def test_every_order_that_reaches_the_output_scores_and_no_other(seed: int) -> None:
    material = sort(Double, Triple, AddOne)
    examiner = examiner_of(material)
    instance = await examiner.build(Recipe(material.id, seed, 1))
    x, y = instance.inputs[0]["t"]
    right = []
    for programs in permutations((Double, Triple, AddOne)):
        value = x
        for program in programs:
            value = program().solve(value)
        expected = 1.0 if value == y else 0.0
        assert await score(examiner, instance, numbers(instance, *programs)) == Scored(expected)
        right += [programs] if expected else []
    assert right == [(Double, Triple, AddOne), (Triple, Double, AddOne)]


async def test_select_accepts_steps_that_are_not_the_chain_s_where_they_reach_the_output() -> None:
    material = select((Double, Digits, Total), (HalfOfEven, Triple))
    examiner = examiner_of(material)
    instance = await examiner.build(Recipe(material.id, 4, 0))  # another way: 6 -> 12 -> 1 + 2 is 6 -> 3 -> 3
    x, y = instance.inputs[0]["t"]
    for instead in (HalfOfEven, Triple):
        if x % 2 and instead is HalfOfEven:
            continue
        reaches = sum(int(digit) for digit in str(instead().solve(x))) == y
        outcome = await score(examiner, instance, numbers(instance, instead, Digits, Total))
        assert outcome == Scored(1.0 if reaches else 0.0)


@pytest.mark.parametrize(
    "order", [[], [1], [1, 1, 2], [1, 2, 3, 3], [0, 1, 2], [1, 2, 4], [-1, 2, 3], [1, 2], [1, 2, 3, 4]]
)
async def test_an_order_with_repeated_missing_or_unknown_numbers_scores_nothing_and_is_not_run(
    order: list[int],
) -> None:
    executor = SimulatedExecutor()
    material = sort(Double, Triple, AddOne)
    examiner = examiner_of(material, executor)
    instance = await examiner.build(Recipe(material.id, 3, 0))
    before = executor.trips
    assert await score(examiner, instance, order) == Scored(0.0)
    assert executor.trips == before


@pytest.mark.parametrize("wrong", [(Digits, Double, Total), (Total, Double, Digits), (Double, Total, Digits)])
async def test_an_order_whose_types_do_not_fit_scores_nothing_and_is_not_run(wrong: tuple[type, ...]) -> None:
    executor = SimulatedExecutor()
    material = sort(Double, Digits, Total)
    examiner = examiner_of(material, executor)
    instance = await examiner.build(Recipe(material.id, 3, 2))
    before = executor.trips
    assert await score(examiner, instance, numbers(instance, *wrong)) == Scored(0.0)
    assert executor.trips == before


@pytest.mark.parametrize("seed", range(5))
async def test_an_order_that_is_right_by_the_rules_scores_whatever_a_step_accepts(seed: int) -> None:
    material = sort(TenMoreThanEven, AddOne)
    examiner = examiner_of(material)
    instance = await examiner.build(Recipe(material.id, seed, 0))
    x, _ = instance.inputs[0]["t"]
    assert not TenMoreThanEven().accepts(AddOne().solve(x))
    assert await score(examiner, instance, numbers(instance, AddOne, TenMoreThanEven)) == Scored(1.0)


@pytest.mark.parametrize("halving", [HalfOfEven, RaisesOnOdd, TextOfOdd])
async def test_an_order_with_a_step_that_leads_elsewhere_raises_or_breaks_its_type_scores_nothing(
    halving: type,
) -> None:
    material = sort(halving, AddOne)
    examiner = examiner_of(material)
    instance = await examiner.build(Recipe(material.id, 3, 0))
    right, foreign = numbers(instance, halving, AddOne), numbers(instance, AddOne, halving)
    assert await score(examiner, instance, foreign) == Scored(0.0)
    assert await score(examiner, instance, right) == Scored(1.0)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("list[int]", "list[str]", True),
        ("dict[int, int]", "dict[str, int]", True),
        ("tuple[list[int], str]", "tuple[list[list[int]], str]", True),
        ("tuple[list[int], str]", "tuple[list[int], int]", False),
        ("tuple[int, int]", "tuple[int, int, int]", False),
        ("bool", "int", False),
        ("list[int]", "dict[int, int]", False),
    ],
)
def test_two_types_meet_where_a_value_can_be_of_both(one: str, other: str, expected: bool) -> None:
    assert meet(parse_type(one), parse_type(other)) == meet(parse_type(other), parse_type(one)) == expected


async def test_an_empty_list_may_go_to_a_step_on_lists_of_another_type_as_no_prompt_tells_types() -> None:
    steps = [member(each).material for each in (EvenDigits, Letters, Digits)]
    order = Order(tuple(steps), 2, "int", "int")  # type: ignore[arg-type]
    assert [len(order.trials(answer, {"t": [13, 0]})) for answer in ([1, 2], [2, 1], [1, 3])] == [1, 0, 0]


async def test_an_answer_without_an_order_is_unparsed() -> None:
    material = sort(Double, AddOne)
    examiner = examiner_of(material)
    instance = await examiner.build(Recipe(material.id, 3, 0))
    texts = ["[1, 2]", "<answer>[1, 2]", "<answer>Double, then add</answer>", "<answer>true</answer>"]
    told = await examiner.score_all(instance, texts)
    assert told == [Unparsed("missing"), Unparsed("unclosed"), Unparsed("malformed"), Unparsed("malformed")]


async def test_a_kill_in_a_foreign_order_is_no_verdict_and_no_members_fault() -> None:
    material = sort(HangsOnOdd, AddOne)
    examiner = examiner_of(material)
    for seed in range(10):
        instance = await examiner.build(Recipe(material.id, seed, 0))
        right, foreign = numbers(instance, HangsOnOdd, AddOne), numbers(instance, AddOne, HangsOnOdd)
        told = await examiner.score_all(instance, [write([order], ORDER) for order in (foreign, right)])
        assert isinstance(told[0], Failed) and told[0].killed
        assert not told[0].culprit and not told[0].machine
        assert told[1] == Scored(1.0)


async def test_a_broken_machine_is_no_verdict_and_what_is_not_run_needs_none() -> None:
    executor = SimulatedExecutor()
    material = sort(Double, AddOne)
    examiner = examiner_of(material, executor)
    instance = await examiner.build(Recipe(material.id, 3, 0))
    executor.broken = True
    assert await score(examiner, instance, [1, 1]) == Scored(0.0)
    told = await score(examiner, instance, [1, 2])
    assert isinstance(told, Failed) and told.machine
