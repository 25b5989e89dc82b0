"""`envolve pool census`: which types the bricks connect, how many chains that gives, and whether all come into use."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table

from cluster.cli.advance import Advance
from cluster.cli.places import RUNS, PoolAt, console, fail, opened_at, pool_meant
from cluster.inspect.visible import visible
from envpool.admission.form import read
from envpool.bricks import read_bricks
from envpool.composition.census import ENOUGH, EVEN, LONGEST, Coverage, TypeGraph, coverage, type_graph
from envpool.composition.composer import Composer, ComposerSettings
from envpool.composition.composer import log as composers_log
from envpool.members import Composite, Member, OperatorName, Origin, Program, Status
from envpool.sandbox import InfrastructureFault, LocalExecutor, SandboxUnavailable

SAMPLE = 10_000
BATCH = 100
"""Composites asked of the composer at once; quotas even out the use within a batch only."""
ROUNDS = 3
"""Batches in a row without a single composite, after which the bricks are taken to give no more (ours)."""
SHOWN = 5
"""Bricks shown at each end of the coverage."""
SHOWN_ID = 12

COUNTING = (
    "chains are counted by types alone: a brick may stand twice in one, and none was run; "
    f"{LONGEST} bricks are the most that are composed, and {LONGEST} or more means that it could go on\n"
)


@dataclass(frozen=True, slots=True)
class Bricks:
    """Programs to be counted, and what each is called, by id; in a pool two may have the same name."""

    whose: str
    members: Sequence[Member]
    names: dict[str, str]
    namesakes: bool = False
    """Whether a name may be that of several."""

    def called(self, id: str) -> str:
        """A name that is no other brick's."""
        return f"{self.names[id]} {id[:SHOWN_ID]}" if self.namesakes else self.names[id]

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
    folder: Annotated[
        Path | None,
        typer.Option("--folder", help=f"Where run folders lie ({RUNS}/ without it); only with --run."),
    ] = None,
    pool: PoolAt = None,
    composites: Annotated[
        int,
        typer.Option(
            min=0,
            help="Composites sampled to see how evenly the bricks are used. The default is for a verdict and takes "
            "more than an hour (two or three composites a second); 0: none, which is quick.",
        ),
    ] = SAMPLE,
    seed: Annotated[int, typer.Option(help="Of the sample.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of tables.")] = False,
) -> None:
    """Bricks per signature, the type graph, chains per length, and how evenly a sample of composites uses the bricks.

    The bricks are the shipped ones, or a pool's: its active programs that are not held out.
    Chains are counted by types alone: each output is of the type that the next brick takes. A brick may stand twice
    in one, and whether it runs on an input is not tried. No chain is counted beyond 6 bricks, the most that are
    composed: "6 or more" says that it could go on.
    The sample is what the composer makes from the seed, every operator and size as likely as any other. It is even
    where every brick is used and none above 5 times the mean; below a mean of 20 uses it is too small to tell.
    """
    if folder and not run:
        fail("--folder says where run folders lie; add --run NAME, or leave it out for the shipped bricks", 2)
    place = pool_meant(run, folder or RUNS, pool) if run or pool else None
    try:
        bricks, used = asyncio.run(
            _counted(place, f"in the pool {f'of {run}' if run else pool}", composites, seed)
        )
    except SandboxUnavailable as error:
        fail(str(error))
    except InfrastructureFault as error:
        fail(f"the machine failed the census: {error}; this says nothing about the bricks, so try again")
    graph = type_graph(bricks.programs)
    if as_json:
        typer.echo(json.dumps(_plain(bricks, graph, composites, used)))
    else:
        console().print(_picture(bricks, graph, composites, used))


async def _counted(pool: Path | None, whose: str, count: int, seed: int) -> tuple[Bricks, Coverage]:
    executor = LocalExecutor()
    try:
        with Advance() as advance:
            bricks = _of_pool(pool, whose) if pool else await _shipped(executor, advance)
            made = await _sampled(executor, bricks, count, seed, advance)
    finally:
        executor.close()
    usable = [program.id for program in bricks.programs if program.oracle == "equality"]
    return bricks, coverage(usable, made)


async def _shipped(executor: LocalExecutor, advance: Advance) -> Bricks:
    sources = dict(read_bricks())
    members: dict[str, Member] = {}
    for name, source in sources.items():
        members[name] = Member((await read(executor, source)).program, Origin.BRICK)
        advance.show("bricks read", len(members), len(sources))
    return Bricks("shipped", list(members.values()), {member.id: name for name, member in members.items()})


def _of_pool(place: Path, whose: str) -> Bricks:
    with opened_at(place) as reader, reader.snapshot():
        active = [member for id in reader.ids(Status.ACTIVE) if (member := reader.get(id)) is not None]
    usable = {
        each.id: each.material.name
        for each in active
        if isinstance(each.material, Program) and not each.held_out
    }
    return Bricks(whose, [each for each in active if each.id in usable], usable, True)


async def _sampled(
    executor: LocalExecutor, bricks: Bricks, count: int, seed: int, advance: Advance
) -> list[Composite]:
    """What the composer makes of the bricks; fewer composites where it finds no more."""
    made: list[Composite] = []
    looked = 0

    def known(
        id: str,
    ) -> bool:  # The composer asks this of each candidate, which is what moves within a batch.
        nonlocal looked
        looked += 1
        advance.show("composites", len(made), count, f"{looked:,} candidates looked at")
        return False

    settings = ComposerSettings(operators=get_args(OperatorName), max_size=LONGEST)
    composer = Composer(executor, bricks.members, settings, seed=seed, known=known)
    idle, short = 0, False
    with _own_words():
        while bricks.members and len(made) < count and idle < ROUNDS:
            # The composer draws operators and sizes before it looks for chains, so a few draws may all be of what
            # a small pool has no chain for; a whole batch has some of every kind.
            asked = BATCH if short else min(BATCH, count - len(made))
            proposed = await composer.propose(asked)
            made += [each.material for each in proposed if isinstance(each.material, Composite)]
            short = len(proposed) < asked
            idle = 0 if proposed else idle + 1
    return made[:count]


@contextmanager
def _own_words() -> Iterator[None]:
    """Without the composer's lines about batches that nobody asked for; the census says what it lacks."""
    level = composers_log.level
    composers_log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        composers_log.setLevel(level)


def _plain(bricks: Bricks, graph: TypeGraph, asked: int, used: Coverage) -> dict[str, Any]:
    signatures = {
        f"{domain} -> {codomain}": count for (domain, codomain), count in sorted(graph.bricks.items())
    }
    sample = {
        "asked": asked,
        "composites": used.composites,
        "kinds": {f"{operator}-{size}": count for (operator, size), count in used.kinds.items()},
        "uses": {id: {"name": bricks.names[id], "uses": count} for id, count in used.uses.items()},
        "unused": used.unused,
        "mean": used.mean,
        "peak over mean": used.peak,
        "even": used.even,
        "composites that tell": used.enough,
    }
    return {
        "bricks": len(bricks.members),
        "signatures": signatures,
        "chains": {domain: list(graph.chains[domain]) for domain in graph.domains},
        "sample": sample,
    }


def _picture(bricks: Bricks, graph: TypeGraph, asked: int, used: Coverage) -> RenderableType:
    counted = f"{len(graph.bricks)} signatures over {len(graph.domains)} domains"
    title = f"{len(bricks.members)} bricks {bricks.whose}, {counted}"
    parts = [_types(title, graph), _lengths(graph), COUNTING] if graph.domains else [title]
    return Group(*parts, *([_uses(bricks, used)] if used.composites else []), *_words(asked, used))


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
    table = Table(
        "brick", "uses", "over the mean", title=f"use in {used.composites:,} composites", **_style()
    )
    ranked = sorted(used.uses.items(), key=lambda item: (-item[1], bricks.called(item[0])))
    for part in (ranked[:SHOWN], ranked[SHOWN:][-SHOWN:]):
        for id, count in part:
            table.add_row(visible(bricks.called(id)), str(count), f"{count / used.mean:.2f}")
        table.add_section()
    return Group(table, f"sampled: {kinds}")


def _words(asked: int, used: Coverage) -> list[str]:
    """How much of the sample there is, and what it tells."""
    if not asked:
        return [
            "no composites were sampled (--composites 0), so nothing is known of how evenly bricks are used"
        ]
    if not used.uses:
        return ["no composites could be made: there is no brick to make them of"]
    words = []
    if used.composites < asked:
        words.append(
            f"{used.composites:,} of the {asked:,} composites asked for could be made: {ROUNDS} times in a row, "
            f"up to {BATCH} draws of an operator and a size gave no other"
        )
    if used.enough is None:
        return words
    claim = f"every brick used, none above {EVEN:g} times the mean of {used.mean:.1f}"
    facts = f"{len(used.unused)} unused, the most used has {used.peak:.2f} times the mean"
    if used.even is None:
        small = f"the sample is too small to tell; a mean of {ENOUGH:g} tells (a bound of ours)"
        return [*words, f"{claim}: {small}, so about {used.enough:,} composites like these; here {facts}"]
    return [*words, f"{claim}: {'holds' if used.even else 'does not hold'}; {facts}"]


def _style() -> dict[str, Any]:
    return {"box": SIMPLE_HEAD, "padding": (0, 1, 0, 0), "title_justify": "left"}
