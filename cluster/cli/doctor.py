"""`envolve doctor`: what this machine's kernel and container let the sandbox do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from cluster.cli.places import console
from cluster.inspect.visible import visible
from envpool.sandbox.doctor import Finding, Report, State, examine

WIDTH = 120
"""At most, also where no terminal sets a width."""
COLOURS = {State.HOLDS: "green", State.MISSING: "yellow"}


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="The whole report as one JSON object.")] = False,
) -> None:
    """Start the sandbox on each rung and say which layers hold here. Exit 1 where no safe rung starts."""
    report = examine()
    if as_json:
        typer.echo(json.dumps(report.to_dict()))
    else:
        _show(report)
    if not report.taken:
        raise typer.Exit(1)


def _show(report: Report) -> None:
    screen = console()
    screen.print(", ".join(report.machine.values()))
    screen.print(
        f"A sandbox here stands on rung {report.taken}." if report.taken else "No sandbox starts here."
    )
    rungs = [
        (rung, Text("no", "yellow") if reason else Text("yes", "green"), visible(reason))
        for rung, reason in report.rungs.items()
    ]
    layers = [
        (each.layer, Text(each.state, COLOURS.get(each.state, "dim")), each.stops, _remark(each))
        for each in report.findings
    ]
    width = min(screen.width, WIDTH)
    screen.print(_table(("rung", "offered", "why not"), rungs), width=width)
    screen.print(_table(("layer", "state", "what it stops", "remark"), layers), width=width)


def _remark(found: Finding) -> str:
    """What was found, and what would be needed where the layer does not hold."""
    return visible("; ".join(filter(None, (found.remark, found.needed and f"needed: {found.needed}"))))


def _table(names: Sequence[str], rows: Sequence[Sequence[str | Text]]) -> Table:
    """Without the columns that are empty; the first is never folded."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    kept = [place for place in range(len(names)) if any(row[place] for row in rows)]
    for place in kept:
        table.add_column(names[place], no_wrap=place == 0)
    for row in rows:
        table.add_row(*(row[place] for place in kept))
    return table
