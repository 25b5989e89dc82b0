"""A small real pool for the tests of what leaves a pool: shipped programs, composites of them, one set apart."""

import asyncio
from dataclasses import replace
from pathlib import Path

from envpool.admission.form import read
from envpool.answers import write
from envpool.bricks import read_bricks
from envpool.contract import Instance
from envpool.curation.standings import lowest_level
from envpool.exchange.provenance import Provenance
from envpool.exchange.snapshot import write_snapshot
from envpool.members import Composite, Member, Origin, Program
from envpool.sandbox import LocalExecutor
from envpool.seeds import read_seeds
from envpool.signatures import from_wire, parse_type
from envpool.store import PoolWriter

SEEDS = ("inversion_count", "subset_sum", "graph_colouring")
APART = "longest_increasing_subsequence"
BRICKS = (
    "lists/sort_up", "lists/running_totals", "lists/total", "lists/double_each", "lists/largest", "numbers/digits",
    "strings/upper_case",
)  # fmt: skip


def members() -> dict[str, Member]:
    """By name: seeds, one of them set apart, bricks, and the composites sequential, parallel, sort and select."""
    sources = {name: (source, Origin.SEED) for name, source in read_seeds() if name in (*SEEDS, APART)}
    sources |= {name: (source, Origin.BRICK) for name, source in read_bricks(BRICKS)}
    programs = asyncio.run(_programs({name: source for name, (source, _) in sources.items()}))
    found = {
        name: Member(programs[name], origin, held_out=name == APART, created=1.0)
        for name, (_, origin) in sources.items()
    }
    ids = {name.rpartition("/")[2]: member.id for name, member in found.items()}
    chain = tuple(ids[name] for name in ("sort_up", "running_totals", "largest"))
    composed = {
        "sequential": Composite("SEQUENTIAL", (chain,), "list[int]", "int"),
        "parallel": Composite(
            "PARALLEL", ((ids["total"],), (ids["upper_case"],)), "tuple[list[int], str]", "tuple[int, str]"
        ),
        "sort": Composite("SORT", (chain,), "list[int]", "int"),
        "select": Composite("SELECT", (chain,), "list[int]", "int", (ids["double_each"],)),
    }
    for name, material in composed.items():
        found[name] = Member(
            material, Origin.COMPOSER, material.parts, evidence={"level": 1, "guess_rate": 0.2}, created=2.0
        )
    return found


async def _programs(sources: dict[str, str]) -> dict[str, Program]:
    executor = LocalExecutor()
    try:
        return {name: (await read(executor, source)).program for name, source in sources.items()}
    finally:
        executor.close()


def write_pool(run: Path, found: dict[str, Member]) -> Path:
    """A run's folder with a pool of these members, active and at level 0; the policy is at level 2 of the first."""
    run.mkdir(parents=True)
    (run / "config.yaml").write_text(f"run: {{name: {run.name}}}\n", encoding="utf-8")
    with PoolWriter.open(run / "pool", map_size=1 << 26) as pool:
        pool.put_state("policy", "main")
        pool.put_state("progress", {"step": 7, "version": 7})
        for member in found.values():
            pool.admit(replace(member, embedding=b"\0" * 16), reason="passed 10 gates")
        pool.set_level(found["inversion_count"].id, "main", 2, "success 0.95")
    return run


def write_members(folder: Path, found: dict[str, Member], levels: dict[str, int] | None = None) -> Path:
    """A snapshot in which all of them may be asked, or those with a level."""
    asked = {member.id: lowest_level(member) for member in found.values()} if levels is None else levels
    return write_snapshot(folder, found.values(), asked, Provenance(run="small", licence="CC-BY-4.0"))


def perfect(instance: Instance) -> str:
    """The response of a solver who knows the reference."""
    types = [parse_type(text) for text in instance.answer_types]
    return write([from_wire(reference) for reference in instance.references], types)
