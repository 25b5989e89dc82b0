"""What every `envolve import` does with its offers: find the pool, bring them in, say what became of each.

A pool that nobody writes is written here, and its run, where it has one, cannot begin to go meanwhile. One that a run
writes is brought to by that run's validator, like every other candidate of the run, so that its gates, its sandboxes
and its one writer stay what decides.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.progress import Progress

from cluster.cli.places import console, fail, pool_folder, reached, run_folder
from cluster.going import answers, driven, lives
from cluster.inspect.visible import visible
from cluster.resolve import ConfigError, resolve
from cluster.run_folder import CONFIG_FILE, RunFolderError, locked
from envpool.admission.tryout import Tryout
from envpool.exchange.importing import Door, Ended, Row, Standing, bring_in, members_of, seen
from envpool.exchange.offers import Offer
from envpool.exchange.provenance import envolve_version, now
from envpool.members import Origin
from envpool.sandbox.packages import lacking, placed, tops
from envpool.sandbox.results import InfrastructureFault, SandboxUnavailable
from envpool.store import PoolReader, PoolWriter, StoreError

if TYPE_CHECKING:
    from cluster.control import Control

UNDECIDED, INTERRUPTED = 2, 130
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked for on the command line."""

    what: str
    origin: Origin
    into: Path | None
    run: str
    folder: Path
    address: str
    held_out: bool
    jobs: int
    again: bool
    as_json: bool
    report: Path | None


def carry_out(wish: Wish, offers: Sequence[Offer], packages: Sequence[str] = ()) -> None:
    """Bring the offers in and end the command as its help says; `packages` say where some lie that offers name."""
    if wish.held_out:
        offers = [replace(offer, held_out=True) for offer in offers]
    if wish.report is not None:
        _refuse_unwritable(wish.report)
    run_at = _run(wish)
    path = pool_folder(run_at) if run_at else wish.into
    assert path is not None
    told = _Told(wish, path, len(offers))
    try:
        with told:
            if run_at is not None and _goes(run_at, wish.address):
                _going(wish, run_at, path, offers, told)
            else:
                with locked(run_at) if run_at else nullcontext(), _writable(path) as pool:
                    asyncio.run(_standing(wish, pool, offers, _where(offers, packages), told))
    except (SandboxUnavailable, StoreError, RunFolderError) as error:
        fail(str(error), UNDECIDED)
    except KeyboardInterrupt:
        done = f"{len(told.rows)} of {len(offers)}"
        typer.echo(f"envolve: stopped after {done}; the same command goes on there", err=True)
        raise typer.Exit(INTERRUPTED) from None
    _say_how_to_go_on(path, run_at, offers, packages, told.rows)
    if any(row.ended is Ended.UNDECIDED for row in told.rows):
        fail(
            "some got no verdict, which says nothing about them; the same command tries them again", UNDECIDED
        )
    if any(row.ended is Ended.REJECTED for row in told.rows):
        raise typer.Exit(1)


def _run(wish: Wish) -> Path | None:
    """The folder of the run whose pool is meant; None for a pool by itself."""
    if wish.into is None:
        return run_folder(wish.run, wish.folder)
    return wish.into if (wish.into / CONFIG_FILE).is_file() else None


def _goes(run_at: Path, address: str) -> bool:
    """Whether a run goes, so that its pool is its own, also while nobody writes it. Raises StoreError."""
    if not answers(run_at):
        if driven(run_at):
            raise StoreError(
                f"{run_at.name} is starting, or another `envolve import` writes its pool: try again after that"
            )
        return False
    return driven(run_at) or _in_cluster(run_at, address)


def _in_cluster(run_at: Path, address: str) -> bool:
    """Whether the cluster that answers still has the run: one may outlive it, and it may outlive its driver."""
    from cluster.control import RunNotReached, connected, runs_in_cluster

    try:
        with connected(run_at.name, run_at.parent, address):
            return run_at.name in runs_in_cluster()
    except RunNotReached:
        return False


@contextmanager
def _writable(path: Path) -> Iterator[PoolWriter]:
    """The pool to write. Raises StoreError."""
    try:
        pool = PoolWriter.open(path)
    except StoreError as error:
        raise StoreError(
            f"{error}; a pool that stands still is imported into while nobody else writes it"
        ) from error
    except OSError as error:
        raise StoreError(
            f"no pool can be made in {path} ({error.strerror or error}); give --into another folder"
        ) from error
    with pool:
        yield pool


async def _standing(
    wish: Wish, pool: PoolWriter, offers: Sequence[Offer], packages: Sequence[str], told: _Told
) -> None:
    async with Tryout(wish.origin, members_of(pool), width=wish.jobs, packages=packages) as tryout:
        door = Standing(pool, tryout, wish.origin, tops(packages))
        async for row in bring_in(door, offers, wish.jobs, wish.again):
            told(row)


def _going(wish: Wish, run_at: Path, path: Path, offers: Sequence[Offer], told: _Told) -> None:
    """Through the validator of a run that goes."""
    if absent := lacking(_needed(offers), _configured(run_at)):
        fail(
            f"the sandboxes of {run_at.name} lack {', '.join(absent)}, and a run that goes gets no other ones: stop "
            f"it (`envolve stop --run {run_at.name}`), give this command again, and resume it as that says",
            UNDECIDED,
        )

    async def bring(control: Control, pool: PoolReader) -> None:
        async for row in bring_in(_Validator(control, pool, wish.origin), offers, wish.jobs, wish.again):
            told(row)

    with PoolReader.open(path) as pool, reached(run_at.name, run_at.parent, wish.address) as control:
        asyncio.run(bring(control, pool))


class _Validator(Door):
    """The validator of a run as the door to its pool."""

    def __init__(self, control: Control, pool: PoolReader, origin: Origin) -> None:
        self._control = control
        self._pool = pool
        self._origin = origin

    def seen(self, offer: Offer) -> Row | None:
        return seen(self._pool, offer)

    async def judge(self, offer: Offer) -> Row:
        verdict = await asyncio.to_thread(self._control.judge, offer, self._origin)
        known = self.seen(offer)
        if known is not None and known.ended is Ended.THERE:
            # Also where it was asked twice, and found to be its own copy.
            return replace(known, ended=Ended.ADMITTED, reason=verdict["reason"], before=False)
        gate, reason = verdict["gate"], verdict["reason"]
        if not gate:
            raise InfrastructureFault("it passed, but is not in the pool")
        return Row(offer.name, Ended.REJECTED, verdict["id"], gate, reason, offer.held_out)


class _Told:
    """What is said of each offer as it comes, and of all of them at the end."""

    def __init__(self, wish: Wish, path: Path, total: int) -> None:
        self.rows: list[Row] = []
        self._wish, self._path, self._total = wish, path, total
        self._started = time.monotonic()
        self._screen, self._output = console(), sys.stdout
        self._screen.file = self._output  # also where a cluster is joined, and what is printed is diverted
        self._progress = Progress(
            console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()
        )
        self._task = self._progress.add_task(wish.what, total=total)

    def __enter__(self) -> _Told:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Also of what was cut short."""
        self._progress.stop()
        if self.rows and not self._wish.as_json:
            self._screen.print(f"{self._summary()}; {time.monotonic() - self._started:.1f} s", soft_wrap=True)
        if self._wish.report is not None:
            _write(self._wish.report, self._whole())

    def __call__(self, row: Row) -> None:
        self.rows.append(row)
        if self._wish.as_json:
            typer.echo(json.dumps(row.to_dict()), file=self._output)
        else:
            self._screen.print(_line(row), soft_wrap=True)
        self._progress.advance(self._task)

    def _whole(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA, "what": self._wish.what, "pool": str(self._path), "envolve": envolve_version(),
            "created": now(), "offered": self._total, "counts": dict(Counter(row.ended for row in self.rows)),
            "gates": self._gates(), "rows": [row.to_dict() for row in self.rows],
        }  # fmt: skip

    def _gates(self) -> dict[str, int]:
        return dict(Counter(row.gate for row in self.rows if row.ended is Ended.REJECTED).most_common())

    def _summary(self) -> str:
        counts = Counter(row.ended for row in self.rows)
        parts = [f"{counts[Ended.ADMITTED] + counts[Ended.THERE]} of {len(self.rows)} in the pool"]
        if counts[Ended.THERE]:
            parts.append(f"{counts[Ended.THERE]} of them before")
        if held_out := sum(row.held_out and row.ended is not Ended.REJECTED for row in self.rows):
            parts.append(f"{held_out} set apart")
        if gates := self._gates():
            parts.append("rejected at " + ", ".join(f"{gate} {count}" for gate, count in gates.items()))
        return "; ".join(parts)


def _line(row: Row) -> str:
    what = f"rejected at {row.gate}" if row.ended is Ended.REJECTED else str(row.ended)
    marks = " (held out)" * row.held_out + " (before)" * row.before
    reason = {Ended.THERE: row.id, Ended.ADMITTED: f"{row.id}, {row.reason}"}.get(row.ended, row.reason)
    return visible(f"{row.name}  {what}{marks}: {reason}")


def _refuse_unwritable(report: Path) -> None:
    """Before the work, which would have no report."""
    try:
        if report.exists() and not report.is_file():
            fail(
                f"--report {report} is no file but a folder or a device; give a file, such as report.json", 2
            )
        if not report.parent.is_dir():
            fail(f"--report {report}: there is no folder {report.parent}", 2)
        _scratch(report).touch()
        _scratch(report).unlink()
    except OSError as error:
        fail(f"--report {report} cannot be written ({error.strerror or error}); give a file elsewhere", 2)


def _write(report: Path, whole: dict[str, Any]) -> None:
    scratch = _scratch(report)
    try:
        scratch.write_text(json.dumps(whole, indent=1), encoding="utf-8")
        scratch.replace(report)
    except OSError as error:
        scratch.unlink(missing_ok=True)
        fail(
            f"--report {report} was not written ({error.strerror or error}); what was decided is in the pool, and the "
            "same command tells it again",
            UNDECIDED,
        )


def _scratch(report: Path) -> Path:
    return report.with_name(f".{report.name}.{os.getpid()}")


def _where(offers: Sequence[Offer], given: Sequence[str]) -> list[str]:
    """The packages of all offers, as the sandbox is told of them; without those that are not installed."""
    there = tops(given)
    return placed((name for name in _needed(offers) if name in there or find_spec(name) is not None), given)


def _needed(offers: Sequence[Offer]) -> set[str]:
    return {package for offer in offers for package in offer.packages}


def _configured(run_at: Path) -> Sequence[str]:
    """The packages that the run's sandboxes have, as its configuration says; none where that cannot be read."""
    try:
        return resolve(str(run_at / CONFIG_FILE)).sandbox.packages
    except ConfigError:
        return ()


def _say_how_to_go_on(
    path: Path, run_at: Path | None, offers: Sequence[Offer], given: Sequence[str], rows: Sequence[Row]
) -> None:
    """On standard error: how what was brought in is looked at, and how a run gets to train on it."""
    inside = {row.name for row in rows if row.ended in (Ended.ADMITTED, Ended.THERE)}
    used = [offer for offer in offers if offer.name in inside]
    if not used:
        return
    if run_at is None:
        packages = ",".join(placed(_needed(used), given))
        more = f" sandbox.packages={packages}" if packages else ""
        typer.echo(f"to look into it: envolve pool ls --pool {path}", err=True)
        typer.echo(f"to train on it: envolve run pool.imports={path}{more}", err=True)
    elif not lives(run_at) and (absent := lacking(_needed(used), kept := _configured(run_at))):
        every = ",".join([*kept, *placed(absent, given)])
        typer.echo(f"resume the run with sandbox.packages={every}: what was brought in needs it", err=True)
