"""Which solver is asked when there are several, and when one leaves, is away or has not started."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from actors.peers import PeerRetired, PeerUnavailable
from actors.solvers import SolverGroup, SolverLeaving
from training.policy.errors import GenerationRefused


class ScriptedSolver:
    """In place of a peer: answers with its name, or fails as it is told."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.started = asyncio.Event()
        self.started.set()
        self.fails: Exception | None = None
        self.held = asyncio.Event()
        self.held.set()
        self.asked = 0
        self.most_under_way = self._under_way = 0

    async def ready(self) -> str:
        await self.started.wait()
        return self.name

    async def generate(self, prompts: list[str], n: int, *rest: Any) -> list[list[dict[str, Any]]]:
        self.asked += len(prompts)
        if self.fails is not None:
            raise self.fails
        if bad := [prompt for prompt in prompts if "long" in prompt]:
            raise GenerationRefused(f"{bad[0]} does not fit")
        self._under_way += len(prompts)
        self.most_under_way = max(self.most_under_way, self._under_way)
        await self.held.wait()
        self._under_way -= len(prompts)
        return [[{"text": f"{self.name}: {prompt}"}] * n for prompt in prompts]


class ScriptedSolvers(dict[str, ScriptedSolver]):
    """In place of `Peers`."""

    def __missing__(self, name: str) -> ScriptedSolver:
        self[name] = ScriptedSolver(name)
        return self[name]


def group(solvers: ScriptedSolvers, count: int, patience: float = 30.0) -> SolverGroup:
    return SolverGroup(solvers, lambda: [f"solver-{index}" for index in range(count)], patience)  # type: ignore[arg-type]


async def who(solvers: SolverGroup, *prompts: str) -> list[str]:
    answers = await solvers.generate(prompts or ("a question",), 1, 8, 1.0)
    return [answer[0]["text"].split(":")[0] for answer in answers]


async def test_prompts_that_come_together_stay_together() -> None:
    assert len(set(await who(group(ScriptedSolvers(), 3), "a", "b", "c"))) == 1


async def test_the_one_with_the_fewest_under_way_is_asked() -> None:
    solvers = ScriptedSolvers()
    asked = group(solvers, 2)
    await who(asked)
    await who(asked)
    solvers["solver-0"].held.clear()
    long = asyncio.create_task(who(asked))
    await asyncio.sleep(0)
    assert await who(asked) == ["solver-1"]
    solvers["solver-0"].held.set()
    assert await long == ["solver-0"]


async def test_questions_that_are_asked_apart_are_spread_over_all() -> None:
    solvers = ScriptedSolvers()
    for index in range(3):
        solvers[f"solver-{index}"].held.clear()
    asking = asyncio.create_task(
        group(solvers, 3).ask_each([f"question {index}" for index in range(30)], 2, 8, 1.0)
    )
    while sum(solver.asked for solver in solvers.values()) < 30:
        await asyncio.sleep(0)
    for solver in solvers.values():
        solver.held.set()
    answers = await asking
    assert [answer[0]["text"].split(": ")[1] for answer in answers] == [f"question {n}" for n in range(30)]  # type: ignore[index]
    assert Counter(answer[0]["text"].split(":")[0] for answer in answers) == {  # type: ignore[index]
        f"solver-{index}": 10 for index in range(3)
    }


async def test_one_question_that_does_not_fit_takes_no_other_with_it() -> None:
    answers = await group(ScriptedSolvers(), 2).ask_each(["short", "too long", "brief"], 1, 8, 1.0)
    assert [isinstance(answer, GenerationRefused) for answer in answers] == [False, True, False]


async def test_a_refusal_is_the_callers_and_not_tried_elsewhere() -> None:
    solvers = ScriptedSolvers()
    with pytest.raises(GenerationRefused):
        await who(group(solvers, 2), "too long")
    assert sum(solver.asked for solver in solvers.values()) == 1


@pytest.mark.parametrize(
    "gone", [SolverLeaving("scaled away"), PeerRetired("scaled away"), PeerUnavailable("dead")]
)
async def test_who_leaves_or_is_away_is_passed_over(gone: Exception) -> None:
    solvers = ScriptedSolvers()
    solvers["solver-0"].fails = gone
    assert await who(group(solvers, 2)) == ["solver-1"]


async def test_one_that_has_not_started_is_not_waited_for_while_another_serves() -> None:
    solvers = ScriptedSolvers()
    asked = group(solvers, 2)
    solvers["solver-0"].started.clear()
    assert await who(asked) == ["solver-1"]
    solvers["solver-0"].started.set()
    await asyncio.sleep(0.01)
    assert await who(asked) == ["solver-0"]


async def test_where_the_only_one_is_away_it_is_waited_for() -> None:
    solvers = ScriptedSolvers()
    solvers["solver-0"].fails = PeerUnavailable("dead")
    waiting = asyncio.create_task(who(group(solvers, 1)))
    await asyncio.sleep(0.05)
    solvers["solver-0"].fails = None
    assert await waiting == ["solver-0"]


async def test_patience_ends_with_the_names_of_those_that_did_not_answer() -> None:
    solvers = ScriptedSolvers()
    solvers["solver-0"].fails = PeerUnavailable("dead")
    with pytest.raises(PeerUnavailable, match="solver-0"):
        await who(group(solvers, 1, patience=0.1))


async def test_a_policy_that_is_detached_has_no_solver_to_wait_for() -> None:
    with pytest.raises(PeerRetired):
        await who(group(ScriptedSolvers(), 0))
