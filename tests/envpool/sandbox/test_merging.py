"""Tasks that ask the same program at once are one round trip, and each gets what it asked for."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envpool.sandbox import (
    Call,
    Executor,
    Fault,
    FaultKind,
    InfrastructureFault,
    LocalExecutor,
    Mode,
    Result,
    Value,
)
from envpool.sandbox.merging import Merging

STEPS = """
from envpool import Environment


class Half(Environment):
    rule = "Half of the input."

    def sample(self, rng, level):
        return 2

    def solve(self, x: int) -> int:
        while x == 13:
            pass
        if x % 2:
            raise ValueError("odd")
        return x // 2
"""


class Written:
    """Says back what it was asked, and keeps what came in one job."""

    def __init__(self, fails: str = "") -> None:
        self.jobs: list[tuple[str, Mode, int, bool, int]] = []
        self._fails = fails

    async def run(
        self,
        source: str,
        calls: Sequence[Call],
        *,
        mode: Mode = Mode.VERIFY,
        replica: int = 0,
        packages: bool = False,
    ) -> list[Result]:
        self.jobs.append((source, mode, replica, packages, len(calls)))
        await asyncio.sleep(0)
        if source == self._fails:
            raise InfrastructureFault("the machine")
        return [Value((source, call.args[0])) for call in calls]


def asked(executor: Executor, *jobs: tuple[str, list[int]]) -> list[object]:
    async def together() -> list[object]:
        runs = [executor.run(source, [Call("solve", (x,)) for x in values]) for source, values in jobs]
        return await asyncio.gather(*runs, return_exceptions=True)

    return asyncio.run(together())


@given(st.lists(st.tuples(st.sampled_from("ab"), st.lists(st.integers(), max_size=4)), max_size=12))
def test_each_task_gets_the_results_of_its_own_calls_and_a_program_is_asked_once(
    jobs: list[tuple[str, list[int]]],
) -> None:
    executor = Written()
    assert asked(Merging(executor), *jobs) == [
        [Value((source, x)) for x in values] for source, values in jobs
    ]
    assert len(executor.jobs) == len({source for source, _ in jobs})


def test_jobs_with_forks_of_their_own_replicas_and_rights_are_not_put_together() -> None:
    executor = Written()
    merging = Merging(executor)

    async def all_kinds() -> None:
        calls = [Call("solve", (1,))]
        kinds = [
            {"mode": Mode.VALIDATE}, {"mode": Mode.VALIDATE}, {"replica": 1}, {"replica": 1}, {"packages": True}, {}
        ]  # fmt: skip
        await asyncio.gather(*(merging.run("a", calls, **kind) for kind in kinds))

    asyncio.run(all_kinds())
    assert sorted(executor.jobs) == sorted(
        [
            ("a", Mode.VALIDATE, 0, False, 1),
            ("a", Mode.VALIDATE, 0, False, 1),
            ("a", Mode.VERIFY, 1, False, 2),
            ("a", Mode.VERIFY, 0, True, 1),
            ("a", Mode.VERIFY, 0, False, 1),
        ]
    )


def test_trouble_of_the_machine_reaches_all_who_asked_that_program_and_nobody_else() -> None:
    results = asked(Merging(Written(fails="a")), ("a", [1]), ("b", [2]), ("a", [3]))
    assert [type(each) for each in results] == [InfrastructureFault, list, InfrastructureFault]


def test_a_task_that_is_cancelled_takes_nothing_from_the_others() -> None:
    async def one_leaves() -> list[Result]:
        merging = Merging(Written())
        leaver = asyncio.create_task(merging.run("a", [Call("solve", (1,))]))
        stayer = asyncio.create_task(merging.run("a", [Call("solve", (2,))]))
        await asyncio.sleep(0)
        leaver.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaver
        return await stayer

    assert asyncio.run(one_leaves()) == [Value(("a", 2))]


def test_in_the_sandbox_a_call_that_is_killed_or_raises_spoils_no_other_tasks_calls() -> None:
    executor = LocalExecutor()
    try:
        killed, odd, fine, both = asked(
            Merging(executor), (STEPS, [13]), (STEPS, [3]), (STEPS, [4]), (STEPS, [5, 6])
        )
    finally:
        executor.close()
    assert isinstance(killed, list) and isinstance(killed[0], Fault) and killed[0].kind is FaultKind.CPU_LIMIT
    assert isinstance(odd, list) and isinstance(odd[0], Fault) and odd[0].kind is FaultKind.CODE_ERROR
    assert fine == [Value(2)]
    assert isinstance(both, list) and isinstance(both[0], Fault) and both[1] == Value(3)
