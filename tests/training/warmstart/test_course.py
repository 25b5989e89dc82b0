"""The course: what a step has, how the learning rate goes, and what ends it. The learner is a list."""

from collections.abc import Sequence
from itertools import count, islice

import pytest

from envpool.generation.lessons import Lesson
from training.warmstart.course import Progress, learning_rate, questions, teach
from training.warmstart.plan import WarmStart

PLAN = WarmStart(steps=40, minutes=10, warmup=4, lr=1e-3)


class Recorder:
    """Stands for the learner and for the clock: a step takes `seconds`."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.now = seconds, 0.0
        self.rates: list[float] = []

    def learn(self, programs: Sequence[Lesson], answers: Sequence[Lesson], lr: float) -> dict[str, float]:
        self.now += self.seconds
        self.rates.append(lr)
        return {"loss": 1 / len(self.rates), "tokens": 10.0 * len(programs)}

    def course(self, plan: WarmStart) -> list[Progress]:
        batches = iter([[Lesson("p", str(k))] * 2 for k in range(plan.steps + 1)])
        answers = iter([[Lesson("q", "a")]] * (plan.steps + 1))
        return list(teach(plan, batches, answers, self.learn, lambda: self.now))


def test_a_fast_machine_makes_all_steps() -> None:
    seen = Recorder(seconds=1).course(PLAN)
    assert [progress.step for progress in seen] == list(range(1, 41))
    assert seen[-1].tokens == 800 and seen[-1].seconds == 40 and seen[-1].loss == 1 / 40


def test_a_slow_machine_ends_with_the_minutes() -> None:
    recorder = Recorder(seconds=60)
    assert len(recorder.course(PLAN)) == 10
    assert recorder.now == 600


@pytest.mark.parametrize("seconds", [1.0, 30.0])
def test_the_rate_rises_and_has_fallen_when_the_course_ends(seconds: float) -> None:
    recorder = Recorder(seconds)
    recorder.course(PLAN)
    rates = recorder.rates
    top = rates.index(max(rates))
    assert rates[: top + 1] == sorted(rates[: top + 1])
    assert rates[top:] == sorted(rates[top:], reverse=True)
    assert PLAN.lr * 0.8 < max(rates) <= PLAN.lr
    assert 0.1 * PLAN.lr <= rates[-1] < 0.2 * PLAN.lr


def test_the_rate_never_falls_below_a_tenth() -> None:
    assert learning_rate(PLAN, 100, 1.5) == pytest.approx(PLAN.lr / 10)


def test_each_program_is_asked_once_before_any_is_asked_again() -> None:
    numbers = count()
    programs = [[Lesson(f"program {p}", str(next(numbers))) for _ in range(6)] for p in range(5)]
    asked = list(islice(questions(programs, 4, seed=0), 10))
    assert all(len(set(batch)) == 4 and len({lesson.prompt for lesson in batch}) == 1 for batch in asked)
    for half in (asked[:5], asked[5:]):
        assert {batch[0].prompt for batch in half} == {f"program {p}" for p in range(5)}
