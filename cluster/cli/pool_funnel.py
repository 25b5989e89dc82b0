"""`envolve pool funnel`: what share of the policy's proposals gets past each gate, over the steps of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from cluster.cli.places import RUNS, Folder, Run, console, fail, opened, run_folder
from cluster.inspect import funnel
from cluster.inspect.funnel import READINGS, Ended, Trend, Window
from cluster.inspect.funnel_plot import svg
from envpool.admission.passing import STAGES, Share
from envpool.members import Origin

BARS = "▁▂▃▄▅▆▇█"
TITLE = "share past each gate of candidates made by {}; the funnel of `envolve status` counts those of all makers"
CHANGE = (
    "change: from the first half of the steps to the second, in points, with its 95 % interval where proposals are "
    "independent; those of one prompt are less so."
)
PAPER = (
    "EvoEnv (arXiv 2605.14392) reports 53 to 74 % past L2 and L3 and 42 to 63 % past L4 over 100 steps, "
    "of models of 4B parameters and more."
)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("funnel")(show_funnel)


def show_funnel(
    run: Run = "",
    folder: Folder = RUNS,
    origin: Annotated[Origin, typer.Option(help="Whose candidates.")] = Origin.POLICY,
    window: Annotated[
        int, typer.Option(min=0, help="Steps to a row; 0: ten rows.", show_default="ten rows")
    ] = 0,
    plot: Annotated[
        Path | None, typer.Option("--svg", help="Write the curves into this file.", dir_okay=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Counts as JSON.")] = False,
) -> None:
    """The share of proposals that gets past each gate, by the learner's step, and whether it rises.

    Reads the run's pool, while it runs or after. L1 includes the imports and the scan; no_copy comes before
    anything is run, so that copies are stopped there.
    """
    place = run_folder(run, folder)
    with opened(place) as reader, reader.snapshot():
        ended = funnel.ended_by_step(reader, origin)
    found = funnel.windows(ended, window)
    if plot is not None:
        _write(plot, svg(found, f"{place.name}: {funnel.whole(ended).candidates} proposals ({origin})"))
    if as_json:
        typer.echo(json.dumps({"run": place.name, "origin": origin, **funnel.plain(ended, found)}))
        return
    screen = console()
    if not found:
        screen.print(f"{place.name} has no candidates of {origin} yet")
        return
    screen.print(_table(f"{place.name}: {TITLE.format(origin)}", ended, found))
    screen.print(CHANGE)
    if origin is Origin.POLICY:
        screen.print(PAPER)
    if plot is not None:
        screen.print(f"curves: {plot}")


def _table(title: str, ended: Ended, found: Sequence[Window]) -> Table:
    """Shares of all candidates by window; below, both readings over all steps, and how they went."""
    table = Table("steps", "proposals", *STAGES, title=title, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for each in found:
        table.add_row(each.steps, str(each.passing.candidates), *_cells(each.passing.of_all))
    for name, reading in READINGS.items():
        total, trends = funnel.whole(ended), funnel.trends(ended, reading)
        table.add_section()
        table.add_row(name, str(total.candidates), *_cells(reading(total)))
        table.add_row("over time", "", *_sparks([reading(each.passing) for each in found]))
        table.add_row("change", "", *(_points(trends.get(stage)) for stage in STAGES))
    return table


def _cells(shares: Mapping[str, Share]) -> list[str]:
    return ["-" if (rate := shares[stage].rate) is None else f"{rate:.0%}" for stage in STAGES]


def _sparks(rows: Sequence[Mapping[str, Share]]) -> list[str]:
    """By stage a bar a window, from 0 to 1; a blank where there was nobody."""
    return ["".join(_bar(row[stage].rate) for row in rows) for stage in STAGES]


def _bar(rate: float | None) -> str:
    return " " if rate is None else BARS[round(rate * (len(BARS) - 1))]


def _points(trend: Trend | None) -> str:
    if trend is None:
        return "-"
    moved, low, high = (100 * each for each in (trend.after - trend.before, trend.low, trend.high))
    return f"{moved:+.0f}\n{low:+.0f} to {high:+.0f}\n{trend.word}"


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        fail(f"{path} cannot be written: {error}", 2)
