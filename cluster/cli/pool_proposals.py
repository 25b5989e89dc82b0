"""`envolve pool proposals` and `proposal`: what models wrote, and everything that one proposal is traced by."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from cluster.cli.places import RUNS, Folder, Run, console, fail, opened, run_folder, whole_id
from cluster.inspect import proposals
from cluster.inspect.visible import visible
from envpool.admission.concluded import PROPOSAL
from envpool.members import Composite
from envpool.store import PoolReader

PARTS = ("validation", "quality", "novelty", "shaping", "total")
FACTS = (
    "writer", "model", "version_low", "version_high", "group", "id", "gate", "reason", "success_rate", "level",
    "similarity", "nearest",
)  # fmt: skip
AsJson = Annotated[bool, typer.Option("--json", help="JSON instead of a table.")]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command("proposals")(list_proposals)
    app.command("proposal")(show_proposal)


def list_proposals(
    run: Run = "",
    folder: Folder = RUNS,
    writer: Annotated[str, typer.Option(help="Only of this policy.")] = "",
    gate: Annotated[str, typer.Option(help="Only those that fell there; `admitted` for those that did not.")] = "",
    limit: Annotated[int, typer.Option(min=1, help="How many, the newest first.")] = 20,
    as_json: AsJson = False,
) -> None:
    """What policies wrote: by whom, what became of it, and the parts of its reward."""
    columns = ("proposal", "writer", "version_high", "id", "gate", *PARTS)
    place = run_folder(run, folder)
    rows = list(
        islice(
            (
                row
                for row in proposals.newest(place, columns)
                if writer in ("", row["writer"]) and gate in ("", row["gate"] or "admitted")
            ),
            limit,
        )
    )
    if as_json:
        typer.echo(json.dumps(rows, indent=1))
        return
    if not rows:
        some = next(proposals.newest(place, ("proposal",)), None) is not None
        console().print(_none_that(writer, gate) if some else f"{place.name} has no proposals yet")
        return
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in ("proposal", "by", "version", "program", "ended at", *PARTS):
        table.add_column(name, no_wrap=True)
    for row in rows:
        cells = (row["proposal"], row["writer"], row["version_high"], row["id"], row["gate"] or "admitted")
        table.add_row(*map(visible, cells), *(f"{row[part]:.3f}" for part in PARTS))
    console().print(table)


def _none_that(writer: str, gate: str) -> str:
    """That none of the proposals is what was asked for."""
    asked = [f"{writer!r} wrote"] if writer else []
    if gate:
        asked.append("was admitted" if gate == "admitted" else f"fell at {gate!r}")
    return visible("none that " + " and that ".join(asked))


def show_proposal(
    id: Annotated[str, typer.Argument(help="A proposal's id, or that of its program or the beginning of one.")],
    run: Run = "",
    folder: Folder = RUNS,
    as_json: AsJson = False,
) -> None:
    """A proposal with its writer, parents, verdict, parts of the reward, prompt and reply."""
    place = run_folder(run, folder)
    with opened(place) as reader, reader.snapshot():
        found = proposals.about(place, id) or _traced(reader, place, whole_id(reader, id))
        for row in found:
            row["parents"] = {parent: _name(reader, parent) for parent in row["parents"]}
    if not found:
        fail(f"no policy of this run wrote {id!r}; `envolve pool show {id}` says who made it")
    if as_json:
        typer.echo(json.dumps(found, indent=1))
    else:
        for row in found:
            console().print(_picture(row))


def _traced(reader: PoolReader, place: Path, id: str) -> list[dict[str, Any]]:
    """By the program: from the files, else what the pool itself kept, where the run stopped before the rest was."""
    if rows := proposals.about(place, id):
        return rows
    member, fallen = reader.get(id), reader.rejection(id)
    evidence = member.evidence if member else fallen.evidence if fallen else {}
    if not (kept := evidence.get(PROPOSAL)):
        return []
    verdict = {"gate": fallen.gate, "reason": fallen.reason} if fallen else {"gate": "", "reason": ""}
    facts = {key: evidence[key] for key in FACTS if key in evidence}
    parents = list(member.parents) if member else []
    rest = {key: value for key, value in kept.items() if key != "id"}
    return [{"proposal": kept["id"], **rest, **facts, **verdict, "id": id, "parents": parents}]


def _name(reader: PoolReader, id: str) -> str:
    member = reader.get(id)
    return "" if member is None or isinstance(member.material, Composite) else member.material.name


def _picture(row: dict[str, Any]) -> RenderableType:
    facts = Table.grid(padding=(0, 2))
    for key in FACTS:
        if row.get(key) not in (None, ""):
            facts.add_row(Text(key, "bold"), visible(row[key]))
    parents = ", ".join(f"{name} ({id})" for id, name in row["parents"].items())
    facts.add_row(Text("parents", "bold"), visible(parents or "none"))
    if "total" in row:
        facts.add_row(Text("reward", "bold"), ", ".join(f"{part} {row[part]:.3f}" for part in PARTS))
    else:
        facts.add_row(Text("reward", "bold"), "none yet: its group is not handed on")
    texts = [Panel(visible(row[key]), title=key.capitalize()) for key in ("prompt", "reply") if key in row]
    return Group(Panel(facts, title=Text(row["proposal"])), *texts)
