"""`envolve doctor`: what this machine's kernel and container let the sandbox do."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from cluster.cli.places import console
from cluster.inspect.visible import visible
from envpool.sandbox.doctor import Report, State, examine

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
    rungs = Table("rung", "offered", "why not")
    for rung, reason in report.rungs.items():
        rungs.add_row(rung, Text("no", "yellow") if reason else Text("yes", "green"), visible(reason))
    screen.print(rungs)
    layers = Table("layer", "state", "what it stops", "remark", "what it would need")
    for found in report.findings:
        state = Text(found.state, COLOURS.get(found.state, "dim"))
        layers.add_row(found.layer, state, found.stops, visible(found.remark), visible(found.needed))
    screen.print(layers)
