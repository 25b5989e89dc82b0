"""`envolve pool families`: how the members spread over families, and who founded each."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import Annotated, Any

import typer
from rich.table import Table

from cluster.cli.places import RUNS, Folder, PoolAt, Run, console, opened_at, pool_meant
from cluster.inspect.visible import visible
from envpool.families import family_of
from envpool.members import Composite
from envpool.store.reading import PoolReads


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("families")(list_families)


def list_families(
    run: Run = "",
    folder: Folder = RUNS,
    pool: PoolAt = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of a table.")] = False,
) -> None:
    """Families with their members by status, the largest first."""
    with opened_at(pool_meant(run, folder, pool)) as reader, reader.snapshot():
        rows = _rows(reader)
    if as_json:
        typer.echo(json.dumps(rows, indent=1))
        return
    table = Table(
        "family",
        "founder",
        "members",
        "active",
        "resting",
        "retired",
        "held out",
        title=f"{len(rows)} families",
    )
    for row in rows:
        table.add_row(*(visible(value) for value in row.values()))
    console().print(table)


def family_name(reader: PoolReads, family: str) -> str:
    """How a family is shown: by its founder's name where a program founded it."""
    member = reader.get(family)
    return family if member is None or isinstance(member.material, Composite) else member.material.name


def _rows(reader: PoolReads) -> list[dict[str, Any]]:
    members: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for identity in reader.ids():
        row = reader.status_row(identity)
        assert row is not None
        members[family_of(reader, identity)].update(
            ["members", str(row.status), *(["held out"] if row.held_out else [])]
        )
    return [
        {
            "family": family_name(reader, family),
            "founder": family if reader.get(family) is not None else "",
            **{name: counts[name] for name in ("members", "active", "resting", "retired", "held out")},
        }
        for family, counts in sorted(members.items(), key=lambda item: (-item[1]["members"], item[0]))
    ]
