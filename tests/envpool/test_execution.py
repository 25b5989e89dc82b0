"""Building and scoring over the simulated executor: the logic around execution."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envpool.answers import write
from envpool.contract import Failed, Instance, Recipe, Scored, Unparsed
from envpool.execution import ATTEMPTS, Examiner, OutOfDraws, ProgramFault
from envpool.members import Composite, Member, Origin
from envpool.sandbox.results import FaultKind
from envpool.signatures import from_wire, parse_type
from envpool.split import is_held_out
from tests.envpool.composition.simulated import (
    AddOne,
    AnyDivisor,
    Digits,
    Double,
    HalfOfEven,
    Hangs,
    Power,
    Raises,
    SimulatedExecutor,
    Total,
    WrongType,
    member,
)


def sequential(*programs: type) -> Member:
    ids = tuple(member(each).id for each in programs)
    return Member(Composite("SEQUENTIAL", (ids,), "int", "int"), Origin.COMPOSER)


def parallel(*chains: tuple[type, ...]) -> Member:
    ids = tuple(tuple(member(each).id for each in chain) for chain in chains)
    return Member(Composite("PARALLEL", ids, "tuple[int, int]", "tuple[int, int]"), Origin.COMPOSER)


def examiner_of(material: Member, executor: SimulatedExecutor | None = None) -> Examiner:
    programs = (AddOne, AnyDivisor, Digits, Double, HalfOfEven, Hangs, Power, Raises, Total, WrongType)
    pool = {each.id: each for each in [material, *map(member, programs)]}
    return Examiner(executor or SimulatedExecutor(), pool.__getitem__)


def perfect(instance: Instance) -> str:
    types = [parse_type(text) for text in instance.answer_types]
    return write([from_wire(reference) for reference in instance.references], types)


def answer(*slots: object) -> str:
    return "<answer>\n" + "".join(f"{n}: {slot}\n" for n, slot in enumerate(slots, 1)) + "</answer>"


async def test_a_program_is_asked_by_its_rule_its_input_and_an_answer_line() -> None:
    total = member(Total)
    instance = await examiner_of(total).build(Recipe(total.id, 1, 0))
    shown = str(instance.inputs[0])
    expected = f"Add up the input list.\n\nInput: {shown}\n\nAnswer as <answer>number</answer>"
    assert instance.prompt == expected
    assert instance.references == (sum(instance.inputs[0]),)


@pytest.mark.parametrize(
    "material",
    [
        member(Total),
        member(AnyDivisor),
        sequential(Double, AddOne, Digits, Total),
        parallel((Double,), (AnyDivisor,), (Digits, Total)),
    ],
)
async def test_the_reference_scores_one_through_the_public_path(material: Member) -> None:
    examiner = examiner_of(material)
    for seed in range(20):
        instance = await examiner.build(Recipe(material.id, seed, 1))
        assert await examiner.score(instance, f"I think so. {perfect(instance)}") == Scored(1.0)


async def test_a_recipe_rebuilds_its_instance_and_another_seed_another() -> None:
    material = sequential(Double, AddOne)
    recipe = Recipe(material.id, 7, 2)
    first = await examiner_of(material).build(recipe)
    assert await examiner_of(material).build(first.recipe) == first
    assert (await examiner_of(material).build(Recipe(material.id, 8, 2))).prompt != first.prompt


async def test_an_equality_oracle_is_judged_without_a_round_trip() -> None:
    executor = SimulatedExecutor()
    total = member(Total)
    examiner = examiner_of(total, executor)
    instance = await examiner.build(Recipe(total.id, 1, 0))
    before = executor.trips
    right = instance.references[0]
    outcomes = await examiner.score_all(instance, [f"<answer>{right}</answer>", "<answer>-1</answer>"])
    assert outcomes == [Scored(1.0), Scored(0.0)]
    assert executor.trips == before


async def test_programs_that_verify_judge_all_responses_in_one_round_trip() -> None:
    executor = SimulatedExecutor()
    material = member(AnyDivisor)
    examiner = examiner_of(material, executor)
    instance = await examiner.build(Recipe(material.id, 1, 0))
    before = executor.trips
    texts = [f"<answer>{number}</answer>" for number in (instance.references[0], 11)] + ["no idea"]
    outcomes = await examiner.score_all(instance, texts)
    assert outcomes == [Scored(1.0), Scored(0.0), Unparsed("missing")]
    assert executor.trips == before + 1


async def test_any_valid_answer_to_a_feasibility_oracle_scores() -> None:
    material = member(AnyDivisor)
    examiner = examiner_of(material)
    instance = await examiner.build(Recipe(material.id, 3, 0))
    whole = instance.inputs[0]
    planted = instance.references[0]
    assert whole % planted == 0
    assert await examiner.score(instance, f"<answer>{whole if whole % 2 else planted}</answer>") == Scored(
        1.0
    )
    assert await examiner.score(instance, "<answer>11</answer>") == Scored(0.0)


async def test_a_chain_scores_its_longest_correct_prefix() -> None:
    material = sequential(Double, AddOne, Double, AddOne)
    examiner = examiner_of(material)
    instance = await examiner.build(Recipe(material.id, 3, 0))
    right = list(instance.references)
    assert instance.inputs == (right[0] // 2, *right[:3])
    assert await examiner.score(instance, answer(*right)) == Scored(1.0)
    assert await examiner.score(instance, answer(*right[:3], -5)) == Scored(0.75)
    assert await examiner.score(instance, answer(right[0], -5, *right[2:])) == Scored(0.25)
    assert await examiner.score(instance, answer("soon", *right[1:])) == Scored(0.0)


async def test_a_chain_shows_its_input_and_its_rules_in_order() -> None:
    material = sequential(Double, AddOne)
    instance = await examiner_of(material).build(Recipe(material.id, 3, 0))
    assert instance.prompt.splitlines()[1:5] == [
        "Step 1: Double the input number.",
        "Step 2: Add one to the input number.",
        "",
        f"Input: {instance.inputs[0]}",
    ]


async def test_parallel_problems_score_the_share_of_correct_answers() -> None:
    material = parallel((Double,), (AnyDivisor,), (Digits, Total), (AddOne,))
    examiner = examiner_of(material)
    instance = await examiner.build(Recipe(material.id, 3, 0))
    right = list(instance.references)
    assert await examiner.score(instance, answer(-5, *right[1:])) == Scored(0.75)
    assert await examiner.score(instance, answer(right[0], "x", -5, "y")) == Scored(0.25)


async def test_draws_of_parallel_problems_differ() -> None:
    material = parallel((Double,), (AddOne,))
    instance = await examiner_of(material).build(Recipe(material.id, 3, 5))
    assert instance.inputs[0] != instance.inputs[1]


async def test_an_answer_that_cannot_be_read_is_told_apart_from_a_wrong_one() -> None:
    material = sequential(Double, AddOne)
    examiner = examiner_of(material)
    instance = await examiner.build(Recipe(material.id, 3, 0))
    texts = ["42", "<answer>1: 2", answer("x", "y"), answer("x", -5)]
    outcomes = await examiner.score_all(instance, texts)
    assert outcomes == [Unparsed("missing"), Unparsed("unclosed"), Unparsed("malformed"), Scored(0.0)]


async def test_attempts_advance_until_the_whole_chain_runs() -> None:
    material = sequential(Double, HalfOfEven, HalfOfEven)  # the last step accepts even numbers only
    examiner = examiner_of(material)
    built = [await examiner.build(Recipe(material.id, seed, 1)) for seed in range(20)]
    assert {instance.recipe.attempt > 0 for instance in built} == {True, False}
    assert all(instance.inputs[2] % 2 == 0 for instance in built)
    assert [await examiner.build(instance.recipe) for instance in built] == built


@pytest.mark.parametrize("last", [Raises, WrongType, Power])
async def test_a_chain_that_never_runs_has_no_instance_whatever_the_draw(last: type) -> None:
    material = sequential(Double, last, AddOne)
    executor = SimulatedExecutor()
    with pytest.raises(OutOfDraws) as caught:
        await examiner_of(material, executor).build(Recipe(material.id, 1, 0))
    assert caught.value.member == material.id
    assert executor.trips <= 4 * ATTEMPTS


async def test_a_recipe_that_runs_out_of_draws_has_no_instance_to_train_on_and_is_nobodys_fault() -> None:
    material = sequential(Double, Raises)
    executor = SimulatedExecutor()
    examiner = examiner_of(material, executor)
    for side in (True, False):
        executor.trips = 0
        assert await examiner.build_split(Recipe(material.id, 1, 0), held_out=side) is None
        assert executor.trips <= 4 * ATTEMPTS, "and is given up at once"


async def test_a_kill_inside_a_chain_is_a_fault_at_once() -> None:
    material = sequential(Double, Hangs)
    executor = SimulatedExecutor()
    with pytest.raises(ProgramFault) as caught:
        await examiner_of(material, executor).build(Recipe(material.id, 1, 0))
    assert (caught.value.member, caught.value.fault.kind) == (material.id, FaultKind.CPU_LIMIT)
    assert executor.trips == 4, "sample, solve, accepts, and the solve that hangs"


@pytest.mark.parametrize(
    ("program", "kind"), [(Raises, FaultKind.CODE_ERROR), (WrongType, FaultKind.ILLEGAL_VALUE)]
)
async def test_a_fault_in_a_program_by_itself_is_its_own(program: type, kind: FaultKind) -> None:
    material = member(program)
    with pytest.raises(ProgramFault) as caught:
        await examiner_of(material).build(Recipe(material.id, 1, 0))
    assert (caught.value.member, caught.value.fault.kind) == (material.id, kind)


async def test_a_verify_that_fails_drops_the_sample_and_blames_the_program() -> None:
    material = member(AnyDivisor)
    examiner = examiner_of(material)
    instance = await examiner.build(Recipe(material.id, 3, 0))
    for bad in (666, 777):  # raises; gives NaN
        outcome = await examiner.score(instance, f"<answer>{bad}</answer>")
        assert isinstance(outcome, Failed)
        assert outcome.culprit == material.id
        assert outcome.reason.startswith(f"quarantine: {material.id}")


async def test_a_part_that_fails_in_a_verdict_is_itself_to_blame_and_not_what_it_is_a_part_of() -> None:
    material = parallel((AnyDivisor,), (Double,))
    examiner = examiner_of(material)
    instance = await examiner.build(Recipe(material.id, 3, 0))
    outcome = await examiner.score(instance, "<answer>\n1: 666\n2: 1\n</answer>")
    assert isinstance(outcome, Failed) and outcome.culprit == member(AnyDivisor).id


async def test_a_broken_machine_drops_the_sample_and_blames_nobody() -> None:
    executor = SimulatedExecutor()
    material = member(AnyDivisor)
    examiner = examiner_of(material, executor)
    instance = await examiner.build(Recipe(material.id, 3, 0))
    executor.broken = True
    failed, unread = await examiner.score_all(instance, ["<answer>3</answer>", "none"])
    assert isinstance(failed, Failed) and failed.machine
    assert unread == Unparsed("missing")


async def test_the_split_is_reached_by_further_draws_of_the_same_recipe() -> None:
    material = member(Total)
    examiner = examiner_of(material)
    for side in (True, False):
        for seed in range(10):
            instance = await examiner.build_split(Recipe(material.id, seed, 2), held_out=side)
            assert is_held_out(instance) == side
            assert await examiner.build(instance.recipe) == instance


@pytest.mark.parametrize(
    "material", [sequential(Digits, Total, Double), parallel((Double,), (Digits, Total))]
)
async def test_no_step_trained_on_is_a_held_out_question_of_its_program(material: Member) -> None:
    examiner = examiner_of(material)
    held_out = {}
    for program in (Digits, Total, Double):
        for seed in range(300):
            single = await examiner.build(Recipe(member(program).id, seed, 0))
            held_out[program.rule, str(single.inputs[0])] = is_held_out(single)
    assert any(held_out.values())
    for seed in range(60):
        instance = await examiner.build_split(Recipe(material.id, seed, 0), held_out=False)
        chain = (
            [(Digits, 0), (Total, 1), (Double, 2)] if len(instance.inputs) == 3 else [(Double, 0), (Total, 1)]
        )
        for program, slot in chain:
            assert not held_out.get((program.rule, str(instance.inputs[slot])), False)


async def test_a_side_without_instances_is_given_up() -> None:
    material = member(AnyDivisor)
    examiner = examiner_of(material)
    sides = [await examiner.build_split(Recipe(material.id, 1, 0), side, tries=1) for side in (True, False)]
    assert sides.count(None) == 1


@settings(max_examples=60, deadline=None)
@given(text=st.text(max_size=60), seed=st.integers(0, 5))
async def test_no_response_breaks_scoring(text: str, seed: int) -> None:
    for material in (member(AnyDivisor), sequential(Double, AddOne), parallel((Double,), (AnyDivisor,))):
        examiner = examiner_of(material)
        instance = await examiner.build(Recipe(material.id, seed, 0))
        for response in (text, f"<answer>{text}</answer>", answer(text, text)):
            outcome = await examiner.score(instance, response)
            assert isinstance(outcome, Unparsed) or 0.0 <= outcome.score <= 1.0


async def test_a_step_is_not_run_on_what_it_does_not_accept() -> None:
    """There it may run until it is killed."""
    material = sequential(AddOne, HalfOfEven)
    executor = SimulatedExecutor()
    for seed in range(8):
        await examiner_of(material, executor).build(Recipe(material.id, seed, 1))
    halved = [x for name, x in executor.solved if name == "HalfOfEven"]
    assert halved and all(x % 2 == 0 for x in halved)
