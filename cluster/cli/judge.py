"""`envolve judge`: candidate programs through every gate that needs no model."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from cluster.cli.places import fail
from envpool.admission import Verdict
from envpool.members import Origin


def judge(
    files: Annotated[list[Path], typer.Argument(help="Python files with one Environment subclass each.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a file.")] = False,
) -> None:
    """Judge programs: parse, scan, duplicates, L2 to L5, behaviour. Exit 1 when one is rejected."""
    verdicts = asyncio.run(judged(files, Origin.USER))
    if as_json:
        for path, verdict in zip(files, verdicts, strict=True):
            typer.echo(json.dumps({"file": str(path), **plain(verdict)}))
    else:
        Console().print(_table(files, verdicts))
    if any(verdict.member is None for verdict in verdicts):
        raise typer.Exit(1)


async def judged(files: list[Path], origin: Origin) -> list[Verdict]:
    """The verdicts, in order; a later copy of an earlier file is a duplicate."""
    from envpool.admission import local_admission

    sources = [_read(path) for path in files]
    async with local_admission() as admission:
        verdicts = []
        for path, source in zip(files, sources, strict=True):
            verdicts.append(await admission.judge(source, origin, (), name=path.stem))
        return verdicts


def plain(verdict: Verdict) -> dict[str, Any]:
    """A verdict for a machine to read."""
    return {"admitted": verdict.member is not None, **verdict.to_dict()}


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        fail(f"{path} cannot be read: {error}", 2)


def _table(files: list[Path], verdicts: list[Verdict]) -> Table:
    table = Table("file", "verdict", "gate", "reason")
    for path, verdict in zip(files, verdicts, strict=True):
        word = "[green]passes[/]" if verdict.member else "[red]rejected[/]"
        table.add_row(str(path), word, verdict.gate, verdict.reason)
    return table
