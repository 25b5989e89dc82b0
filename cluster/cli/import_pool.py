"""`envolve import`: environments of other collections, and files of one's own, into a pool, through the gates.

The pool is that of a run, whether it goes just now or stands still, or one by itself (`--into`), which a later run
begins with (`pool.imports`). Each task is written before the next one is judged, so that a command that was stopped, or
whose machine failed, goes on where it was when it is given again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cluster.cli.importing import Wish, carry_out
from cluster.cli.places import RUNS, Address, Folder, Run, fail
from envpool.exchange import folder as own_files
from envpool.exchange import rlve
from envpool.exchange.offers import UnknownTask
from envpool.exchange.opening import DATA
from envpool.members import Origin
from envpool.run_pool import CONFIG_FILE
from envpool.sandbox.results import SandboxUnavailable
from envpool.store.locking import WRITER_LOCK

app = typer.Typer(no_args_is_help=True, help="Bring environments of others into a pool, through every gate.")


def _fit(into: Path | None) -> Path | None:
    """A pool's or a run's folder, or one that a pool can be made in: not beside files that are somebody's."""
    try:
        if into is not None and into.exists() and not into.is_dir():
            fail(f"--into {into} is a file; a pool is a folder", 2)
        if into is not None and (others := _others(into)):
            fail(
                f"--into {into} holds no pool but other files ({', '.join(others[:3])}); a new pool wants a folder "
                "that is not there or empty",
                2,
            )
    except OSError as error:
        fail(f"--into {into} cannot be looked at ({error.strerror or error}); give another folder", 2)
    return into


def _others(into: Path) -> list[str]:
    """What lies in a folder that is neither a run's nor a pool's, without what a pool's making leaves if cut off."""
    if not into.is_dir() or any((into / kept).is_file() for kept in (CONFIG_FILE, DATA)):
        return []
    return sorted({entry.name for entry in into.iterdir()} - {WRITER_LOCK, "lock.mdb"})


Into = Annotated[
    Path | None,
    typer.Option(
        "--into",
        callback=_fit,
        help="A pool by itself, made where there is none (the folder new or empty), in place of a run's pool.",
    ),
]
HeldOut = Annotated[
    bool, typer.Option("--held-out", help="Set all of them apart, for evaluation: never trained on.")
]
Jobs = Annotated[int, typer.Option(min=1, help="Tasks judged at once.")]
Again = Annotated[bool, typer.Option("--again", help="Judge what was rejected before once more.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object a task.")]
Report = Annotated[Path | None, typer.Option("--report", help="A file for the whole report, as JSON.")]


@app.command("reasoning-gym")
def reasoning_gym(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME|all", help="Tasks by their names, patterns allowed.")
    ],
    into: Into = None,
    run: Run = "",
    folder: Folder = RUNS,
    address: Address = "",
    held_out: HeldOut = False,
    jobs: Jobs = 1,
    again: Again = False,
    as_json: AsJson = False,
    report: Report = None,
) -> None:
    """Tasks of reasoning-gym, scored by themselves in the sandbox; a fixed few are always set apart.

    Exit 0 when the pool has all of them, 1 when one is rejected, 2 when something cannot be read or the machine gave
    no verdict.
    """
    try:
        from envpool.exchange.reasoning_gym import programs

        offers = programs(names)
    except ImportError as error:
        fail(f"reasoning-gym cannot be imported ({error}); it comes with the extra `reasoning-gym`", 2)
    except UnknownTask as error:
        fail(str(error), 2)
    wish = Wish(
        "reasoning-gym", Origin.IMPORTED, into, run, folder, address, held_out, jobs, again, as_json, report
    )
    carry_out(wish, offers)


@app.command("rlve")
def rlve_gym(
    checkout: Annotated[Path, typer.Argument(help="A checkout of RLVE: the folder that holds `Gym`.")],
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Tasks by RLVE's names, patterns allowed; else all."),
    ] = None,
    into: Into = None,
    run: Run = "",
    folder: Folder = RUNS,
    address: Address = "",
    held_out: HeldOut = False,
    jobs: Jobs = 1,
    again: Again = False,
    as_json: AsJson = False,
    report: Report = None,
) -> None:
    """Tasks of RLVE-Gym; each becomes a program of its own, which needs the checkout no more.

    Exit 0 when the pool has all of them, 1 when one is rejected, 2 when something cannot be read or the machine gave
    no verdict.
    """
    try:
        offers = rlve.offers(checkout, names or ["all"])
    except (rlve.NoCheckout, UnknownTask) as error:
        fail(str(error), 2)
    wish = Wish(
        "RLVE-Gym", Origin.IMPORTED, into, run, folder, address, held_out, jobs, again, as_json, report
    )
    carry_out(wish, offers)


@app.command("folder")
def files(
    path: Annotated[
        Path, typer.Argument(help="A folder of Python files with one Environment each, or one file.")
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="topic/name for topic/name.py, patterns allowed."),
    ] = None,
    package: Annotated[
        list[str] | None,
        typer.Option(
            "--package", help="A package that they may import: NAME, or NAME=FOLDER. May be repeated."
        ),
    ] = None,
    into: Into = None,
    run: Run = "",
    folder: Folder = RUNS,
    address: Address = "",
    held_out: HeldOut = False,
    jobs: Jobs = 1,
    again: Again = False,
    as_json: AsJson = False,
    report: Report = None,
) -> None:
    """Files in this project's own contract.

    Exit 0 when the pool has all of them, 1 when one is rejected, 2 when something cannot be read or the machine gave
    no verdict.
    """
    try:
        offers = own_files.offers(path, names or ["all"], package or [])
    except (own_files.NoPrograms, UnknownTask, SandboxUnavailable) as error:
        fail(str(error), 2)
    wish = Wish(str(path), Origin.USER, into, run, folder, address, held_out, jobs, again, as_json, report)
    carry_out(wish, offers, package or [])


def register(parent: Any) -> None:
    """Adds the commands."""
    parent.add_typer(app, name="import")
