"""The driver's judgement of a run, and its signals. Runs that it starts and ends: `test_driving_on_ray.py`."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import pytest

from cluster import driver
from cluster.config import Config


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


def test_a_solver_that_only_fails_ends_no_run_while_another_works() -> None:
    broken = {"failing": {"rollout": (driver.FAILURES_IN_A_ROW, "the run's folder is not mounted")}}
    driver._refuse_hopeless(status(**{"solver-0": broken, "solver-1": {"failing": {}}}))
    with pytest.raises(driver.RunFailed, match="not mounted"):
        driver._refuse_hopeless(status(**{"solver-0": broken, "solver-1": broken, "rival.solver-0": {}}))


def test_failures_that_pass_do_not_end_the_run() -> None:
    driver._refuse_hopeless(status())
    driver._refuse_hopeless(status(learner={"failing": {"learn": (driver.FAILURES_IN_A_ROW - 1, "lost")}}))


def test_an_audit_finding_ends_the_run() -> None:
    with pytest.raises(driver.RunFailed, match="compiled outside the sandbox, in curator: compile of x"):
        driver._refuse_hopeless(status(curator={"audit": ["compile of x"]}))


class ToldToStop:
    """Stands where the supervisor's handle does, and notes who tells it to stop."""

    def __init__(self) -> None:
        self.stop_run = self
        self.told_by: list[str] = []

    def remote(self) -> str:
        self.told_by.append(threading.current_thread().name)
        return "answer"


def test_the_first_interrupt_tells_the_supervisor_though_the_driver_waits_and_the_second_interrupts() -> None:
    before = signal.getsignal(signal.SIGINT)
    supervisor = ToldToStop()
    with driver._stop_order(local=True) as order:
        order.aim(supervisor)
        assert not order.given
        os.kill(os.getpid(), signal.SIGINT)
        assert order.given
        assert order.answer() == "answer"
        assert supervisor.told_by == ["stop order"]
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGINT) is before
    assert supervisor.told_by == ["stop order"]


def test_an_interrupt_before_there_is_a_supervisor_is_passed_on_as_soon_as_there_is_one() -> None:
    supervisor = ToldToStop()
    with driver._stop_order(local=True) as order:
        os.kill(os.getpid(), signal.SIGTERM)
        assert supervisor.told_by == []
        order.aim(supervisor)
        assert order.answer() == "answer"
    assert supervisor.told_by == ["stop order"]


def test_a_run_that_nobody_interrupts_is_not_told_to_stop() -> None:
    supervisor = ToldToStop()
    with driver._stop_order(local=False) as order:
        order.aim(supervisor)
        order.wait(0.01)
    assert supervisor.told_by == []
    assert not [thread for thread in threading.enumerate() if thread.name == "stop order"]


@pytest.mark.parametrize(("local", "said"), [(True, False), (False, True)])
def test_an_interrupt_says_how_a_run_can_be_left_going_where_it_can(
    local: bool, said: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with driver._stop_order(local):
        os.kill(os.getpid(), signal.SIGINT)
    assert ("--detach" in caplog.text) == said


@pytest.mark.parametrize(
    ("phase", "saved", "words", "resumes"),
    [
        ("", 0, "before the run had begun", False),
        ("starting", 0, "before the first update; there was nothing to save yet", False),
        ("baseline", 0, "before the first update; there was nothing to save yet", False),
        ("training", 0, "no step is saved yet", False),
        ("training", 7, "drained; step 7 is saved", True),
        ("starting", 7, "drained; step 7 is saved", True),
    ],
)
def test_a_stopped_run_says_saved_only_of_a_step_that_is(phase: str, saved: int, words: str, resumes: bool) -> None:
    said = driver._stopped({"phase": phase, "checkpoint": saved})
    assert words in str(said) and said.resumes == resumes


@pytest.mark.parametrize(("checkpoint", "words"), [(None, "nothing was saved"), ({"step": 3}, "step 3 was saved")])
def test_a_stop_from_elsewhere_says_saved_only_of_a_step_that_is(
    checkpoint: dict[str, int] | None, words: str
) -> None:
    with pytest.raises(driver.Interrupted, match=words) as said:
        driver._ended_elsewhere({"phase": "training", "checkpoint": checkpoint})
    assert said.value.resumes == bool(checkpoint)


def test_while_a_run_starts_the_actors_that_have_not_reported_are_awaited() -> None:
    config = Config.model_validate({"run": {"name": "x"}})
    everybody = driver._awaited(config, {})
    assert {"pool", "learner", "solver-0", "supervisor"} <= set(everybody)
    reports: dict[str, Any] = {name: {} for name in everybody if name != "learner"}
    assert driver._awaited(config, {"phase": "starting", "actors": reports}) == ["learner"]
    assert driver._awaited(config, {"phase": "training", "actors": {}}) == []
