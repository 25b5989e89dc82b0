"""`envolve status`: where a run stands, from a second shell."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from cluster.cli.places import RUNS, Address, Folder, Run, absent, console, fail, reached, run_folder
from cluster.going import driven, lives
from cluster.inspect.live import render
from cluster.inspect.tables import Status, duration
from cluster.report import counts, report
from cluster.run_folder import CONFIG_FILE, STATUS_FILE
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
    path = run_folder(run, folder)
    text = _written(path)
    if as_json:
        typer.echo(text)
    else:
        _show(path, json.loads(text))


def _written(folder: Path) -> str:
    try:
        return (folder / STATUS_FILE).read_text(encoding="utf-8")
    except FileNotFoundError:
        absent(folder, "status")


def _show(folder: Path, current: Status) -> None:
    screen, age = console(), time.time() - current["at"]
    done, stopped = current["phase"] == "done", _stopped(folder, current, age)
    if done or stopped:
        with suppress(StoreError):  # then what the run last wrote has to do
            current |= counts(folder)
    screen.print(render(current | {"stopped": stopped}))
    if done:
        try:
            screen.print(report(folder))
        except StoreError as error:
            fail(f"what the run came to cannot be read: {error}")
    elif stopped:
        screen.print(_where_it_stands(folder, current, age), style="yellow")
    elif age > STALE_SECONDS:
        screen.print(f"written {duration(age)} ago, yet its driver lives: the machine may be busy", style="yellow")


def _stopped(folder: Path, current: Status, age: float) -> bool:
    """Whether an unfinished run is not going: it wrote its last status while it drained, or it was killed."""
    if current["phase"] == "done":
        return False
    return (age > STALE_SECONDS and not driven(folder)) or bool(current.get("draining") and not lives(folder))


def _where_it_stands(folder: Path, current: Status, age: float) -> str:
    step = (current.get("checkpoint") or {"step": 0})["step"]
    saved = f"step {step} is saved" if step else "no step is saved"
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(current["at"]))
    return (
        f"stopped: last written {duration(age)} ago ({when}); {saved}; "
        f"`envolve run --config {folder / CONFIG_FILE}` resumes it"
    )
