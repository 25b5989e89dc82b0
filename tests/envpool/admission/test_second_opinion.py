"""Gate L3: what a second process says, where each call has a fork of its own and where all of them share one."""

from collections.abc import AsyncIterator

import pytest

from envpool.admission import Admission
from envpool.admission import draws as drawing
from envpool.admission.form import read
from envpool.admission.verdict import Refusal
from envpool.contract import Recipe
from envpool.members import Origin
from envpool.sandbox import LocalExecutor, Mode, SandboxLimits

REMEMBERS = '''
import random
from envpool import Environment

KEPT: list[int] = []


class Remembers(Environment):
    rule = "The input is a list of numbers. Give their sum."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        kept = KEPT  # by another name, which the scan does not follow
        kept.append(1)
        return [rng.randint(0, 999) for _ in range(2 + level)]

    def accepts(self, x: list[int]) -> bool:
        kept = KEPT
        kept.append(1)
        return True

    def solve(self, x: list[int]) -> int:
        return sum(x) + len(KEPT[:1])
'''
"""Its answer hangs on whether anything at all was asked before it, so the order of what was asked does not show it."""


@pytest.fixture
async def executor() -> AsyncIterator[LocalExecutor]:
    started = LocalExecutor()
    yield started
    started.close()


async def test_only_a_fork_for_each_call_shows_state_that_any_earlier_call_leaves(executor: LocalExecutor) -> None:
    candidate = await read(executor, REMEMBERS)
    recipes = [Recipe(candidate.program.id, seed, level) for level in range(3) for seed in range(5)]
    draws = await drawing.runs(executor, candidate, recipes)
    await drawing.repeats(executor, candidate, draws, mode=Mode.SAMPLE)
    with pytest.raises(Refusal, match="answer differs between two processes for seed 4, level 2"):
        await drawing.repeats(executor, candidate, draws)


async def test_one_that_hangs_where_it_is_asked_alone_hangs_once_and_falls() -> None:
    executor = LocalExecutor(SandboxLimits(cpu_seconds=0.3))
    alone = "while not KEPT:\n            pass\n        return sum(x)"
    hangs = REMEMBERS.replace("return sum(x) + len(KEPT[:1])", alone)
    try:
        verdict = await Admission(executor).judge(hangs, Origin.POLICY)
        assert (verdict.gate, executor.metrics()["verdict_cpu_limit"]) == ("L3", 1), verdict.reason
        assert "solve fails" in verdict.reason and "cpu_limit" in verdict.reason
    finally:
        executor.close()


@pytest.mark.parametrize("origin", [Origin.POLICY, Origin.USER])
async def test_new_code_is_asked_each_call_in_a_fork(executor: LocalExecutor, origin: Origin) -> None:
    verdict = await Admission(executor).judge(REMEMBERS, origin)
    assert (verdict.member, verdict.gate) == (None, "L3"), verdict.reason
