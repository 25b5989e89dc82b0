"""Finding the run or pool that a command means, and ending with a line that a person can act on."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from envpool.members import Member
from envpool.store import PoolReader, StoreError

Run = Annotated[str, typer.Option("--run", help="The run's name; the newest one without it.")]
Folder = Annotated[Path, typer.Option("--folder", help="Where run folders lie.")]
RUNS = Path("runs")


def fail(message: str, code: int = 1) -> NoReturn:
    """End the command with a reason on standard error."""
    typer.secho(f"envolve: {message}", err=True, fg="red")
    raise typer.Exit(code)


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


@contextmanager
def opened(folder: Path) -> Iterator[PoolReader]:
    """The run's pool, read-only; ends the command when it cannot be read."""
    path = folder / "pool"
    if not path.is_dir():
        fail(f"{folder} has no pool yet; the run has only begun")
    try:
        with PoolReader.open(path) as reader:
            yield reader
    except StoreError as error:
        fail(f"the pool in {path} cannot be read: {error}")


def member_named(reader: PoolReader, id: str) -> Member:
    """The member of an id or of its unique beginning; ends the command when there is none."""
    matches = [known for known in reader.ids() if known.startswith(id)]
    if id in matches:
        matches = [id]
    if len(matches) == 1 and (member := reader.get(matches[0])) is not None:
        return member
    if matches:
        fail(f"{id!r} begins {len(matches)} members: {', '.join(matches[:5])} ...; give more of it")
    fail(f"no member {id!r} in the pool; `envolve pool ls` lists them")
