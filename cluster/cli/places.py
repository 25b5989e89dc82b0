"""Finding the run or pool that a command means, and ending with a line that a person can act on."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.console import Console

from cluster.going import lives
from cluster.inspect.visible import visible
from cluster.run_folder import CONFIG_FILE, begun, pool_of
from envpool.exchange.opening import store_at
from envpool.members import Status
from envpool.store import PoolReader, StoreError

if TYPE_CHECKING:
    from cluster.control import Control

Run = Annotated[str, typer.Option("--run", help="The run's name; the newest one without it.")]
Folder = Annotated[Path, typer.Option("--folder", help="Where run folders lie.")]
PoolAt = Annotated[
    Path | None,
    typer.Option("--pool", help="A pool by its own folder, as an import makes one, in place of a run's."),
]
Address = Annotated[
    str,
    typer.Option(
        "--address",
        help="Where the run's cluster answers: HOST:6379 on one of its nodes, ray://HOST:10001 from elsewhere; "
        "without it RAY_ADDRESS, or what the run's folder says.",
    ),
]
RUNS = Path("runs")
PIPE_WIDTH = 200


def fail(message: str, code: int = 1) -> NoReturn:
    """End the command with a reason on standard error."""
    typer.secho(f"envolve: {visible(message)}", err=True, fg="red")
    raise typer.Exit(code)


def console() -> Console:
    """Where commands draw: text as it is, since types hold brackets, and wide where no terminal sets a width."""
    return Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)


@contextmanager
def reached(run: str, folder: Path, address: str) -> Iterator[Control]:
    """The run's supervisor; ends the command when it is not reached or refuses.

    Without a name it is the newest run of the folder, or, where an address is given, the only run of that cluster.
    """
    # Only now: Ray takes seconds to import, which --help and wrong arguments need not pay.
    from cluster.control import ControlRefused, RunNotReached, connected
    from cluster.submission import SubmissionError

    here = None if run or address else _newest(folder)
    name = here.name if here else run
    try:
        with connected(name, folder, address) as control:
            yield control
    except (RunNotReached, ControlRefused, SubmissionError) as error:
        fail(str(error))


def run_folder(run: str, folder: Path) -> Path:
    """The folder of the named run, or of the newest one; ends the command when there is none."""
    if not run:
        if newest := _newest(folder):
            return newest
        hint = "; start one with `envolve run`, or say where with --folder"
        fail(f"no run in {folder.resolve()}{_pool_among(folder, *sorted(folder.glob('*'))) or hint}")
    if (folder / run / CONFIG_FILE).is_file():
        return folder / run
    close = difflib.get_close_matches(run, [path.name for path in _runs(folder)], n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    fail(f"no run {run!r} in {folder.resolve()}{_pool_among(folder / run, Path(run)) or hint}")


def _pool_among(*places: Path) -> str:
    """A hint to the pool by itself that may have been meant for a run."""
    found = next((place for place in places if (place / "data.mdb").is_file()), None)
    return f", but a pool by itself: look into it with `envolve pool ls --pool {found}`" if found else ""


def absent(folder: Path, what: str) -> NoReturn:
    """End the command where a run has not written what is asked for: it is still starting, or nothing of it lives."""
    lacks, command = f"{folder.name} has no {what} yet", f"`envolve run --config {folder / CONFIG_FILE}`"
    if lives(folder):
        fail(f"{lacks}: it is starting, which can take some minutes where the machine is busy")
    if begun(folder):
        fail(f"{lacks}, and nothing of it lives; {command} resumes it")
    fail(f"{lacks}: it did not start, and nothing of it lives; {command} starts it, `rm -r {folder}` removes it")


def _newest(folder: Path) -> Path | None:
    """The newest run that left something to look at or may be starting, else the newest; says whom it passes over."""
    runs = _runs(folder)
    shown = next((path for path in reversed(runs) if begun(path) or lives(path)), runs[-1] if runs else None)
    if shown and shown != runs[-1]:
        typer.echo(f"{runs[-1].name} is newer but did not start; this is {shown.name}", err=True)
    return shown


def _runs(folder: Path) -> list[Path]:
    """The folders of runs, the newest last."""
    return sorted(
        (path for path in folder.glob("*") if (path / CONFIG_FILE).is_file()),
        key=lambda path: (path / CONFIG_FILE).stat().st_mtime,
    )


def pool_folder(folder: Path) -> Path:
    """Where the run's pool lies; ends the command when there is none."""
    try:
        path = pool_of(folder)
    except StoreError as error:
        fail(str(error))
    if not (path / "data.mdb").is_file():
        if path.parent == folder:
            absent(folder, "pool")
        fail(f"no pool in {path}")
    return path


def pool_meant(run: str, folder: Path, pool: Path | None) -> Path:
    """Where the pool lies that is asked for: a run's, or one by its folder; ends the command when there is none."""
    if pool is None:
        return pool_folder(run_folder(run, folder))
    if run:
        fail("--run names a run's pool and --pool says where one lies: give one of the two", 2)
    try:
        found = store_at(pool)
    except (StoreError, OSError) as error:
        fail(str(error))
    return found or fail(f"no pool in {pool.resolve()}: it holds neither data.mdb nor a run's {CONFIG_FILE}")


@contextmanager
def opened(folder: Path) -> Iterator[PoolReader]:
    """The run's pool, read-only; ends the command when it cannot be read."""
    with opened_at(pool_folder(folder)) as reader:
        yield reader


@contextmanager
def opened_at(path: Path) -> Iterator[PoolReader]:
    """The pool in this folder, read-only; ends the command when it cannot be read."""
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
