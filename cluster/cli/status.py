"""`envolve status`: where a run stands, from a second shell."""

from __future__ import annotations

import json
import time
from typing import Annotated

import typer

from cluster.cli.places import RUNS, Address, Folder, Run, console, fail, reached, run_folder
from cluster.inspect.live import render
from cluster.report import report
from envpool.store import StoreError

STALE_SECONDS = 15.0


def status(
    run: Run = "",
    folder: Folder = RUNS,
    address: Address = "",
    as_json: Annotated[bool, typer.Option("--json", help="The whole status as JSON.")] = False,
) -> None:
    """Step, success, pool, funnel, and who waits for whom, as the run last wrote them; what a finished run came to.

    With --address the run's cluster is asked, for a run whose folder is not on this machine.
    """
    if address:
        with reached(run, folder, address) as control:
            told = control.status()
        if as_json:
            typer.echo(json.dumps(told, default=str))
        else:
            console().print(render(told))
        return
    path = run_folder(run, folder) / "status.json"
    if not path.is_file():
        fail(f"{path.parent.name} has written no status yet; it takes a few seconds after the start")
    text = path.read_text(encoding="utf-8")
    if as_json:
        typer.echo(text)
        return
    current = json.loads(text)
    screen = console()
    screen.print(render(current))
    age = time.time() - current["at"]
    if current["phase"] == "done":
        try:
            screen.print(report(path.parent))
        except StoreError as error:
            fail(f"what the run came to cannot be read: {error}")
    elif age > STALE_SECONDS:
        resume = f"`envolve run --config {path.parent / 'config.yaml'}`"
        screen.print(f"written {age:.0f} s ago: the run is not going; {resume} resumes it", style="yellow")
