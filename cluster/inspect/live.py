"""The terminal view of a run: alarms, step, success by role, pool, funnel, tokens a second, who waits for whom.

Invariant: it draws what `status` says and asks nothing itself, so it cannot slow a run down. On a terminal it is
drawn in place; elsewhere one line is printed for each new step, phase, pause or standing alarm.
"""

from __future__ import annotations

from types import TracebackType

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from cluster.inspect import tables
from cluster.inspect.tables import Status
from cluster.metrics.overview import tokens_per_second


def render(status: Status) -> RenderableType:
    """One picture of a status."""
    if not status.get("phase"):
        return Panel("starting the actors (a cold start takes about a minute)", title="Envolve")
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
        tables.steps(status),
        *tables.nodes(status),
        *tables.running(status),
        tables.actors(status),
    )


def line(status: Status) -> str:
    """The same in one line, for logs."""
    if not status.get("phase"):
        return "starting the actors"
    progress, solver = status["progress"], status["success"].get("solver", {})
    pool = ", ".join(f"{count} {name}" for name, count in status["pool"].items() if count)
    words = [f"{_state(status)}: step {progress['step']}/{status['steps']}"]
    if solver:
        words.append(f"success {solver['success']:.3f}, well-formed {solver['parsed']:.2f}")
    if alarms := _standing(status):
        words.append(f"alarms: {', '.join(alarms)}")
    return "; ".join([*words, pool, f"{tokens_per_second(status['actors']):.0f} tokens/s"])


class LiveView:
    """Shows statuses as they come; a context manager, so that the terminal is given back whatever happens."""

    def __init__(self, console: Console, plain: bool) -> None:
        self._console = console
        self._live = None if plain else Live(console=console, refresh_per_second=2, transient=False)
        self._last: tuple[object, ...] | None = None

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
        )
        if key != self._last:
            self._last = key
            self._console.print(line(status), highlight=False, markup=False, soft_wrap=True)


def _headline(status: Status) -> RenderableType:
    progress = status["progress"]
    saved = (status.get("checkpoint") or {}).get("step", 0)
    minutes = status["running_seconds"] / 60
    words = Text.assemble(
        (status["run"], "bold"), f"  {_state(status)}  step ", (str(progress["step"]), "bold"),
        f" of {status['steps']}  policy version {progress['version']}  saved at {saved}  "
        f"{tokens_per_second(status['actors']):.0f} tokens/s  {minutes:.1f} min",
    )  # fmt: skip
    return Panel(words, title="Envolve")


def _state(status: Status) -> str:
    if status.get("draining"):
        return "draining"
    return f"{status['phase']}, paused" if status.get("paused") else str(status["phase"])


def _standing(status: Status) -> list[str]:
    """Kinds of alarms that stand, each once."""
    return list(dict.fromkeys(str(alarm["kind"]) for alarm in status.get("active_alarms", ())))
