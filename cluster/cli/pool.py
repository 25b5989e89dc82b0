"""`envolve pool`: list, show and add members."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from cluster.cli.judge import judged
from cluster.cli.places import RUNS, Folder, Run, console, fail, opened, pool_folder, run_folder, whole_id
from cluster.inspect.history import history
from envpool.members import Composite, Origin, Status
from envpool.store import PoolReader, PoolWriter, StoreError

app = typer.Typer(no_args_is_help=True, help="Look into a run's pool, while it runs or after, and add to it.")
AsJson = Annotated[bool, typer.Option("--json", help="JSON instead of a table.")]


@app.command("ls")
def list_members(
    run: Run = "",
    folder: Folder = RUNS,
    status: Annotated[Status | None, typer.Option(help="Only members of this status.")] = None,
    origin: Annotated[Origin | None, typer.Option(help="Only members made by this maker.")] = None,
    as_json: AsJson = False,
) -> None:
    """Members with status, maker, signature and success; with --status rejected, why candidates fell."""
    with opened(run_folder(run, folder)) as reader, reader.snapshot():
        if status is Status.REJECTED:
            rows = [_rejected_row(reader, id) for id in reader.ids(status, origin)]
        else:
            rows = [_row(reader, id) for id in reader.ids(status, origin)]
    if as_json:
        typer.echo(json.dumps(rows, indent=1))
        return
    if not rows:
        console().print("no such member")
        return
    table = Table()
    for name in rows[0]:
        table.add_column(name, no_wrap=name == "id")
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    console().print(table)


@app.command("show")
def show_member(
    id: Annotated[str, typer.Argument(help="An id, or the beginning of one.")],
    run: Run = "",
    folder: Folder = RUNS,
    as_json: AsJson = False,
) -> None:
    """One member: its question, lineage, evidence, answers by level, history and source; or why a candidate fell."""
    with opened(run_folder(run, folder)) as reader, reader.snapshot():
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
        verdicts = asyncio.run(judged(files, Origin.USER, known))
        for file, verdict in zip(files, verdicts, strict=True):
            if verdict.member is None:
                evidence, source = dict(verdict.evidence), file.read_text(encoding="utf-8")
                writer.reject(verdict.id, Origin.USER, verdict.gate, verdict.reason, evidence, source, step)
                typer.echo(f"{file}: rejected at {verdict.gate}: {verdict.reason}")
            else:
                writer.admit(verdict.member, reason="added by hand", step=step)
                typer.echo(f"{file}: admitted as {verdict.member.id}")
    if any(verdict.member is None for verdict in verdicts):
        raise typer.Exit(1)


def _row(reader: PoolReader, id: str) -> dict[str, Any]:
    member, policy = reader.get(id), _policy(reader)
    assert member is not None
    answers = reader.stats(id, policy)
    level = reader.level(id, policy)
    if answers and level not in answers and isinstance(member.material, Composite):
        level = max(answers)  # a composite stays at the level that it was found at
    counts = answers.get(level)
    name = member.material.operator if isinstance(member.material, Composite) else member.material.name
    return {
        "id": id,
        "status": str(reader.status(id)) + (" (held out)" if member.held_out else ""),
        "by": str(member.origin),
        "name": name,
        "signature": member.signature,
        "level": level,
        "answers": counts.attempts if counts else 0,
        "success": "-" if counts is None or counts.rate is None else f"{counts.rate:.2f}",
    }


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
    levels = {
        level: {"answers": counts.attempts, "success": counts.rate, "well-formed": counts.parsed}
        for level, counts in reader.stats(id, _policy(reader)).items()
    }
    facts = {
        **_row(reader, id),
        "parents": list(member.parents),
        "children": reader.children(id),
        "family": member.family,
        "evidence": dict(member.evidence),
    }
    return {**facts, "levels": levels, "history": past, "material": member.to_dict()["material"]}


def _picture(record: dict[str, Any]) -> RenderableType:
    facts = Table.grid(padding=(0, 2))
    for key, value in record.items():
        if key not in ("id", "levels", "history", "material", "evidence"):
            facts.add_row(Text(key, "bold"), str(value))
    for key, value in record["evidence"].items():
        facts.add_row(Text(key, "dim"), str(value))
    material = record["material"]
    what = Syntax(material["source"], "python") if "source" in material else _chains(material)
    return Group(
        Panel(facts, title=Text(record["id"])),
        *([_levels(record["levels"])] if record.get("levels") else []),
        _events(record["history"]),
        Panel(what, title="Material"),
    )


def _levels(levels: dict[int, dict[str, Any]]) -> Table:
    table = Table("level", "answers", "success", title="Answers by level")
    for level, counts in levels.items():
        rate = counts["success"]
        table.add_row(str(level), str(counts["answers"]), "-" if rate is None else f"{rate:.2f}")
    return table


def _events(past: list[dict[str, Any]]) -> Table:
    table = Table("step", "event", "to", "gate", "reason", title="History")
    for entry in past:
        table.add_row(*(str(value) for value in entry.values()))
    return table


def _chains(material: dict[str, Any]) -> str:
    return "\n".join(" -> ".join(chain) for chain in material["chains"])
