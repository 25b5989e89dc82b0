"""Driving a run from its start to its end, or to Ctrl-C: make or join the supervisor, watch, have it stop.

Invariant: the run lives in its actors, and this only starts, watches and stops it. A driver that dies stops nothing,
and the next one joins the run that goes. Whatever way a run is stopped, its supervisor is told within a moment and
does it alone: it drains, saves and ends every actor, also when this process is killed right after.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayActorError, RayError

from actors import roster
from cluster import wanted
from cluster.config import Config
from cluster.joining import Cluster
from cluster.wanted import Wanted

POLL_SECONDS = 1.0
CALL_SECONDS = 10.0
SHUT_DOWN_SECONDS = 60.0
FAILURES_IN_A_ROW = 3
BEFORE_UPDATES = ("starting", "baseline")

Status = dict[str, Any]
Show = Callable[[Status], None]
Say = Callable[[str], None]
logger = logging.getLogger(__name__)


class RunFailed(RuntimeError):
    """The run cannot go on; the message is the first failure of the actor that stopped it."""


class Interrupted(RuntimeError):
    """The run was stopped before its end, here or from elsewhere; the message says what is saved.

    `resumes`: there is something that the same command goes on from, and it does not just begin.
    """

    def __init__(self, message: str, resumes: bool = True) -> None:
        super().__init__(message)
        self.resumes = resumes


def drive(config: Config, cluster: Cluster, show: Show, say: Say) -> Status:
    """Start, resume or join the run and see it to its end; returns the last status. Raises RunFailed, Interrupted."""
    with _stop_order(cluster.local) as order:
        supervisor = _taken_up(config, say, lambda: order.given)
        order.aim(supervisor)
        try:
            status = _watch(config, supervisor, show, order)
        except (RunFailed, KeyboardInterrupt):
            _end(config, supervisor, now=True)
            raise
        except Exception:
            if cluster.local:  # elsewhere the run goes on without its driver
                _end(config, supervisor, now=True)
            raise
        _end(config, supervisor, now=False)
        return status


def launch(config: Config, say: Say) -> None:
    """Start, resume or join the run and leave it going once it has begun. Raises RunFailed, Interrupted."""
    supervisor = _taken_up(config, say)
    while not _begin(supervisor, config):
        if _living(config) is None:
            raise Interrupted("stopped from elsewhere before the run had begun", resumes=False)
        try:
            _refuse_hopeless({"supervisor": _ask(supervisor.health) or {}})
        except RunFailed:
            _end(config, supervisor, now=True)
            raise
        time.sleep(POLL_SECONDS)


def _taken_up(config: Config, say: Say, given_up: Callable[[], bool] = lambda: False) -> Any:
    """The run's supervisor: the one that is there, or a new one; a run that is being stopped is waited for."""
    there = _living(config)
    while there is not None and (_ask(there.overview) or {}).get("stopping"):
        say(f"run {config.run.name!r} is being stopped; it starts again when that is done")
        while there is not None:
            if given_up():
                raise Interrupted("left alone while it is being stopped")
            time.sleep(POLL_SECONDS)
            there = _living(config)
    if there is not None:
        say(
            f"run {config.run.name!r} is going already and is joined; of this configuration only the counts hold"
        )
    return roster.make(roster.supervisor(), config)


def _living(config: Config) -> Any:
    try:
        return ray.get_actor(roster.SUPERVISOR, config.namespace)
    except ValueError:
        return None


def _watch(config: Config, supervisor: Any, show: Show, order: _StopOrder) -> Status:
    begun = False
    status: Status = {}
    while True:
        if order.given:
            _await_stop(order, config, show)
        if _living(config) is None:
            return _ended_elsewhere(status)
        if begun:
            _ask(supervisor.ready)  # one whose start failed tries again only when asked
        else:
            begun = _begin(supervisor, config)
        now = _status(config, supervisor)
        if now.get("phase") or not status:  # not over one that is only away
            show(now | {"awaited": _awaited(config, now)})
        _refuse_hopeless(now)
        if begun and now.get("phase") == "done":
            return now
        status = now if now.get("phase") else status
        order.wait(POLL_SECONDS)


def _begin(supervisor: Any, config: Config) -> bool:
    return _ask(supervisor.begin, config.model_dump(mode="json")) is True


def _await_stop(order: _StopOrder, config: Config, show: Show) -> None:
    """See the stop through that was ordered; always raises Interrupted."""
    answer = order.answer()
    deadline = time.monotonic() + config.supervision.drain_seconds + SHUT_DOWN_SECONDS
    while not ray.wait([answer], timeout=POLL_SECONDS)[0] and time.monotonic() < deadline:
        if (status := _status(config)).get("phase"):
            show(status)
    try:
        done = ray.get(answer, timeout=CALL_SECONDS)
    except RayActorError as error:
        raise Interrupted("stopped; the supervisor ended before it could say what is saved") from error
    except (RayError, GetTimeoutError) as error:
        _end(config, order.supervisor, now=True)
        raise Interrupted(f"stopped without saving, the last checkpoint stands ({error})") from error
    raise _stopped(done)


def _stopped(done: Status) -> Interrupted:
    """What a stop leaves behind, as the supervisor says it."""
    if not done["phase"]:
        return Interrupted("stopped before the run had begun", resumes=False)
    if done.get("served"):
        return Interrupted("stopped; the pool and the statistics of its answers are kept")
    if done["checkpoint"]:
        return Interrupted(f"drained; step {done['checkpoint']} is saved")
    if done["phase"] in BEFORE_UPDATES:
        return Interrupted("stopped before the first update; there was nothing to save yet", resumes=False)
    return Interrupted("stopped; no step is saved yet", resumes=False)


def _ended_elsewhere(status: Status) -> Status:
    """What is left to say when the supervisor is gone, and nobody here has told it to go."""
    if status.get("phase") == "done":
        return status
    saved = (status.get("checkpoint") or {"step": 0})["step"]
    what = f"step {saved}" if saved else "nothing"
    raise Interrupted(f"stopped from elsewhere; at the last look {what} was saved", resumes=bool(saved))


def _status(config: Config, supervisor: Any = None) -> Status:
    """What the metrics actor says, with the supervisor's own report; empty while there is none."""
    try:
        status = _ask(ray.get_actor("metrics", config.namespace).status) or {}
    except ValueError:
        status = {}  # not made yet
    return status | {"supervisor": (_ask(supervisor.health) if supervisor else None) or {}}


def _awaited(config: Config, status: Status) -> list[str]:
    """The actors that have not reported yet, while the run starts."""
    if status.get("phase", "starting") != "starting":
        return []
    now = Wanted.model_validate(status["wanted"]) if "wanted" in status else wanted.first(config)
    return sorted(roster.names(config, now) - status.get("actors", {}).keys())


def _ask(method: Any, *args: Any) -> Any:
    """The answer, or None while the actor is away: the supervisor and Ray bring it back."""
    try:
        return ray.get(method.remote(*args), timeout=CALL_SECONDS)
    except (RayError, GetTimeoutError) as error:
        logger.debug("no answer: %s", error)
        return None


def _refuse_hopeless(status: Status) -> None:
    """Raises RunFailed where nobody of a kind works; one of several may be on a node that is at fault."""
    reports = {**status.get("actors", {}), "supervisor": status["supervisor"]}
    works = {roster.kind_of(name) for name, report in reports.items() if not _hopeless(report)}
    for name, report in reports.items():
        if roster.kind_of(name) not in works:
            what, (count, first) = next(iter(_hopeless(report).items()))
            raise RunFailed(f"{name}: {what} failed {count} times in a row, the first time with\n{first}")
        if report.get("audit"):
            raise RunFailed(f"pool source was compiled outside the sandbox, in {name}: {report['audit'][0]}")


def _hopeless(report: Status) -> dict[str, tuple[int, str]]:
    """What has failed so often that it will not pass."""
    failing = report.get("failing", {})
    return {what: failed for what, failed in failing.items() if failed[0] >= FAILURES_IN_A_ROW}


def _end(config: Config, supervisor: Any, now: bool) -> None:
    """Have every actor release what lives outside its process, and be gone."""
    try:
        ray.get(supervisor.stop_run.remote(now), timeout=SHUT_DOWN_SECONDS)
    except RayActorError:
        pass  # it has ended already
    except (RayError, GetTimeoutError) as error:
        logger.warning("not every actor could be told to stop (%s); they are killed", error)
    roster.end(config)


class _StopOrder:
    """The order to stop, passed on to the supervisor by a thread: whoever waits in a call need not come back first."""

    def __init__(self) -> None:
        self.given = False
        self.supervisor: Any = None
        self._heard: SimpleQueue[Callable[[], bool]] = SimpleQueue()  # what a signal handler may put into
        self._told = threading.Event()
        self._answer: Any = None
        self._thread = threading.Thread(target=self._listen, name="stop order", daemon=True)
        self._thread.start()

    def aim(self, supervisor: Any) -> None:
        """Whom to tell, from now on or at once."""
        self.supervisor = supervisor
        self._heard.put(self._pass_on)

    def give(self) -> None:
        """Tell the supervisor to stop the run. Idempotent."""
        self.given = True
        self._heard.put(self._pass_on)

    def answer(self) -> Any:
        """Ray's reference to what the supervisor says when it has stopped the run."""
        self._told.wait()
        return self._answer

    def wait(self, seconds: float) -> None:
        """Some time, or until the order is passed on."""
        self._told.wait(seconds)

    def close(self) -> None:
        """End the thread."""
        self._heard.put(lambda: False)
        self._thread.join()

    def _listen(self) -> None:
        while self._heard.get()():
            pass

    def _pass_on(self) -> bool:
        if self.given and self.supervisor is not None and not self._told.is_set():
            self._answer = self.supervisor.stop_run.remote()
            self._told.set()
        return True


@contextmanager
def _stop_order(local: bool) -> Iterator[_StopOrder]:
    """The first Ctrl-C or SIGTERM orders the stop; the second one interrupts at once."""
    order = _StopOrder()
    hint = "" if local else "; `envolve run --detach` leaves a run going without its shell"

    def ask(number: int, frame: object) -> None:
        if order.given:
            raise KeyboardInterrupt
        order.give()
        logger.warning("stopping: finishing the update under way and saving (again to stop at once%s)", hint)

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield order
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        order.close()
