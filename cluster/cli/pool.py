"""`envolve pool`: list, show and add members; `pool_durability` has the commands that copy and mend pools."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from cluster.cli import pool_census, pool_durability, pool_families, pool_funnel, pool_proposals
from cluster.cli.judge import judged
from cluster.cli.places import (
    RUNS,
    Folder,
    PoolAt,
    Run,
    console,
    fail,
    opened_at,
    pool_folder,
    pool_meant,
    run_folder,
    whole_id,
)
from cluster.cli.pool_families import family_name
from cluster.inspect.history import history
from cluster.inspect.visible import visible
from envpool.curation.saved import told
from envpool.curation.standings import lowest_level
from envpool.curation.tracks import Recent
from envpool.families import family_of
from envpool.members import Composite, Origin, Status
from envpool.store import PoolReader, PoolWriter, StoreError

app = typer.Typer(no_args_is_help=True, help="Look into a pool, add to it, and keep it whole.")
pool_census.register(app)
pool_durability.register(app)
pool_families.register(app)
pool_funnel.register(app)
pool_proposals.register(app)
WIDE = 120
SHORT_ID = 10
FOLDING = ("status", "name", "signature", "reason")
AsJson = Annotated[bool, typer.Option("--json", help="JSON instead of a table.")]


@app.command("ls")
def list_members(
    run: Run = "",
    folder: Folder = RUNS,
    pool: PoolAt = None,
    status: Annotated[Status | None, typer.Option(help="Only members of this status.")] = None,
    origin: Annotated[Origin | None, typer.Option(help="Only members made by this maker.")] = None,
    as_json: AsJson = False,
) -> None:
    """Members with status, maker, signature and success; with --status rejected, why candidates fell."""
    with opened_at(pool_meant(run, folder, pool)) as reader, reader.snapshot():
        if status is Status.REJECTED:
            rows = [_rejected_row(reader, id) for id in reader.ids(status, origin)]
        else:
            rows = [_row(reader, id) for id in reader.ids(status, origin)]
    if as_json:
        typer.echo(json.dumps(rows, indent=1))
        return
    screen = console()
    if rows:
        screen.print(_listing(rows, screen.width))
    else:
        screen.print(_none_yet(status, origin))


def _none_yet(status: Status | None, origin: Origin | None) -> str:
    fallen = status is Status.REJECTED
    words = ("no", status, "candidate" if fallen else "member", origin and f"made by {origin}", "yet")
    return " ".join(filter(None, words)) + ("" if fallen else "; --status rejected lists the candidates that fell")


@app.command("show")
def show_member(
    id: Annotated[str, typer.Argument(help="An id, or the beginning of one.")],
    run: Run = "",
    folder: Folder = RUNS,
    pool: PoolAt = None,
    as_json: AsJson = False,
) -> None:
    """One member: its question, lineage, evidence, answers by level, history and source; or why a candidate fell."""
    with opened_at(pool_meant(run, folder, pool)) as reader, reader.snapshot():
        record = _record(reader, whole_id(reader, id))
    if as_json:
        typer.echo(json.dumps(record, indent=1, default=str))
    else:
        console().print(_picture(record))


@app.command("add")
def add(
    files: Annotated[list[Path], typer.Argument(help="Python files with one Environment subclass each.")],
    run: Run = "",
    folder: Folder = RUNS,
) -> None:
    """Admit programs that pass every gate without a model to the pool of a run that is not going just now."""
    path = pool_folder(run_folder(run, folder))
    try:
        writer = PoolWriter.open(path)
    except StoreError as error:
        fail(f"{error}; a pool is added to while its run stands still")
    with writer:
        known = [member for member in map(writer.get, writer.ids()) if member is not None]
        step = int((writer.state("progress") or {}).get("step", 0))
        if writer.state("phase") == "done":
            typer.echo("envolve: this run is finished, so nothing will train on what is added", err=True)
        verdicts = asyncio.run(judged(files, Origin.USER, known))
        for file, verdict in zip(files, verdicts, strict=True):
            if verdict.member is None:
                evidence, source = dict(verdict.evidence), file.read_text(encoding="utf-8")
                writer.reject(verdict.id, Origin.USER, verdict.gate, verdict.reason, evidence, source, step)
                typer.echo(f"{file}: rejected at {verdict.gate}: {visible(verdict.reason)}")
            else:
                writer.admit(verdict.member, reason="added by hand", step=step)
                typer.echo(f"{file}: admitted as {verdict.member.id}")
    if any(verdict.member is None for verdict in verdicts):
        raise typer.Exit(1)


def _row(reader: PoolReader, id: str) -> dict[str, Any]:
    member, policy = reader.get(id), _policy(reader)
    assert member is not None
    answers = reader.stats(id, policy)
    level = max(reader.level(id, policy), lowest_level(member))
    if answers and level not in answers and isinstance(member.material, Composite):
        level = max(answers)  # a composite stays at the level that it was found at
    counts = answers.get(level)
    name = member.material.operator if isinstance(member.material, Composite) else member.material.name
    return {
        "id": id,
        "status": str(reader.status(id)),
        "held_out": member.held_out,
        "by": str(member.origin),
        "name": name,
        "signature": member.signature,
        "level": level,
        "answers": counts.attempts if counts else 0,
        "success": counts.rate if counts else None,
    }


def _listing(rows: list[dict[str, Any]], width: int) -> Table:
    """Light, and only long texts fold; on a narrow terminal an id is cut to a beginning that `pool show` takes."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    shown = None if width >= WIDE else SHORT_ID
    cells = [_cells({**row, "id": row["id"][:shown]}) for row in rows]
    for name in cells[0]:
        table.add_column(name, overflow="fold", no_wrap=name not in FOLDING)
    for row in cells:
        table.add_row(*row.values())
    return table


def _cells(row: dict[str, Any]) -> dict[str, str]:
    """A row as it is drawn: a member set apart says so beside its status."""
    cells = {name: visible(value) for name, value in row.items() if name != "held_out"}
    if row.get("held_out"):
        cells["status"] += " (held out)"
    if "success" in row:
        cells["success"] = _share(row["success"])
    return cells


def _share(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.2f}"


def _rejected_row(reader: PoolReader, id: str) -> dict[str, Any]:
    found = reader.rejection(id)
    assert found is not None
    return {"id": id, "by": str(found.origin), "gate": found.gate, "reason": found.reason, "step": found.step}


def _policy(reader: PoolReader) -> str:
    return str(reader.state("policy") or "main")


def _record(reader: PoolReader, id: str) -> dict[str, Any]:
    member = reader.get(id)
    events = [entry for entry in history(reader) if entry.id == id]
    past = [{"step": e.step, "event": e.kind, "to": e.to, "gate": e.gate, "reason": e.reason} for e in events]
    if member is None:
        found = reader.rejection(id)
        assert found is not None
        facts = {**_rejected_row(reader, id), "evidence": dict(found.evidence)}
        return {**facts, "history": past, "material": {"source": found.source}}
    recents, waited = told(reader.state("curator"), id)
    levels = {
        level: {
            "answers": counts.attempts,
            "success": counts.rate,
            "well-formed": counts.parsed / counts.attempts if counts.attempts else None,
            "lately": _lately(recents.get(level)),
        }
        for level, counts in reader.stats(id, _policy(reader)).items()
    }
    lies = {
        f"audit: {key}": value
        for event in events
        if event.kind == "distrust"
        for key, value in event.evidence.items()
    }
    facts = {
        **_row(reader, id),
        "parents": list(member.parents),
        "children": reader.children(id),
        "family": family_name(reader, family_of(reader, id)),
        "set apart with": member.family,
        "draws since its own": waited,
        "evidence": {**member.evidence, **lies},
    }
    material = member.to_dict()["material"]
    shown = [*material.get("chains", ()), material.get("distractors", ())]
    steps = {step: _step(reader, step) for chain in shown for step in chain}
    return {**facts, "levels": levels, "history": past, "material": material, "steps": steps}


def _step(reader: PoolReader, id: str) -> dict[str, str]:
    """What a step of a composite is called and asks."""
    member = reader.get(id)
    if member is None or isinstance(member.material, Composite):
        return {"name": id, "rule": ""}
    return {"name": member.material.name, "rule": member.material.rule}


def _picture(record: dict[str, Any]) -> RenderableType:
    facts = Table.grid(padding=(0, 2))
    for key, value in _cells(record).items():
        if key not in ("id", "levels", "history", "material", "steps", "evidence"):
            facts.add_row(Text(key, "bold"), value)
    for key, value in record["evidence"].items():
        facts.add_row(Text(key, "dim"), visible(value))
    material = record["material"]
    program = "source" in material
    what = Syntax(visible(material["source"]), "python") if program else _chains(material, record["steps"])
    return Group(
        Panel(facts, title=Text(record["id"])),
        *([_levels(record["levels"])] if record.get("levels") else []),
        _events(record["history"]),
        Panel(what, title="Material"),
    )


def _levels(levels: dict[int, dict[str, Any]]) -> Table:
    table = Table("level", "answers", "success", "well-formed", "lately", title="Answers by level")
    for level, counts in levels.items():
        shares = _share(counts["success"]), _share(counts["well-formed"])
        table.add_row(str(level), str(counts["answers"]), *shares, counts["lately"])
    return table


def _lately(recent: Recent | None) -> str:
    """Success of the newest answers with its 95 % interval, as the curator goes by it."""
    if recent is None or not recent.answers:
        return "-"
    return f"{recent.rate:.2f} ({recent.interval.low:.2f} to {recent.interval.high:.2f})"


def _events(past: list[dict[str, Any]]) -> Table:
    table = Table("step", "event", "to", "gate", "reason", title="History")
    for entry in past:
        table.add_row(*(visible(value) for value in entry.values()))
    return table


def _chains(material: dict[str, Any], steps: dict[str, dict[str, str]]) -> str:
    """The chains by name, and under them what each step asks."""
    chains = [" -> ".join(steps[id]["name"] for id in chain) for chain in material["chains"]]
    beside = [f"beside {', '.join(steps[id]['name'] for id in material['distractors'])}"]
    chains += beside if material["distractors"] else []
    return visible(
        "\n".join([*chains, "", *(f"{id} {step['name']}: {step['rule']}" for id, step in steps.items())])
    )
