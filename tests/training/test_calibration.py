"""Calibrating a policy that joins: real pool, real sandbox, answers that are written here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from envpool.answer_counts import AnswerCount, Counts
from envpool.execution import Examiner
from envpool.members import Composite, Member, Origin, Program, Status
from envpool.sandbox import Call, InfrastructureFault, LocalExecutor, Mode, Result
from envpool.split import is_held_out_prompt
from envpool.store import PoolWriter
from tests.envpool.composition.simulated import AddOne, AnyDivisor, Double, HangsOnOdd, SimulatedExecutor
from tests.envpool.composition.simulated import member as simulated
from training.calibration import Calibrated, Calibration, Due, answered, due
from training.policy.errors import GenerationRefused

SOURCE = """import random
from envpool import Environment


class {name}(Environment):
    rule = "Add {add}."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(1, 10000)

    def solve(self, x: int) -> int:
        return {body}
"""
M = 4


def member(name: str, add: int, body: str = "", held_out: bool = False) -> Member:
    source = SOURCE.format(name=name, add=add, body=body or f"x + {add}")
    return Member(
        Program(source, name, f"Add {add}.", "int", "int", "equality"), Origin.BRICK, held_out=held_out
    )


ONE, TWO, BROKEN, APART = (
    member("One", 1),
    member("Two", 2),
    member("Broken", 3, "1 // 0"),
    member("Apart", 4, held_out=True),
)


class Failing:
    """An executor whose machine fails at every call of one program."""

    def __init__(self, executor: LocalExecutor, source: str) -> None:
        self.executor, self.source = executor, source

    async def run(
        self,
        source: str,
        calls: Sequence[Call],
        *,
        mode: Mode = Mode.VERIFY,
        replica: int = 0,
        packages: bool = False,
    ) -> list[Result]:
        if source == self.source:
            raise InfrastructureFault("the machine is gone")
        return await self.executor.run(source, calls, mode=mode, replica=replica, packages=packages)


@pytest.fixture(scope="module")
def executor() -> Iterator[LocalExecutor]:
    executor = LocalExecutor()
    yield executor
    executor.close()


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[PoolWriter]:
    with PoolWriter.open(tmp_path / "pool", 1 << 24) as writer:
        for each in (ONE, TWO, BROKEN, APART):
            writer.admit(each)
        yield writer


def adding(number: int) -> Callable[[str], str]:
    """A policy that always adds the same number."""
    return lambda prompt: f"<answer>{int(prompt.split('Input: ')[1].split()[0]) + number}</answer>"


async def calibrated(
    executor: object, pool: PoolWriter, members: Sequence[Due], answer: Callable[[str], str]
) -> tuple[Calibrated, list[str]]:
    """The result and the prompts that were asked."""
    asked: list[str] = []

    async def ask(prompts: Sequence[str]) -> list[str | GenerationRefused]:
        asked.extend(prompts)
        found: list[str | GenerationRefused] = []
        for prompt in prompts:
            try:
                found.append(answer(prompt))
            except GenerationRefused as refusal:
                found.append(refusal)
        return found

    examiner = Examiner(executor, lambda id: pool.get(id))  # type: ignore[arg-type, return-value]
    return await Calibration("guest", examiner, ask).calibrate(members), asked


def test_every_active_member_that_is_not_held_out_is_due(pool: PoolWriter) -> None:
    pool.transition(TWO.id, Status.RESTING, "a test")
    assert {each.member for each in due(pool, "guest", M)} == {ONE.id, BROKEN.id}


def test_only_missing_answers_are_due_and_only_those_of_this_policy_at_its_level_count(
    pool: PoolWriter,
) -> None:
    pool.record([AnswerCount(ONE.id, "main", 0, 100), AnswerCount(ONE.id, "guest", 0, 3, failures=2)])
    pool.record([AnswerCount(TWO.id, "guest", 0, M)])
    left = {each.member: each for each in due(pool, "guest", M)}
    assert left[ONE.id] == Due(ONE.id, 0, missing=1, asked=5)
    assert TWO.id not in left
    pool.set_level(TWO.id, "guest", 1, "a test")
    assert Due(TWO.id, 1, M) in due(pool, "guest", M)


def test_what_is_always_solved_is_due_at_the_next_level_as_far_as_the_gates_looked(pool: PoolWriter) -> None:
    def levels() -> dict[str, int]:
        return {each.member: each.level for each in due(pool, "guest", M, 3)}

    pool.record([AnswerCount(ONE.id, "guest", 0, M, M, M), AnswerCount(TWO.id, "guest", 0, M, M - 1, M)])
    assert levels() == {ONE.id: 1, BROKEN.id: 0}
    pool.record([AnswerCount(ONE.id, "guest", 1, M, M, M)])
    assert levels()[ONE.id] == 2
    pool.record([AnswerCount(ONE.id, "guest", 2, M, M, M)])
    assert ONE.id not in levels(), "the last level at which the gates held"


def test_a_composite_has_no_further_level(pool: PoolWriter) -> None:
    chain = Member(Composite("SEQUENTIAL", ((ONE.id, TWO.id),), "int", "int"), Origin.COMPOSER)
    pool.admit(chain)
    pool.record([AnswerCount(chain.id, "guest", 0, M, M, M)])
    assert chain.id not in {each.member for each in due(pool, "guest", M, 3)}


def test_a_composite_is_due_at_the_level_it_was_measured_at(pool: PoolWriter) -> None:
    chain = Composite("SEQUENTIAL", ((ONE.id, TWO.id),), "int", "int")
    fused = Member(chain, Origin.COMPOSER, evidence={"level": 2})
    pool.admit(fused)
    assert Due(fused.id, 2, M) in due(pool, "guest", M, 3)
    pool.record([AnswerCount(fused.id, "guest", 2, M, M, M)])
    assert fused.id not in {each.member for each in due(pool, "guest", M, 3)}


async def test_each_member_gets_its_answers_judged_by_its_own_program(
    pool: PoolWriter, executor: LocalExecutor
) -> None:
    members = [each for each in due(pool, "guest", M) if each.member != BROKEN.id]
    result, asked = await calibrated(executor, pool, members, adding(1))
    counted = {count.member: count.counts for count in result.counts}
    assert counted == {ONE.id: Counts(M, M, M), TWO.id: Counts(M, 0, M)}
    assert all(count.policy == "guest" and count.level == 0 for count in result.counts)
    assert len(set(asked)) == len(asked) == 2 * M
    assert not any(map(is_held_out_prompt, asked))


async def test_going_on_asks_other_questions_until_nothing_is_due(
    pool: PoolWriter, executor: LocalExecutor
) -> None:
    first = [Due(ONE.id, 0, missing=2)]
    result, asked = await calibrated(executor, pool, first, adding(1))
    pool.record(result.counts)
    left = [each for each in due(pool, "guest", M) if each.member == ONE.id]
    result, asked_later = await calibrated(executor, pool, left, adding(1))
    pool.record(result.counts)
    assert len(asked_later) == M - 2 and not set(asked) & set(asked_later)
    assert ONE.id not in {each.member for each in due(pool, "guest", M)}
    assert answered(pool, "guest", M) == (1, 1.0)


async def test_every_policy_is_asked_the_same_questions(pool: PoolWriter, executor: LocalExecutor) -> None:
    _, asked = await calibrated(executor, pool, [Due(ONE.id, 0, M)], adding(1))
    _, again = await calibrated(executor, pool, [Due(ONE.id, 0, M)], adding(2))
    assert asked == again


async def test_an_unreadable_answer_counts_as_an_answer(pool: PoolWriter, executor: LocalExecutor) -> None:
    result, _ = await calibrated(executor, pool, [Due(ONE.id, 0, M)], lambda prompt: "no idea")
    (count,) = result.counts
    assert count.counts == Counts(M, 0, 0)


async def test_a_failure_of_the_machine_is_told_and_is_no_answer(
    pool: PoolWriter, executor: LocalExecutor
) -> None:
    failing = Failing(executor, ONE.material.source)  # type: ignore[union-attr]
    members = [Due(ONE.id, 0, M), Due(TWO.id, 0, M)]
    result, asked = await calibrated(failing, pool, members, adding(2))
    assert [count.member for count in result.counts] == [TWO.id] and len(asked) == M
    assert "the machine is gone" in result.troubles[0] and not result.broken


async def test_a_program_that_breaks_is_told_and_the_others_go_on(
    pool: PoolWriter, executor: LocalExecutor
) -> None:
    result, _ = await calibrated(executor, pool, due(pool, "guest", M), adding(1))
    assert set(result.broken) == {BROKEN.id}
    assert {count.member for count in result.counts} == {ONE.id, TWO.id}


async def test_a_part_that_breaks_in_a_verdict_is_told_and_not_what_it_is_a_part_of(pool: PoolWriter) -> None:
    divisor, double = map(simulated, (AnyDivisor, Double))
    problems = Member(Composite("PARALLEL", ((divisor.id,), (double.id,)), "int", "int"), Origin.COMPOSER)
    for each in (divisor, double, problems):
        pool.admit(each)
    members, answer = [Due(problems.id, 0, M)], "<answer>\n1: 666\n2: 1\n</answer>"
    result, _ = await calibrated(SimulatedExecutor(), pool, members, lambda prompt: answer)
    assert set(result.broken) == {divisor.id}


async def test_an_order_that_was_killed_is_no_trouble_of_the_machine_and_another_question_is_next(
    pool: PoolWriter,
) -> None:
    halving, adding_one = map(simulated, (HangsOnOdd, AddOne))
    order = Member(Composite("SORT", ((halving.id, adding_one.id),), "int", "int"), Origin.COMPOSER)
    for each in (halving, adding_one, order):
        pool.admit(each)
    # Of some questions it is the right order; of the others one that halves an odd number, which never ends.
    answer = "<answer>[1, 2]</answer>"
    result, _ = await calibrated(SimulatedExecutor(), pool, [Due(order.id, 0, 4 * M)], lambda prompt: answer)
    (count,) = result.counts
    assert count.successes == count.attempts and 0 < count.failures < 4 * M
    assert count.attempts + count.failures == 4 * M
    assert not result.troubles and not result.broken


async def test_a_prompt_that_the_policy_cannot_be_asked_is_told_and_is_no_answer(
    pool: PoolWriter, executor: LocalExecutor
) -> None:
    def answer(prompt: str) -> str:
        if "Add 1" in prompt:
            raise GenerationRefused("too long")
        return adding(2)(prompt)

    result, _ = await calibrated(executor, pool, [Due(ONE.id, 0, M), Due(TWO.id, 0, M)], answer)
    assert result.refused == {ONE.id: "too long"}
    assert {count.member: count.attempts for count in result.counts} == {TWO.id: M}


async def test_nothing_due_asks_nothing(pool: PoolWriter, executor: LocalExecutor) -> None:
    result, asked = await calibrated(executor, pool, [], adding(1))
    assert asked == [] and result == Calibrated()
