"""reasoning-gym's tasks as programs: what they are, what they ask, what the gates say of them.

A sample, for a test's time; `python -m tests.benchmarks reasoning_gym` does all tasks, with 50 references each.
"""

import ast
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
import reasoning_gym
from reasoning_gym.factory import create_curriculum

from envpool.admission import Admission
from envpool.admission.form import read
from envpool.answers import write
from envpool.contract import Instance, Recipe, Scored
from envpool.exchange.offers import UnknownTask
from envpool.exchange.reasoning_gym import FAMILY, HELD_OUT, PACKAGE, programs, tasks
from envpool.execution import Examiner
from envpool.members import Member, Origin
from envpool.sandbox import LocalExecutor
from envpool.signatures import from_wire, parse_type

OFFERS = {offer.name.removeprefix(f"{FAMILY}/"): offer for offer in programs()}
SOUND = ("chain_sum", "gcd", "word_sorting", "survo", "figlet_font", "simple_integration")
"""Some read a data file, one a font, one solves with sympy."""
ITEMS = 5
ASKED_BY_RLVE = {
    "ab": "ABProgramSimulation", "binary_alternation": "BinaryAlternation", "countdown": "CountdownEqual",
    "cryptarithm": "Cryptarithmetic", "futoshiki": "FutoshikiPuzzle", "jugs": "JugPuzzle", "kakurasu": "Kakurasu",
    "knights_knaves": "KnightsAndKnaves", "lcm": "LCM", "maze": "Maze", "n_queens": "QueenPlacement",
    "products": "Multiplication", "quantum_lock": "QuantumLockPuzzle", "shortest_path": "ShortestPath",
    "simple_integration": "Integral", "spiral_matrix": "SpiralMatrix", "sudoku": "Sudoku", "survo": "SurvoPuzzle",
}  # fmt: skip
"""Tasks that RLVE-Gym has too, by the names there."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def executor() -> AsyncIterator[LocalExecutor]:
    started = LocalExecutor(packages=(PACKAGE,))
    yield started
    started.close()


async def asked(executor: LocalExecutor, name: str, count: int) -> list[tuple[Examiner, Instance]]:
    """Questions of a task, over its first levels."""
    candidate = await read(executor, OFFERS[name].source, packages=True)
    member = Member(candidate.program, Origin.IMPORTED, evidence={"packages": [PACKAGE]})
    examiner = Examiner(executor, lambda _: member)
    return [(examiner, await examiner.build(Recipe(member.id, seed, seed % 3))) for seed in range(count)]


def oracle(instance: Instance) -> str:
    return write(
        [from_wire(each) for each in instance.references],
        [parse_type(each) for each in instance.answer_types],
    )


def test_every_task_is_on_offer_once_with_its_licence_and_ten_are_set_apart() -> None:
    assert len(OFFERS) == len(tasks()) == 105
    assert {offer.name for offer in programs() if offer.held_out} == {f"{FAMILY}/{name}" for name in HELD_OUT}
    assert len(HELD_OUT) == 10
    assert all(
        offer.packages == (PACKAGE,) and offer.facts["licence"] == "Apache-2.0" for offer in OFFERS.values()
    )
    assert len({offer.source for offer in OFFERS.values()}) == 105


def test_nothing_is_set_apart_that_another_collection_asks_too() -> None:
    assert set(ASKED_BY_RLVE) <= set(OFFERS)
    assert not set(HELD_OUT) & set(ASKED_BY_RLVE)


def test_an_unknown_task_is_answered_with_the_nearest_name() -> None:
    with pytest.raises(UnknownTask, match="did you mean 'word_sorting'"):
        programs(["word_sortin"])


def test_a_program_has_the_settings_of_its_tasks_curriculum_level_by_level() -> None:
    curriculum = create_curriculum("gcd")
    curriculum.set_global_level(2)
    config = curriculum.generate_configuration()
    written = ast.literal_eval(OFFERS["gcd"].source.partition("LEVELS = ")[2].partition("\n\n")[0])[2]
    assert written["max_value"] == config.max_value
    assert written["max_numbers"] == config.max_numbers


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("name", SOUND)
async def test_references_score_and_what_says_nothing_does_not(executor: LocalExecutor, name: str) -> None:
    for examiner, instance in await asked(executor, name, ITEMS):
        right, nothing = await examiner.score_all(instance, [oracle(instance), "<answer>qxzj</answer>"])
        assert right == Scored(1.0)
        assert nothing == Scored(0.0)


@pytest.mark.asyncio(loop_scope="module")
async def test_a_question_is_the_packages_own_and_its_score_is_too(executor: LocalExecutor) -> None:
    ((examiner, instance),) = await asked(executor, "word_sorting", 1)
    (x,) = map(from_wire, instance.inputs)
    assert isinstance(x, dict)
    level, seed = map(int, x["item"].split())
    curriculum = create_curriculum("word_sorting")
    curriculum.set_global_level(level)
    theirs = reasoning_gym.create_dataset(
        "word_sorting", seed=seed, size=1, min_words=5, max_words=10, min_word_length=3, max_word_length=5
    )
    entry = theirs[0]
    assert (entry["question"], [entry["answer"]]) == (
        x["question"],
        [from_wire(each) for each in instance.references],
    )
    assert x["question"] in instance.prompt
    answers = [entry["answer"], entry["answer"].upper(), entry["answer"][:-2], "a, b"]
    scores = await examiner.score_all(instance, [f"<answer>{answer}</answer>" for answer in answers])
    assert scores == [Scored(float(theirs.score_answer(answer, entry))) for answer in answers]


@pytest.mark.asyncio(loop_scope="module")
async def test_no_two_draws_share_an_item(executor: LocalExecutor) -> None:
    items = [instance.inputs[0] for _, instance in await asked(executor, "chain_sum", 60)]
    assert len({str(from_wire(item)["item"][3:]) for item in items}) == 60  # type: ignore[index]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("name", "gate", "reason"),
    [
        ("chain_sum", "", "passed"),
        ("rush_hour", "L2", "value is a NoneType, not a str"),  # no reference
        ("ransom_note", "L3", "differs between two processes"),  # the order of a set
        ("acre", "L4", "the same inputs as level 0"),  # no curriculum
        ("sentence_reordering", "L5", "an answer that says nothing"),  # 0.05 for whatever is said
    ],
)
async def test_the_gates_find_what_is_wrong_with_a_task(
    executor: LocalExecutor, name: str, gate: str, reason: str
) -> None:
    verdict = await Admission(executor).judge(OFFERS[name].source, Origin.IMPORTED, name=OFFERS[name].name)
    assert verdict.gate == gate, verdict.reason
    assert reason in verdict.reason
    if not gate:
        assert verdict.member is not None
        assert verdict.member.evidence["packages"] == [PACKAGE]
