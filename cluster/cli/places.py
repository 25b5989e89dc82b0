"""Finding the run or pool that a command means, and ending with a line that a person can act on."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from cluster.inspect.visible import visible
from envpool.members import Status
from envpool.store import PoolReader, StoreError

Run = Annotated[str, typer.Option("--run", help="The run's name; the newest one without it.")]
Folder = Annotated[Path, typer.Option("--folder", help="Where run folders lie.")]
RUNS = Path("runs")
PIPE_WIDTH = 200


def fail(message: str, code: int = 1) -> NoReturn:
    """End the command with a reason on standard error."""
    typer.secho(f"envolve: {visible(message)}", err=True, fg="red")
    raise typer.Exit(code)


def console() -> Console:
    """Where commands draw: text as it is, since types hold brackets, and wide where no terminal sets a width."""
    return Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)


def run_folder(run: str, folder: Path) -> Path:
    """The folder of the named run, or of the newest one; ends the command when there is none."""
    runs = sorted(
        (path for path in folder.glob("*") if (path / "config.yaml").is_file()),
        key=lambda path: (path / "config.yaml").stat().st_mtime,
    )
    if not run:
        if not runs:
            fail(f"no run in {folder.resolve()}; start one with `envolve run`, or say where with --folder")
        return runs[-1]
    if (folder / run / "config.yaml").is_file():
        return folder / run
    close = difflib.get_close_matches(run, [path.name for path in runs], n=1)
    fail(f"no run {run!r} in {folder.resolve()}" + (f"; did you mean {close[0]!r}?" if close else ""))


def pool_folder(folder: Path) -> Path:
    """Where the run's pool lies; ends the command when there is none."""
    if not (folder / "pool" / "data.mdb").is_file():
        fail(f"{folder} has no pool yet; the run has only begun")
    return folder / "pool"


@contextmanager
def opened(folder: Path) -> Iterator[PoolReader]:
    """The run's pool, read-only; ends the command when it cannot be read."""
    path = pool_folder(folder)
    try:
        with PoolReader.open(path) as reader:
            yield reader
    except StoreError as error:
        fail(f"the pool in {path} cannot be read: {error}")


def whole_id(reader: PoolReader, id: str) -> str:
    """The id of a member or rejected candidate, from its unique beginning; ends the command when there is none."""
    if reader.status(id) is not None:
        return id
    matches = [known for known in reader.ids() + reader.ids(Status.REJECTED) if known.startswith(id)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        fail(f"{id!r} begins {len(matches)} ids: {', '.join(matches[:5])} ...; give more of it")
    fail(f"no member or candidate {id!r} in the pool; `envolve pool ls` lists them")
