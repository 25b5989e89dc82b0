"""`envolve warmstart`: a small policy learns to write environments before a run, so that it can write its own there."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from cluster.cli.places import console, fail
from cluster.resolve import resolve
from envpool.sandbox import InfrastructureFault, SandboxUnavailable
from training.grpo.errors import LearnerError
from training.policy.errors import PolicyEngineError
from training.policy.source import PACKAGED, ModelUnavailable, resolve_model
from training.warmstart.plan import SUFFIX, WarmStart

if TYPE_CHECKING:
    from training.warmstart.course import Progress as Course

PRESET = "local-writer"
INTERRUPTED_EXIT = 130
LINE_SECONDS = 30.0
"""Between two lines of progress where there is no terminal."""
DEFAULT = WarmStart()


def warmstart(
    model: Annotated[
        str, typer.Option(help=f"The model to begin with: {', '.join(PACKAGED)}, or a folder.")
    ] = DEFAULT.base,
    minutes: Annotated[
        float, typer.Option(min=0.1, help="Of training at most; drawing lessons and measuring come to it.")
    ] = DEFAULT.minutes,
    seed: Annotated[int, typer.Option(help="Of the lessons.")] = DEFAULT.seed,
    proposals: Annotated[int, typer.Option(min=4, help="Drawn afterwards and judged by the gates.")] = 64,
    threads: Annotated[int, typer.Option(min=0, help="CPU threads of learner and engine; 0: all cores.")] = 0,
) -> None:
    """Teach a small policy to write environments, by examples of the grammar; about half an hour on two cores.

    The writer is kept in the user's cache, and the preset local-writer plays with it. A second call finds it there.
    Ctrl-C leaves nothing half made.
    """
    plan = WarmStart(base=_base(model), minutes=minutes, seed=seed)
    screen = console()
    try:
        folder = _made(plan, proposals, threads or os.cpu_count() or 1)
    except (ModelUnavailable, SandboxUnavailable, LearnerError, PolicyEngineError) as error:
        fail(str(error))
    except InfrastructureFault as error:
        fail(f"the machine failed a question of the lessons: {error}; try again")
    except KeyboardInterrupt as stop:
        screen.print("interrupted; nothing half made is left, and what was whole is kept")
        raise typer.Exit(INTERRUPTED_EXIT) from stop
    from training.warmstart.making import facts_of

    screen.print(_summary(facts_of(folder)))
    screen.print(f"policy.model={_name(plan, folder)}  ({folder})")


def _base(model: str) -> str:
    if model in PACKAGED:
        return model
    if model.endswith(SUFFIX):
        fail(f"{model} is a writer already; --model names what it is made of: {', '.join(PACKAGED)}", 2)
    folder = Path(model).expanduser()
    if not folder.is_dir():
        fail(f"--model: {model!r} is neither a packaged model ({', '.join(PACKAGED)}) nor a folder", 2)
    return str(folder.resolve())


def _made(plan: WarmStart, proposals: int, threads: int) -> Path:
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")  # before verl imports vLLM; its talk breaks the bar
    from training.warmstart.making import Asked, Tell, make

    config = resolve(PRESET)
    programs, asked = config.programs(), Asked(proposals, config.policy.temperature)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as shown:
        bar, told = shown.add_task("", total=None), 0.0

        def phase(text: str) -> None:
            shown.update(bar, description=text, total=None)
            if not shown.console.is_terminal:
                shown.console.print(text)

        def progress(course: Course) -> None:
            text = (
                f"step {course.step}: loss {course.loss:.3f}, {course.tokens / course.seconds:.0f} tokens/s"
            )
            shown.update(bar, description=text, total=1.0, completed=course.share)
            nonlocal told
            if not shown.console.is_terminal and course.seconds >= told + LINE_SECONDS:
                told = course.seconds
                shown.console.print(f"{text}, {course.share:.0%} of the course")

        return make(plan, programs, _cluster, Tell(phase, progress), asked=asked, threads=threads)


@contextmanager
def _cluster() -> Iterator[None]:
    """A light Ray of this machine, whatever RAY_ADDRESS says, for the one worker group."""
    import ray

    ray.init(
        address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR
    )
    try:
        yield
    finally:
        ray.shutdown()


def _name(plan: WarmStart, folder: Path) -> str:
    """What to write in a configuration: the short name where that finds this folder."""
    name = f"{plan.base}{SUFFIX}"
    try:
        return name if plan.base in PACKAGED and resolve_model(name) == folder else str(folder)
    except ModelUnavailable:
        return str(folder)


def _summary(facts: dict[str, Any]) -> Table:
    """What it was made from, and the share of its proposals that is past each stage."""
    examined = facts["examined"]
    low, high = examined["interval"]
    title = (
        f"{facts['steps']} steps, {facts['taught']} programs, {facts['reply_tokens']} tokens in "
        f"{facts['training_seconds'] / 60:.1f} minutes ({facts['seconds'] / 60:.1f} with lessons); "
        f"last loss {facts['loss']:.3f}"
    )
    past = round(examined["past_l4"] * examined["proposals"])
    caption = (
        f"at temperature {facts['asked']['temperature']:g} past L1 to L4: {examined['past_l4']:.2f} of "
        f"{examined['proposals']}, 95 % interval {low:.2f} to {high:.2f}; "
        f"of these {past}, {examined['repeated']} have an oracle that a lesson had, {examined['apart']} one of the "
        f"grammar that no lesson had"
    )
    table = Table("past", "share of all", box=SIMPLE_HEAD, title=title, caption=caption)
    for stage, share in examined["past"].items():
        table.add_row(stage, f"{share:.2f}")
    return table
