"""Lessons of solving: the answer is right by the public path, and what runs are evaluated on is in none."""

from collections.abc import Iterator

import pytest

from envpool.generation.lessons import Lesson
from envpool.members import Origin
from envpool.sandbox import LocalExecutor
from envpool.shipped import Shipped
from envpool.split import is_held_out_prompt
from training.warmstart.answers import solving_lessons

TEMPLATE = """\
import random

from envpool import Environment


class {name}(Environment):
    rule = "{rule}"

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(1, 9) for _ in range(3 + level)]

    def solve(self, x: list[int]) -> int:
        return {oracle}
"""
LARGEST = TEMPLATE.format(name="Largest", rule="Give the largest number.", oracle="max(x, default=0)")
LAST = TEMPLATE.format(name="Last", rule="Give the last number.", oracle="x[-1] if x else 0")
ALSO_LAST = TEMPLATE.format(
    name="Final", rule="Give the number at the end.", oracle="x[len(x) - 1] if x else 0"
)


@pytest.fixture(scope="module")
def executor() -> Iterator[LocalExecutor]:
    made = LocalExecutor()
    yield made
    made.close()


def program(source: str, held_out: bool = False) -> Shipped:
    return Shipped(source, source, Origin.BRICK, held_out)


async def test_an_answer_is_the_right_one(executor: LocalExecutor) -> None:
    (of_one,) = await solving_lessons(executor, [program(LARGEST)], grammar=0, seed=0, each=6)
    assert len(of_one) == len(set(of_one)) >= 4
    for lesson in of_one:
        numbers = [int(word) for word in lesson.prompt.split("[")[1].split("]")[0].split(",")]
        assert lesson.reply == f"<answer>{max(numbers)}</answer>"


async def test_no_question_is_one_of_the_evaluation(executor: LocalExecutor) -> None:
    (of_one,) = await solving_lessons(executor, [program(LARGEST)], grammar=0, seed=0, each=40)
    assert not any(is_held_out_prompt(lesson.prompt) for lesson in of_one)
    assert all(lesson.prompt.startswith("Give the largest number.") for lesson in of_one)


async def test_a_family_that_is_set_apart_is_in_no_lesson_under_whatever_name(
    executor: LocalExecutor,
) -> None:
    programs = [program(LAST, held_out=True), program(ALSO_LAST), program(LARGEST)]
    lessons = await solving_lessons(executor, programs, grammar=0, seed=0, each=2)
    assert {lesson.prompt.split(".")[0] for of_one in lessons for lesson in of_one} == {
        "Give the largest number"
    }


async def test_programs_of_the_grammar_are_asked_too(executor: LocalExecutor) -> None:
    lessons = await solving_lessons(executor, [], grammar=6, seed=0, each=3)
    assert len(lessons) == 6
    assert all(
        isinstance(lesson, Lesson) and "<answer>" in lesson.reply for each in lessons for lesson in each
    )
