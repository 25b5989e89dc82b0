"""`envolve judge`: candidate programs through every gate that needs no model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from cluster.cli.places import console, fail
from cluster.inspect.visible import visible
from envpool.admission import Admission, Register, Verdict
from envpool.members import Member, Origin
from envpool.sandbox import InfrastructureFault, LocalExecutor, SandboxUnavailable


def judge(
    files: Annotated[list[Path], typer.Argument(help="Python files with one Environment subclass each.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a file.")] = False,
) -> None:
    """Judge programs: parse, scan, duplicates, L2 to L5, behaviour. Exit 1 when one is rejected."""
    verdicts = asyncio.run(judged(files, Origin.USER))
    if as_json:
        for path, verdict in zip(files, verdicts, strict=True):
            typer.echo(json.dumps({"file": str(path), **verdict.to_dict()}, default=str))
    else:
        console().print(_table(files, verdicts))
    if any(verdict.member is None for verdict in verdicts):
        raise typer.Exit(1)


async def judged(files: list[Path], origin: Origin, known: Sequence[Member] = ()) -> list[Verdict]:
    """The verdicts, in order; copies of known members and of earlier files are duplicates."""
    sources = [(path.stem, _read(path)) for path in files]
    executor = LocalExecutor()
    try:
        admission = Admission(executor, known=Register(known))
        return [await admission.judge(source, origin, name=name) for name, source in sources]
    except SandboxUnavailable as error:
        fail(str(error))
    except InfrastructureFault as error:
        fail(f"no verdict: {error}; this says nothing about the programs, so try again")
    finally:
        executor.close()


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        fail(f"{path} cannot be read: {error}", 2)


def _table(files: list[Path], verdicts: list[Verdict]) -> Table:
    table = Table("file", "verdict", "gate", "reason")
    for path, verdict in zip(files, verdicts, strict=True):
        word = Text("passes", "green") if verdict.member else Text("rejected", "red")
        table.add_row(str(path), word, verdict.gate, visible(verdict.reason))
    return table
