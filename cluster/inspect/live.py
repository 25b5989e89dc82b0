"""The terminal view of a run: alarms, step, success by role, pool, funnel, tokens a second, who waits for whom.

Invariant: it draws what `status` says and asks nothing itself, so it cannot slow a run down. On a terminal it is
drawn in place; elsewhere one line is printed for each new step, phase, pause or standing alarm, and while the run
starts another one every half minute.
"""

from __future__ import annotations

import time
from types import TracebackType

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from cluster.inspect import tables
from cluster.inspect.tables import Status
from cluster.metrics.overview import tokens_per_second

SHOWN_AWAITED = 6
WAITING_SECONDS = 30.0
"""Between two lines of a log that say what a run that starts waits for."""


def render(status: Status) -> RenderableType:
    """One picture of a status."""
    if not status.get("phase"):
        words = ["starting the actors (a cold start takes about a minute)", *_awaited(status)]
        return Panel("; ".join(words), title="Envolve")
    panels = Columns(
        [tables.success(status), *tables.pool(status), tables.funnel(status), *tables.passing(status)],
        equal=False,
        expand=False,
    )
    # What is urgent stands above what may be cut off on a low terminal.
    return Group(
        *tables.standing(status),
        _headline(status),
        *tables.past(status),
        panels,
        *tables.policies(status),
        *(tables.served(status) if _serves(status) else [tables.steps(status)]),
        *tables.nodes(status),
        *tables.running(status),
        tables.actors(status),
    )


def line(status: Status) -> str:
    """The same in one line, for logs."""
    if not status.get("phase"):
        return "; ".join(["starting the actors", *_awaited(status)])
    solver = status["success"].get("solver", {})
    pool = ", ".join(f"{count} {name}" for name, count in status["pool"].items() if count)
    words = [f"{_state(status)}: {_reached(status)}"]
    if solver:
        words.append(f"success {solver['success']:.3f}, well-formed {solver['parsed']:.2f}")
    if alarms := _standing(status):
        words.append(f"alarms: {', '.join(alarms)}")
    if pool:
        words.append(pool)
    return "; ".join([*words, f"{tokens_per_second(status['actors']):.0f} tokens/s", *_awaited(status)])


class LiveView:
    """Shows statuses as they come; a context manager, so that the terminal is given back whatever happens."""

    def __init__(self, console: Console, plain: bool) -> None:
        self._console = console
        self._live = None if plain else Live(console=console, refresh_per_second=2, transient=False)
        self._last: tuple[object, ...] | None = None
        self._printed = 0.0

    def __enter__(self) -> LiveView:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, status: Status) -> None:
        """Draw a status."""
        if self._live is not None:
            self._live.update(render(status))
            return
        key = (
            status.get("phase"),
            status.get("progress", {}).get("step"),
            bool(status.get("paused")),
            tuple(_standing(status)),
            tuple((status.get("serving") or {}).get("clients", ())),
        )
        now = time.monotonic()
        waits = status.get("phase", "starting") == "starting" and now - self._printed >= WAITING_SECONDS
        if key != self._last or waits:
            self._last, self._printed = key, now
            self._console.print(line(status), highlight=False, markup=False, soft_wrap=True)


def _headline(status: Status) -> RenderableType:
    minutes = status["running_seconds"] / 60
    words = Text.assemble(
        (status["run"], "bold"), f"  {_state(status)}  ", *_progress(status),
        f"  {tokens_per_second(status['actors']):.0f} tokens/s  {minutes:.1f} min",
        *(f"\n{words}" for words in _awaited(status)),
    )  # fmt: skip
    return Panel(words, title="Envolve")


def _progress(status: Status) -> list[str | tuple[str, str]]:
    """How far the run is: in updates, or where it serves a trainer elsewhere."""
    if _serves(status):
        return [_reached(status)]
    progress, step = status["progress"], (status.get("checkpoint") or {}).get("step", 0)
    saved = f"saved at {step}" if step else "nothing saved yet"
    rest = f" of {status['steps']}  policy version {progress['version']}  {saved}"
    return ["step ", (str(progress["step"]), "bold"), rest]


def _reached(status: Status) -> str:
    if not _serves(status):
        return f"step {status['progress']['step']}/{status['steps']}"
    serving = status["serving"]
    if not serving:
        return "the server has not reported"
    answers = sum(client["scored"] for client in serving["clients"].values())
    return f"serving {len(serving['clients'])} clients at {serving['url']}, {answers} answers judged"


def _serves(status: Status) -> bool:
    """Whether a trainer elsewhere is in the learner's place."""
    return status.get("serving") is not None


def _state(status: Status) -> str:
    if status.get("stopped"):
        return f"stopped ({status['phase']})"
    if status.get("draining"):
        return "draining"
    return f"{status['phase']}, paused" if status.get("paused") else str(status["phase"])


def _awaited(status: Status) -> list[str]:
    """Whom a run that starts waits for: actors that have not answered, then whom the supervisor waits for."""
    if names := status.get("awaited"):
        more = f" and {len(names) - SHOWN_AWAITED} more" if len(names) > SHOWN_AWAITED else ""
        return [f"waiting for {', '.join(names[:SHOWN_AWAITED])}{more}"]
    waits = status.get("actors", {}).get("supervisor", {}).get("waiting_for")
    if waits and "awaited" in status and status.get("phase") == "starting":
        return [f"every actor has answered; the supervisor waits for {waits}"]
    return []


def _standing(status: Status) -> list[str]:
    """Kinds of alarms that stand, each once."""
    return list(dict.fromkeys(str(alarm["kind"]) for alarm in status.get("active_alarms", ())))
