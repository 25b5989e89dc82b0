"""Control of a run without its driver: find the cluster and the run's supervisor, and ask it.

Invariant: a call either returns the supervisor's answer or raises `RunNotReached` (nobody answers) or
`ControlRefused` (it answered that it will not), whose messages name the way out. Nothing here changes a run by
itself: what is wanted, and what becomes of it, is the supervisor's. It needs no file of the run.
"""

from __future__ import annotations

import difflib
import json
import logging
import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import ray
from ray.exceptions import AuthenticationError, GetTimeoutError, RayActorError, RayError
from ray.util import list_named_actors

from cluster.run_folder import PLACE_FILE
from cluster.submission import environment
from cluster.token import presented, refusal
from cluster.wanted import WantedError
from envpool.exchange.offers import Offer
from envpool.members import Origin

SUPERVISOR, METRICS, VALIDATOR = "supervisor", "metrics", "validator"
PREFIX = "envolve-"
"""Of the namespaces of runs; see `Config.namespace`."""
CLIENT = "ray://"
PROBE_SECONDS = 5.0
CALL_SECONDS = 30.0
SAVE_SECONDS = 600.0
JUDGE_SECONDS = 600.0
RESTART_SECONDS = 60.0
"""How long a supervisor may be away while Ray restarts it."""
FAREWELL_SECONDS = 30.0
PAUSE_SECONDS = 0.5


class RunNotReached(RuntimeError):
    """No cluster, or no such run in it; the message says what was tried and what to do."""


class ControlRefused(RuntimeError):
    """The run's supervisor refuses what was asked for; the message says why and what is possible."""


@dataclass(frozen=True)
class Control:
    """The supervisor of one run. Every call raises RunNotReached, and where it says so ControlRefused."""

    run: str
    address: str

    def scale(self, counts: Mapping[str, int]) -> dict[str, int]:
        """Other counts of actors, by kind; returns all that are wanted now. Raises ControlRefused."""
        return self._ask("scale", dict(counts))

    def attach(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """Another policy joins the run (the fields of `PolicySpec`). Raises ControlRefused."""
        return self._ask("attach", dict(spec))

    def detach(self, name: str) -> dict[str, Any]:
        """A policy leaves the run; returns what it was. Raises ControlRefused."""
        return self._ask("detach", name)

    def policies(self) -> list[dict[str, Any]]:
        """The run's own policy first, then the attached ones."""
        return self._ask("policies")

    def pause(self) -> None:
        """No new work; everything stays loaded."""
        self._ask("pause")

    def resume(self) -> None:
        """Work goes on."""
        self._ask("resume")

    def checkpoint(self) -> dict[str, int]:
        """Save now; returns the step saved, by policy."""
        return self._ask("checkpoint", seconds=SAVE_SECONDS)

    def judge(self, offer: Offer, origin: Origin) -> dict[str, Any]:
        """An offer through the run's own gates, into its pool; the verdict as `Verdict.to_dict` has it."""
        given = offer.source, origin.value, (), offer.name, offer.held_out, None, dict(offer.facts)
        return self._ask("judge", *given, of=VALIDATOR, seconds=JUDGE_SECONDS)

    def overview(self) -> dict[str, Any]:
        """The wanted state, nodes with their actors, deaths by actor."""
        return self._ask("overview")

    def status(self) -> dict[str, Any]:
        """What `status.json` holds, asked from the metrics actor."""
        return self._ask("status", of=METRICS)

    def stop(
        self, now: bool = False, show: Callable[[list[str]], None] = lambda left: None
    ) -> dict[str, Any]:
        """Drain, save and end the run, or end it at once; returns where it stands when every actor is gone.

        `show` is told of the actors that are left, again and again. Raises ControlRefused where saving fails.
        """
        answer = self._actor(SUPERVISOR).stop_run.remote(now)
        done: dict[str, Any] = {}
        deadline = time.monotonic() + SAVE_SECONDS
        while left := self.actors():
            show(left)
            if done or not ray.wait([answer], timeout=PAUSE_SECONDS)[0]:
                time.sleep(PAUSE_SECONDS)
            elif done := self._stopped(answer):
                deadline = time.monotonic() + FAREWELL_SECONDS
            elif SUPERVISOR in left:  # it was killed meanwhile, and Ray makes it again
                time.sleep(PAUSE_SECONDS)
                with suppress(RunNotReached):  # it has ended by now
                    answer = self._actor(SUPERVISOR).stop_run.remote(now)
            else:
                time.sleep(PAUSE_SECONDS)
            if time.monotonic() > deadline:
                raise RunNotReached(self._remnants(left))
        show([])
        return done

    def _remnants(self, left: list[str]) -> str:
        """What to do about actors that are still there."""
        if SUPERVISOR in left:
            way = "it may still be saving; try again, or end it without saving by `envolve stop --now`"
        else:
            way = "and no supervisor; the same `envolve run` takes it up, and can be stopped then"
        return f"run {self.run!r} still has actors ({', '.join(left)}), {way}"

    def actors(self) -> list[str]:
        """The names of all actors that the run has at the moment."""
        return sorted(
            str(actor["name"])
            for actor in list_named_actors(all_namespaces=True)
            if actor["namespace"] == PREFIX + self.run
        )

    def _stopped(self, answer: Any) -> dict[str, Any]:
        try:
            return dict(ray.get(answer, timeout=CALL_SECONDS))
        except RayActorError:
            return {}  # it ended itself before the answer got here
        except (RayError, GetTimeoutError) as error:
            raise ControlRefused(
                f"run {self.run!r} could not save ({_plain(error)}) and takes nothing new; try again, or end it "
                f"without saving by `envolve stop --now`"
            ) from error

    def _ask(self, method: str, *args: Any, of: str = SUPERVISOR, seconds: float = CALL_SECONDS) -> Any:
        """One call; it is made again when the actor dies in the middle of it, since all of them are idempotent."""
        deadline = time.monotonic() + RESTART_SECONDS
        while True:
            try:
                return ray.get(getattr(self._actor(of), method).remote(*args), timeout=seconds)
            except WantedError as error:
                raise ControlRefused(_plain(error)) from error
            except GetTimeoutError as error:
                raise RunNotReached(
                    f"the {of} of run {self.run!r} did not answer {method} for {seconds:.0f} s; "
                    f"`envolve status` says what the run is at, and the call may still take effect"
                ) from error
            except RayActorError as error:
                if time.monotonic() > deadline:
                    raise RunNotReached(f"the {of} of run {self.run!r} is away: {error}") from error
            except RayError as error:
                raise ControlRefused(f"{method} failed in the {of}: {_plain(error)}") from error
            time.sleep(PAUSE_SECONDS)

    def _actor(self, name: str) -> Any:
        try:
            return ray.get_actor(name, PREFIX + self.run)
        except ValueError as error:
            raise _no_run(self.run, self.address) from error


@contextmanager
def connected(run: str, folder: Path, address: str = "") -> Iterator[Control]:
    """Reach a run: by the address given, else RAY_ADDRESS, else the one that the run wrote into its folder.

    `run` empty: the only one that goes in the cluster. Within, standard output is standard error. Raises RunNotReached.
    """
    where = address_of(run, folder, address)
    with _joined(where):
        yield Control(run or _only_run(where), where)


def address_of(run: str, folder: Path, address: str = "") -> str:
    """Where the run's cluster answers; a dashboard's address in RAY_ADDRESS, which is for `ray job`, is passed over."""
    if address:
        return address
    given = os.environ.get("RAY_ADDRESS", "")
    if given and not given.startswith("http"):
        return given
    try:
        return str(json.loads((folder / run / PLACE_FILE).read_text(encoding="utf-8"))["address"])
    except (OSError, ValueError, KeyError) as error:
        lacking = (
            f"run {run!r} has no {PLACE_FILE} in {folder.resolve()}"
            if run
            else f"no run in {folder.resolve()}"
        )
        raise RunNotReached(
            f"{lacking}, which would say where its cluster answers; give --folder, or --address HOST:6379 on a node of "
            f"the cluster, --address {CLIENT}HOST:10001 elsewhere"
        ) from error


def runs_in_cluster() -> list[str]:
    """The names of the runs that have a supervisor in the cluster that this process has joined."""
    return sorted(
        str(actor["namespace"]).removeprefix(PREFIX)
        for actor in list_named_actors(all_namespaces=True)
        if actor["name"] == SUPERVISOR and str(actor["namespace"]).startswith(PREFIX)
    )


@contextmanager
def _joined(address: str) -> Iterator[None]:
    _refuse_unreachable(address)
    with presented(address):
        _join(address)
        try:
            # Ray prints what its nodes complain of; what a command says may be read by a program.
            with redirect_stdout(sys.stderr):
                yield
        finally:
            ray.shutdown()


def _join(address: str) -> None:
    settings: dict[str, Any] = {"address": address, "logging_level": logging.ERROR, "log_to_driver": False}
    with tempfile.TemporaryDirectory(prefix="envolve-") as scratch:
        if address.startswith(CLIENT):
            # Its server on the head takes part in each call, and must know our errors to hand them on.
            settings["runtime_env"] = environment(Path(scratch), local=False)
        try:
            ray.init(**settings)
        except (AuthenticationError, ConnectionError, RuntimeError, ValueError) as error:
            raise RunNotReached(
                refusal(address, error)
                or f"the cluster at {address} cannot be joined from here ({_plain(error)}); on a machine that is none "
                f"of its nodes give --address {CLIENT}HOST:10001"
            ) from error


def _refuse_unreachable(address: str) -> None:
    """Ray tries a dead address for a long time; a closed port says so at once."""
    if address.startswith("http"):
        raise RunNotReached(
            f"{address} is the dashboard's, for `ray job`; give --address HOST:6379, or {CLIENT}HOST:10001"
        )
    if ":" not in address:
        return  # "auto" and the like, which Ray looks up on this machine
    url = urlsplit(address if "://" in address else f"//{address}")
    try:
        socket.create_connection((url.hostname, url.port), PROBE_SECONDS).close()
    except (OSError, ValueError) as error:
        raise RunNotReached(
            f"no cluster answers at {address} ({error}); the run is not going there, the same `envolve run` "
            f"resumes it; give --address if the cluster has moved"
        ) from error


def _only_run(address: str) -> str:
    runs = runs_in_cluster()
    if len(runs) != 1:
        found = f"its runs are {', '.join(runs)}: say which with --run" if runs else "none is going"
        raise RunNotReached(f"the cluster at {address} has no single run; {found}")
    return runs[0]


def _no_run(run: str, address: str) -> RunNotReached:
    runs = runs_in_cluster()
    close = difflib.get_close_matches(run, runs, n=1)
    if close:
        rest = f"; did you mean {close[0]!r}?"
    elif runs:
        rest = f"; the runs there are {', '.join(runs)}"
    else:
        rest = ", and no other; the same `envolve run` resumes it"
    return RunNotReached(f"no run {run!r} is going in the cluster at {address}{rest}")


def _plain(error: BaseException) -> str:
    """What an error says, without Ray's account of how it travelled."""
    cause = getattr(error, "cause", None)
    text = str(cause if isinstance(cause, Exception) else error).strip()
    return text.splitlines()[-1] if text else type(error).__name__
