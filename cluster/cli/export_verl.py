"""`envolve export verl`: a pool as the data files and the reward function of verl's own trainers."""

from __future__ import annotations

from functools import partial
from typing import Annotated

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
from cluster.resolve import ConfigError, resolve
from envpool.exchange.gathering import Split
from training.policy.chat import Chat


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
    chat: Annotated[
        str,
        typer.Option(
            metavar="PRESET|FILE",
            help="Whose policy.system and policy.examples open each conversation; a very small model needs examples.",
        ),
    ] = "",
) -> None:
    """Write train.parquet, test.parquet, envolve_reward.py and members.jsonl, with which verl trains on a pool.

    Rewards are verdicts of the sandbox, so Envolve must be installed where verl's reward workers run; its base install
    is enough.
    """
    try:
        from envpool.exchange.verl import TOLD, export
    except ModuleNotFoundError as error:  # pyarrow, which the other commands do without
        fail(f"{error}; the extra `datasets` has it")
    opening = _opening(chat) if chat else []
    wanted: dict[Split, int] = {
        "train": train,
        "held_out_questions": questions,
        "held_out_families": families,
    }
    with taken(pool, licence, packages) as opened, new_folder(into) as folder, Advance() as advance:
        told = partial(advance.show, "questions", total=sum(wanted.values()))
        written = export(
            opened,
            folder,
            wanted,
            seed=seed,
            level=level,
            packages=packages or (),
            opening=opening,
            tell=told,
        )
    say_what_is_missing(wanted, written.counts, written.left_out)
    for split, count in written.counts.items():
        typer.echo(f"{split}: {count:,} rows")
    typer.echo(f"pool {opened.fingerprint}; tell verl:")
    for key, name in TOLD.items():
        typer.echo(f"    {key}={into.resolve() / name}")


def _opening(chat: str) -> list[dict[str, str]]:
    """The system message and the worked examples of a configuration; ends the command where there is none."""
    try:
        policy = resolve(chat, []).policy
    except ConfigError as error:
        fail(str(error), 2)
    return Chat(policy.system, policy.examples).messages("")[:-1]
