"""`envolve export reasoning-gym`: a pool as a package whose data sets reasoning_gym makes by name."""

from __future__ import annotations

from typing import Annotated

import typer

from cluster.cli.exporting import From, Into, Licence, check_name, new_folder, taken
from envpool.exchange.reasoning_gym_export import write_package


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("reasoning-gym")(reasoning_gym)


def reasoning_gym(
    pool: From,
    into: Into,
    name: Annotated[
        str, typer.Option(help="Of the package, and what the names of its data sets begin with.")
    ] = "envolve_pool",
    licence: Licence = "",
) -> None:
    """Write a package that `pip install` takes: importing it registers a data set for the pool and one a member.

    Answers are scored by the programs themselves in Envolve's sandbox, so Envolve comes with it.
    """
    check_name(name)
    with taken(pool, licence) as opened, new_folder(into) as folder:
        names = write_package(opened.snapshot, folder, name)
    # The whole path: a bare name is looked up in a registry, where another package may have it.
    typer.echo(
        f"{into}: {len(names):,} data sets of pool {opened.fingerprint}; pip install {into.resolve()}, then:"
    )
    typer.echo(f"    import reasoning_gym, {name}")
    typer.echo(f"    reasoning_gym.create_dataset({names[0]!r}, seed=1, size=100)[0]")
