"""Driving a run from its start to its end, or to Ctrl-C: connect, make the supervisor, watch, drain, let go.

Invariant: whatever way it ends, the actors were told to release what they hold before they are killed, and the run
can be resumed from what lies in its folder. The run itself lives in the actors; this only starts and watches it.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError

from actors import roster
from cluster.config import Config

POLL_SECONDS = 1.0
CALL_SECONDS = 10.0
DRAIN_SECONDS = 360.0
SHUT_DOWN_SECONDS = 60.0
FAILURES_IN_A_ROW = 3

Status = dict[str, Any]
logger = logging.getLogger(__name__)


class RunFailed(RuntimeError):
    """The run cannot go on; the message is the first failure of the actor that stopped it."""


class Interrupted(RuntimeError):
    """Ctrl-C or SIGTERM: the run was drained and saved, and can be resumed."""


@contextmanager
def cluster_of(config: Config) -> Iterator[None]:
    """Join the Ray cluster that RAY_ADDRESS names (a submitted job has it), else start a local one for this run."""
    address = os.environ.get("RAY_ADDRESS")
    settings: dict[str, Any] = {
        "namespace": config.namespace,
        "log_to_driver": False,
        "logging_level": logging.ERROR,
    }
    if not address:
        # Light local cluster: no dashboard, and enough declared CPUs for the learner's ranks on a small machine.
        cpus = max(os.cpu_count() or 1, config.learner.ranks + 1)
        # All actors of a run are made at once; with fewer at a time Ray warns of them as of a leak.
        os.environ.setdefault(
            "RAY_worker_maximum_startup_concurrency", str(len(roster.posts(config)) // 4 + 2)
        )
        settings |= {"num_cpus": cpus, "include_dashboard": False, "address": "local"}
    ray.init(**settings)
    try:
        yield
    finally:
        ray.shutdown()


def drive(config: Config, show: Callable[[Status], None]) -> Status:
    """Start or resume the run and see it to its end; returns the last status. Raises RunFailed, Interrupted."""
    with _signals() as stopping:
        supervisor = roster.make(roster.supervisor(), config)
        try:
            return _watch(config, supervisor, show, stopping)
        finally:
            _let_go(config, supervisor)


def _watch(
    config: Config, supervisor: Any, show: Callable[[Status], None], stopping: Callable[[], bool]
) -> Status:
    begun = False
    while True:
        if begun:
            _ask(supervisor.ready)  # one whose start failed tries again only when asked
        else:
            begun = _ask(supervisor.begin) is True
        status = _status(config) | {"supervisor": _ask(supervisor.health) or {}}
        show(status)
        _refuse_hopeless(status)
        if begun and status.get("phase") == "done":
            return status
        if stopping():
            _drain(supervisor, status)
        time.sleep(POLL_SECONDS)


def _drain(supervisor: Any, status: Status) -> None:
    if not status.get("phase"):
        raise Interrupted("stopped before the run had begun")
    try:
        done = ray.get(supervisor.stop_run.remote(), timeout=DRAIN_SECONDS)
    except (RayError, GetTimeoutError) as error:
        raise Interrupted(f"stopped without saving, the last checkpoint stands ({error})") from error
    raise Interrupted(f"drained; step {done['checkpoint']} is saved")


def _status(config: Config) -> Status:
    try:
        return _ask(ray.get_actor("metrics", config.namespace).status) or {}
    except ValueError:
        return {}  # not made yet


def _ask(method: Any) -> Any:
    """The answer, or None while the actor is away: the supervisor and Ray bring it back."""
    try:
        return ray.get(method.remote(), timeout=CALL_SECONDS)
    except (RayError, GetTimeoutError) as error:
        logger.debug("no answer: %s", error)
        return None


def _refuse_hopeless(status: Status) -> None:
    for name, report in {**status.get("actors", {}), "supervisor": status["supervisor"]}.items():
        for what, (count, first) in report.get("failing", {}).items():
            if count >= FAILURES_IN_A_ROW:
                raise RunFailed(f"{name}: {what} failed {count} times in a row, the first time with\n{first}")
        if report.get("audit"):
            raise RunFailed(f"pool source was compiled outside the sandbox, in {name}: {report['audit'][0]}")


def _let_go(config: Config, supervisor: Any) -> None:
    try:
        ray.get(supervisor.stop_run.remote(), timeout=SHUT_DOWN_SECONDS)
    except (RayError, GetTimeoutError) as error:
        logger.warning("not every actor could be told to stop (%s); they are killed", error)
    roster.end(config)


@contextmanager
def _signals() -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C or SIGTERM asks for a drain; the second one interrupts at once."""
    asked = False

    def ask(number: int, frame: object) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        logger.warning("stopping: finishing the update under way and saving (again to stop at once)")

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
