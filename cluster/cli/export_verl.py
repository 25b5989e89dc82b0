"""`envolve export verl`: a pool as the data files and the reward function of verl's own trainers."""

from __future__ import annotations

from functools import partial

import typer

from cluster.cli.advance import Advance
from cluster.cli.exporting import (
    Families,
    From,
    Into,
    Level,
    Licence,
    Packages,
    Questions,
    Seed,
    Train,
    new_folder,
    say_what_is_missing,
    taken,
)
from cluster.cli.places import fail
from envpool.exchange.gathering import Split


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("verl")(verl)


def verl(
    pool: From,
    into: Into,
    train: Train = 10_000,
    questions: Questions = 500,
    families: Families = 500,
    seed: Seed = 0,
    level: Level = None,
    licence: Licence = "",
    packages: Packages = None,
) -> None:
    """Write train.parquet, test.parquet, envolve_reward.py and members.jsonl, with which verl trains on a pool.

    Rewards are verdicts of the sandbox, so Envolve must be installed where verl's reward workers run; its base install
    is enough.
    """
    try:
        from envpool.exchange.verl import TOLD, export
    except ModuleNotFoundError as error:  # pyarrow, which the other commands do without
        fail(f"{error}; the extra `datasets` has it")
    wanted: dict[Split, int] = {
        "train": train,
        "held_out_questions": questions,
        "held_out_families": families,
    }
    with taken(pool, licence, packages) as opened, new_folder(into) as folder, Advance() as advance:
        told = partial(advance.show, "questions", total=sum(wanted.values()))
        written = export(opened, folder, wanted, seed=seed, level=level, packages=packages or (), tell=told)
    say_what_is_missing(wanted, written.counts, written.left_out)
    for split, count in written.counts.items():
        typer.echo(f"{split}: {count:,} rows")
    typer.echo(f"pool {opened.fingerprint}; tell verl:")
    for key, name in TOLD.items():
        typer.echo(f"    {key}={into.resolve() / name}")
