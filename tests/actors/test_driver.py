"""The driver's judgement of a run, and its signals. Starting and ending real runs: `tests/test_end_to_end.py`."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from cluster import driver


def status(supervisor: dict[str, Any] | None = None, **actors: dict[str, Any]) -> dict[str, Any]:
    return {"actors": actors, "supervisor": supervisor or {}}


def test_a_loop_that_fails_again_and_again_ends_the_run_with_its_first_traceback() -> None:
    report = {"failing": {"rollout": (driver.FAILURES_IN_A_ROW, "Traceback: no module named vllm")}}
    with pytest.raises(driver.RunFailed, match=r"solver-0: rollout failed(.|\n)*no module named vllm"):
        driver._refuse_hopeless(status(**{"solver-0": report}))


def test_an_actor_that_does_not_start_ends_the_run_though_only_the_supervisor_knows() -> None:
    report = {"failing": {"start of learner": (driver.FAILURES_IN_A_ROW, "no such model")}}
    with pytest.raises(driver.RunFailed, match=r"start of learner(.|\n)*no such model"):
        driver._refuse_hopeless(status(report))


def test_failures_that_pass_do_not_end_the_run() -> None:
    driver._refuse_hopeless(status())
    driver._refuse_hopeless(status(learner={"failing": {"learn": (driver.FAILURES_IN_A_ROW - 1, "lost")}}))


def test_an_audit_finding_ends_the_run() -> None:
    with pytest.raises(driver.RunFailed, match="compiled outside the sandbox, in curator: compile of x"):
        driver._refuse_hopeless(status(curator={"audit": ["compile of x"]}))


def test_the_first_interrupt_asks_for_a_drain_and_the_second_interrupts() -> None:
    before = signal.getsignal(signal.SIGINT)
    with driver._signals() as stopping:
        assert not stopping()
        os.kill(os.getpid(), signal.SIGINT)
        assert stopping()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGINT) is before
