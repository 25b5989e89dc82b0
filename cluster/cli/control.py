"""`envolve scale`, `pause`, `resume`, `checkpoint`, `stop`: a run that goes, from any machine that reaches it."""

from __future__ import annotations

from typing import Annotated

import typer

from cluster.cli.places import RUNS, Address, Folder, Run, fail, reached

SHOWN = 6
EXAMPLE = "for example sandbox=64 solver=6"


def scale(
    counts: Annotated[list[str], typer.Argument(help=f"KIND=COUNT, as often as you like: {EXAMPLE}.")],
    run: Run = "",
    folder: Folder = RUNS,
    address: Address = "",
) -> None:
    """Other numbers of actors: new ones are made, those too many finish what they have and end."""
    wanted = dict(_count(text) for text in counts)
    with reached(run, folder, address) as control:
        now = control.scale(wanted)
    typer.echo(f"{control.run} wants " + ", ".join(f"{kind}={count}" for kind, count in now.items()))


def pause(run: Run = "", folder: Folder = RUNS, address: Address = "") -> None:
    """Nothing new is made, asked or learnt after what is under way; everything stays loaded."""
    with reached(run, folder, address) as control:
        control.pause()
    typer.echo(f"{control.run} is paused; `envolve resume` lets it go on")


def resume(run: Run = "", folder: Folder = RUNS, address: Address = "") -> None:
    """Let a paused run go on. A run that was stopped is resumed by `envolve run`."""
    with reached(run, folder, address) as control:
        control.resume()
    typer.echo(f"{control.run} goes on")


def checkpoint(run: Run = "", folder: Folder = RUNS, address: Address = "") -> None:
    """Finish the update under way and save, now."""
    with reached(run, folder, address) as control:
        saved = control.checkpoint()
    if not saved:
        typer.echo(f"{control.run} trains no policy; what it counted is in its pool already")
    for policy, step in saved.items():
        typer.echo(f"{control.run}: step {step} of policy {policy} is saved")


def stop(
    run: Run = "",
    folder: Folder = RUNS,
    address: Address = "",
    now: Annotated[bool, typer.Option("--now", help="Save nothing; the last checkpoint stands.")] = False,
) -> None:
    """Finish the updates under way, save, and end the run; the same `envolve run` resumes it."""
    with reached(run, folder, address) as control:
        done = control.stop(now, _Progress(control.run, now).show)
    if done.get("served"):
        saved = "the pool and the statistics of its answers are kept"
    else:
        saved = f"step {done['checkpoint']} is saved" if done.get("checkpoint") else "no step is saved"
    step = f"; {saved}" if done else ""
    typer.echo(f"{control.run} is stopped{step}; the same `envolve run` resumes it")


class _Progress:
    """A line on standard error whenever other actors are left than before."""

    def __init__(self, run: str, now: bool) -> None:
        self._doing = f"stopping {run}" + ("" if now else ": finishing what is under way, and saving")
        self._before: list[str] = []

    def show(self, left: list[str]) -> None:
        if left and left != self._before:
            more = f" and {len(left) - SHOWN} more" if len(left) > SHOWN else ""
            typer.echo(f"{self._doing}; still there: {', '.join(left[:SHOWN])}{more}", err=True)
        self._before = left


def _count(text: str) -> tuple[str, int]:
    kind, equals, number = text.partition("=")
    if not (kind and equals and number.isdecimal()):
        fail(f"{text!r} says no count: write KIND=COUNT, {EXAMPLE}", 2)
    return kind, int(number)
