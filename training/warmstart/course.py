"""The course of a warm start: which lessons a step has, at what rate it learns, and when it ends.

Invariant: each step has one request with several programs and several questions of one program; the course ends with
the plan's steps or minutes, whichever comes first, and the learning rate has fallen by then either way, so that a slow
machine gets a shorter course and no torn one. Who learns comes in as a callable; nothing here knows verl.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from envpool.generation.lessons import Lesson
from training.warmstart.plan import WarmStart

LOWEST = 0.1
"""Share of the highest learning rate that is left at the end."""

Step = Callable[[Sequence[Lesson], Sequence[Lesson], float], dict[str, float]]
"""Programs, answers and a learning rate, to the metrics of one optimiser step."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a course stands."""

    step: int
    share: float
    """of the course, by steps or by time"""
    loss: float
    """of this step"""
    tokens: int
    """of replies, learned so far"""
    seconds: float


def learning_rate(plan: WarmStart, step: int, share: float) -> float:
    """At a step (from 0), when this share of the course is over."""
    rising = min(1.0, (step + 1) / plan.warmup)
    falling = max(LOWEST, 1 - share * (1 - LOWEST))
    return plan.lr * rising * falling


def questions(of_programs: Sequence[Sequence[Lesson]], count: int, seed: int) -> Iterator[list[Lesson]]:
    """`count` questions of one program after the other, without end, in another order each time round."""
    rng = random.Random(seed)
    while True:
        for lessons in rng.sample(of_programs, len(of_programs)):
            yield rng.sample(lessons, min(count, len(lessons)))


def teach(
    plan: WarmStart,
    writing: Iterator[list[Lesson]],
    solving: Iterator[list[Lesson]],
    learn: Step,
    clock: Callable[[], float],
) -> Iterator[Progress]:
    """Learn step by step; yields after each. The first step counts as steps do, though it warms the machine up."""
    started, tokens = clock(), 0
    for step in itertools.count():
        share = max(step / plan.steps, (clock() - started) / (60 * plan.minutes))
        if share >= 1:
            return
        metrics = learn(next(writing), next(solving), learning_rate(plan, step, share))
        tokens += int(metrics["tokens"])
        yield Progress(step + 1, min(1.0, share), metrics["loss"], tokens, clock() - started)
