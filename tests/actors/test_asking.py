"""What a validator makes of the live solver's answers: what the program breaks on, and what the machine fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from actors.asking import Models
from cluster.config import Config
from envpool.admission import Admission
from envpool.members import Origin
from envpool.sandbox import Call, InfrastructureFault, LocalExecutor, Mode, Result
from tests.envpool.admission.programs import FEASIBLE

BREAKS = "        if len(answer) == 37:\n            raise ValueError('too many')\n"
"""On answers of a length that no gate tries."""
SOURCE = FEASIBLE.replace("        numbers, target = x\n", BREAKS + "        numbers, target = x\n", 1)
LONG = f"<answer>{list(range(37))}</answer>"


@pytest.fixture(scope="module")
def executor() -> Iterator[LocalExecutor]:
    executor = LocalExecutor()
    yield executor
    executor.close()


class Solver:
    """Gives every question the same answer."""

    def __init__(self, answer: str) -> None:
        self._answer = answer

    async def generate(self, prompts: Sequence[str], n: int, *_: Any) -> list[list[dict[str, str]]]:
        return [[{"text": self._answer}] * n for _ in prompts]


class AwayWhereAnswersAreJudged:
    """Sandboxes of which none is left when the answer of the solver comes to be judged."""

    def __init__(self, executor: LocalExecutor) -> None:
        self._executor = executor

    async def run(
        self,
        source: str,
        calls: Sequence[Call],
        *,
        mode: Mode = Mode.VERIFY,
        replica: int = 0,
        packages: bool = False,
    ) -> list[Result]:
        if any(call.method == "verify" and len(call.args[1]) == 37 for call in calls):
            raise InfrastructureFault("no sandbox is left")
        return await self._executor.run(source, calls, mode=mode, replica=replica, packages=packages)


def models(sandboxes: Any) -> Models:
    actor: Any = SimpleNamespace(config=Config(), sandboxes=sandboxes, solvers=Solver(LONG), solvers_of=lambda _: None)
    return Models(actor)


async def test_a_program_that_breaks_on_an_answer_falls_as_not_valid(executor: LocalExecutor) -> None:
    verdict = await Admission(executor, calibrate=models(executor).calibrate).judge(SOURCE, Origin.POLICY)
    assert (verdict.gate, verdict.valid) == ("L5", False), verdict.reason
    assert "breaks on an answer" in verdict.reason and "too many" in verdict.reason


async def test_what_the_machine_fails_to_judge_is_no_verdict(executor: LocalExecutor) -> None:
    away = AwayWhereAnswersAreJudged(executor)
    with pytest.raises(InfrastructureFault, match="no verdict"):
        await Admission(executor, calibrate=models(away).calibrate).judge(SOURCE, Origin.POLICY)
