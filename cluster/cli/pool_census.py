"""`envolve pool census`: which types the bricks connect, how many chains that gives, and whether all come into use."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.progress import Progress
from rich.table import Table

from cluster.cli.places import RUNS, Folder, console, fail, opened, run_folder
from cluster.inspect.visible import visible
from envpool.admission.form import read
from envpool.bricks import read_bricks
from envpool.composition.census import EVEN, LONGEST, Coverage, TypeGraph, coverage, type_graph
from envpool.composition.composer import Composer, ComposerSettings
from envpool.members import Member, OperatorName, Origin, Program, Status
from envpool.sandbox import InfrastructureFault, LocalExecutor, SandboxUnavailable

SAMPLE = 10_000
BATCH = 100
"""Composites asked of the composer at once; quotas even out the use within a batch only."""
SHOWN = 5
"""Bricks shown at each end of the coverage."""


@dataclass(frozen=True, slots=True)
class Bricks:
    """Programs to be counted, and what each is called."""

    whose: str
    members: Sequence[Member]
    names: dict[str, str]

    @property
    def programs(self) -> list[Program]:
        return [each.material for each in self.members if isinstance(each.material, Program)]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("census")(census)


def census(
    run: Annotated[
        str, typer.Option("--run", help="Count the bricks in this run's pool, not the shipped ones.")
    ] = "",
    folder: Folder = RUNS,
    composites: Annotated[
        int, typer.Option(min=0, help="Composites sampled for the use of bricks; 0: none, which is quick.")
    ] = SAMPLE,
    seed: Annotated[int, typer.Option(help="Of the sample.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of tables.")] = False,
) -> None:
    """Bricks per signature, the type graph, chains per length, and how evenly a sample of composites uses the bricks.

    The sample is what the composer proposes from the seed, 100 at a time, every operator and size as likely as any
    other. Bricks of a pool are its active programs that are not held out.
    """
    try:
        bricks, used = asyncio.run(_counted(run, folder, composites, seed))
    except SandboxUnavailable as error:
        fail(str(error))
    except InfrastructureFault as error:
        fail(f"the machine failed the census: {error}; this says nothing about the bricks, so try again")
    graph = type_graph(bricks.programs)
    if as_json:
        typer.echo(json.dumps(_plain(bricks, graph, used)))
    else:
        console().print(_picture(bricks, graph, used))


async def _counted(run: str, folder: Path, composites: int, seed: int) -> tuple[Bricks, Coverage | None]:
    executor = LocalExecutor()
    try:
        bricks = _of_pool(run_folder(run, folder)) if run else await _shipped(executor)
        used = await _sampled(executor, bricks, composites, seed) if composites and bricks.members else None
        return bricks, used
    finally:
        executor.close()


async def _shipped(executor: LocalExecutor) -> Bricks:
    sources = dict(read_bricks())
    programs = {name: (await read(executor, source)).program for name, source in sources.items()}
    members = [Member(program, Origin.BRICK) for program in programs.values()]
    return Bricks("shipped", members, {program.id: name for name, program in programs.items()})


def _of_pool(place: Path) -> Bricks:
    with opened(place) as reader, reader.snapshot():
        active = [member for id in reader.ids(Status.ACTIVE) if (member := reader.get(id)) is not None]
    usable = {
        each.id: each.material.name
        for each in active
        if isinstance(each.material, Program) and not each.held_out
    }
    return Bricks(f"in the pool of {place.name}", [each for each in active if each.id in usable], usable)


async def _sampled(executor: LocalExecutor, bricks: Bricks, count: int, seed: int) -> Coverage:
    """The use of the bricks in what the composer proposes; fewer composites where it finds no more."""
    settings = ComposerSettings(operators=get_args(OperatorName), max_size=LONGEST)
    composer = Composer(executor, bricks.members, settings, seed=seed)
    made: list[Member] = []
    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        composing = progress.add_task("composites", total=count)
        while len(made) < count:
            proposed = await composer.propose(min(BATCH, count - len(made)))
            if not proposed:
                break
            made += proposed
            progress.update(composing, completed=len(made))
    usable = [program.id for program in bricks.programs if program.oracle == "equality"]
    return coverage(usable, [each.material for each in made if not isinstance(each.material, Program)])


def _plain(bricks: Bricks, graph: TypeGraph, used: Coverage | None) -> dict[str, Any]:
    signatures = {
        f"{domain} -> {codomain}": count for (domain, codomain), count in sorted(graph.bricks.items())
    }
    facts = {
        "bricks": len(bricks.members),
        "signatures": signatures,
        "chains": {domain: list(graph.chains[domain]) for domain in graph.domains},
    }
    if used is None:
        return facts
    sample = {
        "composites": used.composites,
        "kinds": {f"{operator}-{size}": count for (operator, size), count in used.kinds.items()},
        "uses": {bricks.names[id]: count for id, count in used.uses.items()},
        "unused": [bricks.names[id] for id in used.unused],
        "peak over mean": used.peak,
        "even": used.even,
    }
    return {**facts, "sample": sample}


def _picture(bricks: Bricks, graph: TypeGraph, used: Coverage | None) -> RenderableType:
    counted = f"{len(graph.bricks)} signatures over {len(graph.domains)} domains"
    title = f"{len(bricks.members)} bricks {bricks.whose}, {counted}"
    parts = [_types(title, graph), _lengths(graph)] if graph.domains else [title]
    return Group(*parts, *([] if used is None else [_uses(bricks, used)]))


def _types(title: str, graph: TypeGraph) -> Table:
    """A row a type: the bricks that start from it, by where they lead."""
    table = Table("type", "from it", "into it", "leads to", "longest chain", title=title, **_style())
    for domain in graph.domains:
        onward = graph.leads_to(domain)
        longest = graph.longest(domain)
        table.add_row(
            visible(domain),
            str(sum(onward.values())),
            str(graph.arriving(domain)),
            visible(", ".join(f"{codomain} {count}" for codomain, count in onward.items())),
            f"{longest} or more" if longest == LONGEST else str(longest),
        )
    return table


def _lengths(graph: TypeGraph) -> Table:
    """How many chains there are of each length."""
    table = Table("length", "chains by their types", "from domains", **_style())
    for length, count in enumerate(graph.lengths(), 1):
        starting = sum(graph.longest(domain) >= length for domain in graph.domains)
        table.add_row(str(length), f"{count:,}", f"{starting} of {len(graph.domains)}")
    return table


def _uses(bricks: Bricks, used: Coverage) -> RenderableType:
    """What the sample was, and who is used most and least."""
    kinds = ", ".join(f"{operator}-{size} {count}" for (operator, size), count in used.kinds.items())
    verdict = "holds" if used.even else "does not hold"
    table = Table("brick", "uses", "over the mean", title=f"use in {used.composites} composites", **_style())
    ranked = sorted(used.uses.items(), key=lambda item: (-item[1], bricks.names[item[0]]))
    for part in (ranked[:SHOWN], ranked[SHOWN:][-SHOWN:]):
        for id, count in part:
            table.add_row(
                visible(bricks.names[id]), str(count), f"{count / used.mean:.2f}" if used.mean else "-"
            )
        table.add_section()
    return Group(
        table,
        f"sampled: {kinds}",
        f"every brick used, none above {EVEN:g} times the mean of {used.mean:.1f}: {verdict}; "
        f"{len(used.unused)} unused, the most used has {used.peak:.2f} times the mean",
    )


def _style() -> dict[str, Any]:
    return {"box": SIMPLE_HEAD, "padding": (0, 1, 0, 0), "title_justify": "left"}
