"""`envolve pool`: list, show and add members."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table

from cluster.cli.places import RUNS, Folder, Run, fail, member_named, opened, run_folder
from envpool.members import Composite, Member, Origin, Status
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
    table = Table(*(rows[0] if rows else ["id"]))
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    Console().print(table if rows else "no such member")


@app.command("show")
def show_member(
    id: Annotated[str, typer.Argument(help="An id, or the beginning of one.")],
    run: Run = "",
    folder: Folder = RUNS,
    as_json: AsJson = False,
) -> None:
    """One member: its question, lineage, evidence, answers by level, history and source."""
    with opened(run_folder(run, folder)) as reader, reader.snapshot():
        record = _record(reader, member_named(reader, id))
    if as_json:
        typer.echo(json.dumps(record, indent=1, default=str))
    else:
        Console().print(_picture(record))


@app.command("add")
def add(
    files: Annotated[list[Path], typer.Argument(help="Python files with one Environment subclass each.")],
    run: Run = "",
    folder: Folder = RUNS,
) -> None:
    """Admit programs that pass every gate without a model to the pool of a run that is not going just now."""
    from cluster.cli.judge import judged

    path = run_folder(run, folder) / "pool"
    try:
        writer = PoolWriter.open(path)
    except StoreError as error:
        fail(f"{error}; a pool is added to while its run stands still")
    with writer:
        known = [member for member in map(writer.get, writer.ids()) if member is not None]
        verdicts = asyncio.run(judged(files, Origin.USER, known))
        for file, verdict in zip(files, verdicts, strict=True):
            if verdict.member is None:
                writer.reject(verdict.id, Origin.USER, verdict.gate, verdict.reason, dict(verdict.evidence))
                typer.echo(f"{file}: rejected at {verdict.gate}: {verdict.reason}")
            else:
                writer.admit(verdict.member, reason="added by hand")
                typer.echo(f"{file}: admitted as {verdict.member.id}")
    if any(verdict.member is None for verdict in verdicts):
        raise typer.Exit(1)


def _row(reader: PoolReader, id: str) -> dict[str, Any]:
    member, policy = reader.get(id), _policy(reader)
    assert member is not None
    counts = reader.stats(id, policy).get(level := reader.level(id, policy))
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


def _record(reader: PoolReader, member: Member) -> dict[str, Any]:
    answers = reader.stats(member.id, _policy(reader))
    history = [
        entry for entry in reader.journal(0, 10**9) if entry.id == member.id and entry.kind != "answers"
    ]
    return {
        **_row(reader, member.id),
        "parents": list(member.parents),
        "children": reader.children(member.id),
        "family": member.family,
        "evidence": dict(member.evidence),
        "levels": {
            level: {"answers": counts.attempts, "success": counts.rate, "well-formed": counts.parsed}
            for level, counts in answers.items()
        },
        "history": [{"step": e.step, "kind": e.kind, "to": e.to, "reason": e.reason} for e in history],
        "material": member.to_dict()["material"],
    }


def _picture(record: dict[str, Any]) -> RenderableType:
    material = record["material"]
    facts = Table.grid(padding=(0, 2))
    for key in ("status", "by", "signature", "level", "answers", "success", "family", "parents", "children"):
        facts.add_row(f"[bold]{key}", str(record[key]))
    history = Table("step", "event", "to", "reason", title="History")
    for entry in record["history"]:
        history.add_row(str(entry["step"]), entry["kind"], entry["to"], entry["reason"])
    levels = Table("level", "answers", "success", title="Answers by level")
    for level, counts in record["levels"].items():
        levels.add_row(
            str(level),
            str(counts["answers"]),
            "-" if counts["success"] is None else f"{counts['success']:.2f}",
        )
    what = Syntax(material["source"], "python") if "source" in material else _chains(material)
    return Group(
        Panel(facts, title=f"{record['name']}  {record['id']}"),
        levels,
        history,
        Panel(what, title="Material"),
    )


def _chains(material: dict[str, Any]) -> str:
    return "\n".join(" -> ".join(chain) for chain in material["chains"])
