"""The terminal view of a run: step, success by role, pool, funnel, tokens a second, who waits for whom.

Invariant: it draws what `status` says and asks nothing itself, so it cannot slow a run down. On a terminal it is
drawn in place; elsewhere one line is printed for each new step or phase.
"""

from __future__ import annotations

import re
from collections import Counter
from types import TracebackType
from typing import Any

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from cluster.inspect.visible import visible
from envpool.admission.verdict import GATES

Status = dict[str, Any]
STEP_ROWS = 4
SHOWN_ALARMS = 4
SHOWN_FIGURES = 5
_NUMBERED = re.compile(r"-[0-9]+$")


def render(status: Status) -> RenderableType:
    """One picture of a status."""
    if not status.get("phase"):
        return Panel("starting the actors (a cold start takes about a minute)", title="Envolve")
    panels = Columns([_success(status), *_pool(status), _funnel(status)], equal=False, expand=False)
    alarms = _alarms(status)
    urgent: list[RenderableType] = [alarms] if alarms.row_count else []
    # What is urgent stands above what may be cut off on a low terminal.
    return Group(_headline(status), *urgent, panels, _steps(status), _actors(status))


def line(status: Status) -> str:
    """The same in one line, for logs."""
    if not status.get("phase"):
        return "starting the actors"
    progress, solver = status["progress"], status["success"].get("solver", {})
    pool = ", ".join(f"{count} {name}" for name, count in status["pool"].items() if count)
    words = [f"{status['phase']}: step {progress['step']}/{status['steps']}"]
    if solver:
        words.append(f"success {solver['success']:.3f}, well-formed {solver['parsed']:.2f}")
    return "; ".join([*words, pool, f"{_tokens_per_second(status):.0f} tokens/s"])


class LiveView:
    """Shows statuses as they come; a context manager, so that the terminal is given back whatever happens."""

    def __init__(self, console: Console, plain: bool) -> None:
        self._console = console
        self._live = None if plain else Live(console=console, refresh_per_second=2, transient=False)
        self._last = ""

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
        key = f"{status.get('phase')}{status.get('progress', {}).get('step')}"
        if key != self._last:
            self._last = key
            self._console.print(line(status), highlight=False, markup=False, soft_wrap=True)


def _headline(status: Status) -> RenderableType:
    progress = status["progress"]
    saved = (status.get("checkpoint") or {}).get("step", 0)
    minutes = status["running_seconds"] / 60
    state = "draining" if status.get("draining") else status["phase"]
    words = Text.assemble(
        (status["run"], "bold"), f"  {state}  step ", (str(progress["step"]), "bold"), f" of {status['steps']}  "
        f"policy version {progress['version']}  saved at {saved}  "
        f"{_tokens_per_second(status):.0f} tokens/s  {minutes:.1f} min",
    )  # fmt: skip
    return Panel(words, title="Envolve")


def _success(status: Status) -> RenderableType:
    table = Table("role", "success", "well-formed", "answers", title="Recent answers")
    for role, rates in status["success"].items():
        table.add_row(role, f"{rates['success']:.3f}", f"{rates['parsed']:.2f}", f"{rates['answers']:.0f}")
    return table


def _pool(status: Status) -> list[RenderableType]:
    statuses = Table("pool", "members", title="Pool")
    for name, count in status["pool"].items():
        statuses.add_row(name, str(count))
    makers = Table("made by", "admitted", title="Makers")
    for origin, count in status.get("origins", {}).items():
        makers.add_row(origin, str(count))
    return [statuses, makers]


def _funnel(status: Status) -> RenderableType:
    table = Table("ended at", "candidates", title="Funnel")
    order = {gate: place for place, gate in enumerate((*GATES, "admitted"))}
    for gate in sorted(status["funnel"], key=lambda gate: order.get(gate, -1)):
        table.add_row(gate, str(status["funnel"][gate]))
    return table


def _steps(status: Status) -> RenderableType:
    names = ("step", "success", "parsed", "loss", "grad_norm", "ratio_mean", "logprob_diff", "update_seconds")
    table = Table(*(name.replace("_", " ") for name in names), title="Last updates")
    for record in status["last_steps"][-STEP_ROWS:]:
        table.add_row(*(_number(record.get(name)) for name in names))
    return table


def _actors(status: Status) -> RenderableType:
    """A row a kind of actor: for whom they wait, failures, and the sums of their figures."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for name, report in sorted(status["actors"].items()):
        kinds.setdefault(_NUMBERED.sub("", name), []).append(report)
    table = Table("actor", "waits for", "failures", title="Actors", expand=True)
    table.add_column("figures", no_wrap=True, ratio=1)  # takes what room the others leave
    for kind, reports in kinds.items():
        waits = Counter(report["waiting_for"] for report in reports if report["waiting_for"])
        words = ", ".join(name if len(reports) == 1 else f"{name} ({count})" for name, count in waits.items())
        failures = sum(report["failures"] for report in reports)
        sums: Counter[str] = Counter()
        for report in reports:
            sums.update(report["gauges"])
        figures = ", ".join(f"{key} {value:.5g}" for key, value in list(sums.items())[:SHOWN_FIGURES])
        name = kind if len(reports) == 1 else f"{kind} x {len(reports)}"
        table.add_row(name, words or "-", str(failures), figures, style="red" if failures else "")
    return table


def _alarms(status: Status) -> Table:
    """Alarms, and the first failure of each background loop: its last line says what it was."""
    table = Table("alarm", "what", title="Alarms")
    for alarm in status["alarms"][-SHOWN_ALARMS:]:
        table.add_row(Text(alarm["kind"], "red"), Text(visible(alarm["text"])))
    for name, report in sorted(status["actors"].items()):
        for where, trace in report.get("first_failures", {}).items():
            table.add_row(Text(f"{name}: {where}", "red"), Text(visible(trace.strip().rsplit("\n", 1)[-1])))
    return table


def _tokens_per_second(status: Status) -> float:
    reports = (report for name, report in status["actors"].items() if name.startswith("solver-"))
    return sum(report["gauges"].get("tokens_per_second", 0.0) for report in reports)


def _number(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "-" if value is None else str(value)
