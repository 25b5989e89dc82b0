"""`envolve pool backup`, `check`, `compact`, `migrate` and `restore`: keeping a pool whole, and getting it back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cluster.cli.places import RUNS, Folder, Run, fail, pool_folder, run_folder
from cluster.inspect.visible import visible
from cluster.run_folder import pool_of
from envpool.store import PoolReader, PoolWriter, StoreError
from envpool.store.apart import check_at
from envpool.store.backup import Copy, backup, compact, restore
from envpool.store.environment import stored_schema
from envpool.store.integrity import Finding
from envpool.store.migration import SCHEMA

AsJson = Annotated[bool, typer.Option("--json", help="JSON instead of lines.")]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command("backup")(back_up)
    app.command("check")(check_pool)
    app.command("compact")(compact_pool)
    app.command("migrate")(migrate_pool)
    app.command("restore")(restore_pool)


def back_up(
    target: Annotated[Path, typer.Argument(help="A new or empty folder.")],
    run: Run = "",
    folder: Folder = RUNS,
) -> None:
    """Copy a run's pool, while it runs or after; the copy is a whole pool of one moment."""
    path = pool_folder(run_folder(run, folder))
    with _refusals(), PoolReader.open(path) as pool:
        copy = backup(pool, target)
    typer.echo(f"{target}: {_described(copy)}")


def check_pool(
    path: Annotated[
        Path | None, typer.Argument(help="A pool's or a backup's folder; without it, the run's pool.")
    ] = None,
    run: Run = "",
    folder: Folder = RUNS,
    as_json: AsJson = False,
) -> None:
    """Whether a pool is whole: records, indexes, counters and journal agree. Ends with 1 where they do not."""
    where = path or pool_folder(run_folder(run, folder))
    with _refusals():
        found = check_at(where)
    if as_json:
        typer.echo(json.dumps([asdict(finding) for finding in found], indent=1))
    elif found:
        for finding in found:
            typer.echo(_line(finding))
        typer.echo(
            f"envolve: {where} is damaged in {len(found)} places; `envolve pool restore` takes a backup back",
            err=True,
        )
    else:
        with _refusals(), PoolReader.open(where) as pool:
            typer.echo(f"{where}: whole, {len(pool.ids())} members, {pool.last_sequence()} journal entries")
    if found:
        raise typer.Exit(1)


def compact_pool(run: Run = "", folder: Folder = RUNS) -> None:
    """Give the unused space of a pool's file back; the run must not be going just now."""
    path = pool_folder(run_folder(run, folder))
    with _refusals():
        sizes = compact(path)
    typer.echo(f"{path}: {sizes.before:,} bytes before, {sizes.after:,} after")


def migrate_pool(
    path: Annotated[Path | None, typer.Argument(help="A pool's folder; without it, the run's pool.")] = None,
    run: Run = "",
    folder: Folder = RUNS,
) -> None:
    """Bring a pool of an older version to this version's schema; a copy of the old one is kept beside it."""
    where = path or pool_folder(run_folder(run, folder))
    with _refusals():
        before = stored_schema(where)
        if before == SCHEMA:
            typer.echo(f"{where}: it has schema {SCHEMA} already")
            return
        PoolWriter.open(where, map_size=0).close()
    typer.echo(
        f"{where}: schema {before} became {SCHEMA}; the old pool is in {where / f'backup-schema-{before}'}"
    )


def restore_pool(
    source: Annotated[Path, typer.Argument(help="The folder of a backup.")],
    run: Annotated[str, typer.Option("--run", help="The run's name.")],
    folder: Folder = RUNS,
) -> None:
    """Put a backup in the place of a run's pool; the run must not be going just now. The old pool is kept aside."""
    run_at = run_folder(run, folder)
    with _refusals():
        path = pool_of(run_at)
        if (source / "data.mdb").is_file():  # else `restore` says what is wrong with it
            _refuse_newer_checkpoints(source, run_at)
        copy, kept = restore(source, path)
    typer.echo(f"{path}: {_described(copy)}" + (f"; the old pool is in {kept}" if kept else ""))


def _refuse_newer_checkpoints(source: Path, run_at: Path) -> None:
    """Groups that wait in the backup may be in the weights of a checkpoint that it does not know: trained twice."""
    with PoolReader.open(source) as pool:
        known = int((pool.state("weights") or {"version": 0})["version"])
    newer = [
        folder
        for folder in (run_at / "checkpoints").glob("version-*")
        if int(folder.name.removeprefix("version-")) > known
    ]
    if newer:
        fail(
            f"{len(newer)} checkpoints in {run_at / 'checkpoints'} are newer than the backup (version {known}): "
            f"what waits in it may be trained in them already; move them away first"
        )


def _described(copy: Copy) -> str:
    return f"{copy.members} members, journal up to {copy.sequence}, {copy.bytes:,} bytes"


def _line(finding: Finding) -> str:
    return visible(f"{finding.database}  {finding.key}  {finding.text}")


@contextmanager
def _refusals() -> Iterator[None]:
    """What the store refuses ends the command with its reason."""
    try:
        yield
    except StoreError as error:
        fail(str(error))
