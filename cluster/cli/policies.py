"""`envolve attach`, `detach`, `policies`: which models play in a run, and how each has done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from rich.box import SIMPLE_HEAD
from rich.table import Table

from cluster import wanted
from cluster.cli.places import RUNS, Address, Folder, Run, console, fail, opened, reached, run_folder
from cluster.config import Config
from cluster.inspect import proposals
from cluster.inspect.tables import roles
from cluster.inspect.visible import visible
from cluster.metrics import names
from cluster.resolve import resolve
from cluster.wanted import PolicySpec
from envpool.members import Status
from envpool.store import PoolReader

Name = Annotated[str, typer.Argument(help="The policy's name in this run.")]


def attach(
    name: Name,
    model: Annotated[str, typer.Option(help="A folder or Hugging Face name; or the endpoint's model.")],
    endpoint: Annotated[str, typer.Option(help="Base URL of an OpenAI-compatible server.")] = "",
    key_env: Annotated[str, typer.Option(help="Variable on the cluster's nodes with the server's key.")] = "",
    trainable: Annotated[bool, typer.Option("--trainable", help="It gets a learner of its own.")] = False,
    writes: Annotated[bool, typer.Option("--writes", help="It writes environments.")] = False,
    solves: Annotated[
        bool | None,
        typer.Option(
            "--solves/--no-solves", help="It is asked the pool's questions.", show_default="not where it writes"
        ),
    ] = None,
    max_tokens: Annotated[
        int, typer.Option(help="Longest reply when it writes; 0: 4096 behind an endpoint, else as the run's policy.")
    ] = 0,
    gpus: Annotated[float, typer.Option(help="GPUs of each of its solvers.")] = 0.0,
    solvers: Annotated[int, typer.Option(help="How many solvers it has.")] = 1,
    concurrency: Annotated[int, typer.Option(help="Requests to the endpoint at once.")] = 16,
    timeout_seconds: Annotated[float, typer.Option(help="For one try of a request to the endpoint.")] = 120.0,
    retries: Annotated[int, typer.Option(help="Further tries, with back-off, where it is busy or away.")] = 5,
    run: Run = "",
    folder: Folder = RUNS,
    address: Address = "",
) -> None:
    """Let another policy play: it is measured on the active pool, trained too if it is trainable, or writes for it."""
    if model and not endpoint and Path(model).expanduser().is_dir():
        model = str(Path(model).expanduser().resolve())
    try:
        spec = PolicySpec(
            name=name, model=model, endpoint=endpoint, key_env=key_env, trainable=trainable,
            solves=(trainable or not writes) if solves is None else solves, writes=writes, max_tokens=max_tokens,
            gpus=gpus, solvers=solvers, concurrency=concurrency, timeout_seconds=timeout_seconds, retries=retries,
        )  # fmt: skip
    except ValidationError as error:
        fail("; ".join(_fault(fault) for fault in error.errors()), 2)
    with reached(run, folder, address) as control:
        control.attach(spec.model_dump(mode="json"))
    typer.echo(f"{name} joins {control.run}; `envolve policies` says how it does")


def detach(name: Name, run: Run = "", folder: Folder = RUNS, address: Address = "") -> None:
    """A policy leaves: its actors finish, save and end; its statistics stay."""
    with reached(run, folder, address) as control:
        control.detach(name)
    typer.echo(f"{name} leaves {control.run}; its statistics stay in the pool")


def policies(
    run: Run = "",
    folder: Folder = RUNS,
    address: Address = "",
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of a table.")] = False,
) -> None:
    """The run's own policy and the attached ones, with what they answered; with --address their cluster is asked."""
    if address:
        with reached(run, folder, address) as control:
            rows = control.policies()
    else:
        path = run_folder(run, folder)
        with opened(path) as reader, reader.snapshot():
            rows = _rows(reader, resolve(str(path / "config.yaml")), path)
    if as_json:
        typer.echo(json.dumps(rows, indent=1))
    else:
        console().print(_table(rows))


def _rows(reader: PoolReader, config: Config, run: Path) -> list[dict[str, Any]]:
    rows = wanted.rows(wanted.kept(reader.state(wanted.KEY), config), config)
    written, tokens = proposals.written_by(run), _tokens(run)
    return [
        row
        | _answers(reader, row["name"])
        | dict(zip(("written", "admitted"), written.get(row["name"], (0, 0)), strict=True))
        | {"tokens": tokens.get("" if row["own"] else row["name"])}
        for row in rows
    ]


def _tokens(run: Path) -> dict[str, list[float]]:
    """Prompt and response tokens by policy ("" for the run's own), since its solvers were made; by the last status."""
    try:
        actors = json.loads((run / "status.json").read_text(encoding="utf-8"))["actors"]
    except (OSError, ValueError, KeyError):
        return {}
    found: dict[str, list[float]] = {}
    for name, report in actors.items():
        actor, gauges = names.parse(name), report.get("gauges", {})
        if actor.kind == "solver" and "prompt_tokens" in gauges:
            sums = found.setdefault(actor.policy, [0.0, 0.0])
            for place, key in enumerate(("prompt_tokens", "generated_tokens")):
                sums[place] += gauges[key]
    return found


def _answers(reader: PoolReader, policy: str) -> dict[str, Any]:
    """On how many of the active environments the policy was asked, and how it did on all that it was asked on."""
    members = {id: levels for id, levels in reader.all_stats(policy).items() if levels}
    active = reader.ids(Status.ACTIVE)
    counts = [count for levels in members.values() for count in levels.values()]
    attempts = sum(count.attempts for count in counts)
    return {
        "environments": sum(id in members for id in active),
        "active": len(active),
        "answers": attempts,
        "success": sum(count.successes for count in counts) / attempts if attempts else None,
        "well-formed": sum(count.parsed for count in counts) / attempts if attempts else None,
    }


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(
        "policy", "model", "role", "trained", "solvers", "environments", "answers", "success", "well-formed",
        "written", "admitted", "tokens in, out",
        box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False,
    )  # fmt: skip
    for row in rows:
        model = f"{row['model']} at {row['endpoint']}" if row["endpoint"] else row["model"]
        table.add_row(
            visible(row["name"]), visible(model), roles(row), "yes" if row["trainable"] else "no", str(row["solvers"]),
            f"{row['environments']} of {row['active']}" if "active" in row else "-",
            *(_shown(row.get(key)) for key in ("answers", "success", "well-formed", "written", "admitted")),
            ", ".join(f"{count:.0f}" for count in row.get("tokens") or ()) or "-",
        )  # fmt: skip
    return table


def _shown(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _fault(fault: Any) -> str:
    """One fault of the arguments, with the option that it is about."""
    option = (
        "--" + "-".join(str(part) for part in fault["loc"]).replace("_", "-") + ": " if fault["loc"] else ""
    )
    return option.replace("--name: ", "NAME: ") + fault["msg"].removeprefix("Value error, ")
