"""What all exports share: the pool that is taken out, the folder it goes to, and how a command ends.

Invariant: a folder appears whole or not at all, and none that holds something is written into. A package takes no name
that is taken where it will be imported.
"""

from __future__ import annotations

import asyncio
import keyword
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from cluster.cli.advance import Advance
from cluster.cli.places import RUNS, fail
from cluster.resolve import resolve
from envpool import Pool
from envpool.exchange.gathering import Split
from envpool.exchange.opening import read_pool
from envpool.exchange.shipped_pool import shipped_snapshot
from envpool.exchange.snapshot import Snapshot, SnapshotError
from envpool.sandbox.results import InfrastructureFault, SandboxUnavailable
from envpool.store import StoreError

SHIPPED = "shipped"
HELD_OUT_AS_IN = "local"
"""The preset whose held-out programs are set apart where the shipped ones are exported."""
UNDECIDED = 2
TAKEN = sys.stdlib_module_names | {
    *("envolve", "envpool", "actors", "cluster", "training"),
    *("reasoning_gym", "verifiers", "tests"),
}
"""Names that a package cannot have where Envolve and what it is written for are installed."""

From = Annotated[
    str,
    typer.Argument(
        metavar="POOL",
        help="A run's folder or its name in runs/, a pool's or a backup's folder, or a snapshot; or the word shipped "
        "for the seeds and bricks that ship with Envolve.",
    ),
]


def _free(out: Path) -> Path:
    """Asked before the pool is read, which takes a while; ends the command where the folder holds something."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        fail(f"{out} is there already, and not empty; an export makes a folder of its own")
    if Path.cwd().is_relative_to(out.resolve()):
        fail(f"{out} is the folder that you are in, which cannot be replaced: name a new one")
    return out


Into = Annotated[
    Path, typer.Argument(metavar="FOLDER", callback=_free, help="The folder to write, new or empty.")
]
Train = Annotated[int, typer.Option(min=0, help="Questions to train on.")]
Questions = Annotated[int, typer.Option(min=0, help="Held-out questions of the members trained on.")]
Families = Annotated[int, typer.Option(min=0, help="Questions of members that are set apart whole.")]
Seed = Annotated[int, typer.Option(help="Another seed draws other questions.")]
Licence = Annotated[
    str, typer.Option(help="Of members that say none of their own: an SPDX expression, such as MIT.")
]
Packages = Annotated[
    list[str] | None,
    typer.Option(help="Where a package that members import lies: name=path. May be repeated."),
]
Level = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Ask programs at this level; without it, where the run's policy stands, which is 0 at first. The gates "
        "look at 0 to 2 when they admit a program. Composites are asked where they were measured.",
    ),
]


@contextmanager
def taken(pool: str, licence: str = "", packages: Sequence[str] | None = None) -> Iterator[Pool]:
    """The pool that is to leave; what goes wrong with it ends the command."""
    try:
        snapshot = _snapshot(pool)
        if licence:
            snapshot = replace(snapshot, provenance=replace(snapshot.provenance, licence=licence))
        with Pool(snapshot, packages=packages or ()) as opened:
            yield opened
    except (StoreError, SnapshotError, SandboxUnavailable) as error:
        fail(str(error))
    except InfrastructureFault as error:
        fail(f"the machine failed: {error}; this says nothing about the pool, so try again", UNDECIDED)
    except OSError as error:
        fail(f"{error.filename or pool}: {error.strerror or error}")


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """A folder to write into, which becomes `out` once all is written."""
    partial = _free(out).absolute().with_name(f".{out.name}.{os.getpid()}.partial")
    try:
        partial.mkdir(parents=True)
        yield partial
        os.rename(partial, out)  # takes the place of an empty folder, and of no other
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def check_name(name: str) -> None:
    """Ends the command where a package of this name could not be imported, or something else would be in its place."""
    if not (name.isascii() and name.isidentifier() and name == name.lower()) or keyword.iskeyword(name):
        fail(
            f"--name {name}: a package is named with small letters, digits and underscores, and no word of Python's",
            2,
        )
    if name in TAKEN:
        fail(f"--name {name} is taken, by Python or by what such a package needs: choose another", 2)


def say_what_is_missing(
    wanted: Mapping[Split, int], got: Mapping[Split, int], left_out: Mapping[str, int]
) -> None:
    """On standard error: splits that are smaller than asked for, and members whose programs broke."""
    for split, count in wanted.items():
        if got.get(split, 0) < count:
            typer.echo(
                f"envolve: {split}: {got.get(split, 0):,} of {count:,}: the pool has no more questions",
                err=True,
            )
    for member, draws in left_out.items():
        typer.echo(f"envolve: left out: {member} broke on {draws} draws", err=True)


def _snapshot(pool: str) -> Snapshot:
    if pool == SHIPPED and not Path(pool).exists():
        held_out = resolve(HELD_OUT_AS_IN).pool.held_out
        with Advance() as advance:
            told = partial(advance.show, "programs read")
            return asyncio.run(shipped_snapshot(held_out=held_out, tell=told))
    named = RUNS / pool
    return read_pool(named if named.is_dir() and not Path(pool).exists() else pool)
