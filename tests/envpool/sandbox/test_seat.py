"""The CPU that a thread and the child it asks share: only for quick calls, and never for good."""

import itertools
import os
import signal
from collections.abc import Iterator

import pytest
from hostile import HONEST, program
from processes import alive, wait_for
from small_limits import TIGHT

from envpool.sandbox import Call, Sandbox, Value, child
from envpool.sandbox.seat import Seat

ANYWHERE = os.sched_getaffinity(0)
SUM = [Call("solve", ([1, 2],))]
SLOW = program("total = 0\nwhile total < x: total += 1\nreturn total")

pytestmark = pytest.mark.skipif(len(ANYWHERE) < 2, reason="one CPU: nothing to choose")


@pytest.fixture
def own() -> Iterator[Sandbox]:
    with Sandbox(TIGHT) as started:
        yield started


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine, a quick call is taken for one."""
    monkeypatch.setattr(child, "TURN", 10.0)


def child_of(sandbox: Sandbox) -> int:
    [opened] = sandbox._children.values()
    return opened.pid


def may_move(pid: int) -> bool:
    try:
        os.sched_setaffinity(pid, ANYWHERE)
    except PermissionError:
        return False
    return True


def test_a_child_of_quick_calls_sits_on_one_cpu_and_its_owner_is_free_after_the_job(
    own: Sandbox, patient: None
) -> None:
    own.run(HONEST, SUM)
    if not may_move(child_of(own)):
        pytest.skip("the node forbids moving a child: root without SYS_NICE")
    assert own.run(HONEST, SUM * 50) == [Value(3)] * 50
    assert len(os.sched_getaffinity(child_of(own))) == 1
    assert os.sched_getaffinity(0) == ANYWHERE


def test_a_slow_call_lets_both_run_anywhere(own: Sandbox) -> None:
    own.run(SLOW, [Call("solve", (1,))])
    own.run(SLOW, [Call("solve", (2_000_000,))])
    assert os.sched_getaffinity(child_of(own)) == ANYWHERE
    assert os.sched_getaffinity(0) == ANYWHERE


def test_a_zygote_that_is_started_within_a_job_is_not_held_to_the_seat(own: Sandbox, patient: None) -> None:
    own.run(HONEST, SUM)
    before = own.zygote_pid or 0
    [opened] = own._children.values()
    exchange, asked = opened.exchange, itertools.count(1)

    def spoiled(request: bytes) -> bytes:
        if next(asked) == 3:
            os.kill(before, signal.SIGKILL)
            assert wait_for(lambda: not alive(opened.pid), 3.0)
        return exchange(request)

    opened.exchange = spoiled  # type: ignore[method-assign]
    assert own.run(HONEST, SUM * 5) == [Value(3)] * 5
    assert own.zygote_pid not in (None, before)
    assert os.sched_getaffinity(own.zygote_pid or 0) == ANYWHERE


def test_what_the_kernel_refuses_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int, cpus: set[int]) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    seat = Seat()
    assert seat.share(1, None) is None
    seat.leave()
    assert os.sched_getaffinity(0) == ANYWHERE
