"""`envolve export`: an evolved pool for other trainers and tools; each form a command, some in files of their own."""

from __future__ import annotations

from functools import partial

import typer

from cluster.cli import export_reasoning_gym, export_verifiers, export_verl
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
from envpool.exchange.gathering import Split
from envpool.exchange.jsonl import write_jsonl
from envpool.exchange.snapshot import FILE, write_snapshot

app = typer.Typer(
    no_args_is_help=True, help="Take a pool out, with the programs that judge, for other trainers."
)
export_reasoning_gym.register(app)
export_verifiers.register(app)
export_verl.register(app)


@app.command()
def snapshot(pool: From, into: Into, licence: Licence = "") -> None:
    """Write members.jsonl: the members that may be asked, as text, with levels, lineage and provenance.

    `Pool.open` opens it where only Envolve's base install is, and every export has one.
    """
    with taken(pool, licence) as opened, new_folder(into) as folder:
        found = opened.snapshot
        write_snapshot(folder, found.members.values(), found.levels, found.provenance)
    apart = len(opened.ids(held_out=True))
    typer.echo(
        f"{into / FILE}: {len(found.levels):,} members, {apart:,} of them set apart; pool {found.fingerprint}"
    )


@app.command()
def jsonl(
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
    """Write questions with their answers, a line each, in a folder that `datasets.load_dataset` reads as it is.

    Each line has its member, lineage, licence and what scoring needs; members.jsonl has the programs that judge.
    """
    wanted: dict[Split, int] = {
        "train": train,
        "held_out_questions": questions,
        "held_out_families": families,
    }
    with taken(pool, licence, packages) as opened, new_folder(into) as folder, Advance() as advance:
        told = partial(advance.show, "questions", total=sum(wanted.values()))
        written = write_jsonl(opened, folder, wanted, seed=seed, level=level, tell=told)
    say_what_is_missing(wanted, written.counts, written.left_out)
    for split, count in written.counts.items():
        typer.echo(f"{into / split}.jsonl: {count:,} questions")
    typer.echo(f"pool {opened.fingerprint}; datasets.load_dataset({str(into)!r}) reads it")
