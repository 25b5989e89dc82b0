"""`envolve export verifiers`: a pool, or the service that serves one, as a taskset package of verifiers."""

from __future__ import annotations

from typing import Annotated

import typer

from cluster.cli.exporting import Into, Licence, check_name, new_folder, taken
from cluster.cli.places import fail
from envpool.exchange.verifiers_package import UnusableName, write_package

WEB = ("http://", "https://")


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("verifiers")(verifiers)


def verifiers(
    pool: Annotated[
        str,
        typer.Argument(
            metavar="POOL|URL",
            help="A run's folder or its name in runs/, a pool's or a backup's folder, a snapshot, or the word shipped; "
            "or the URL of a service (`envolve serve`), whose pool evolves by what is answered.",
        ),
    ],
    into: Into,
    name: Annotated[
        str, typer.Option(help="Of the package, and the id that verifiers loads it by.")
    ] = "envolve_pool",
    licence: Licence = "",
) -> None:
    """Write an endless taskset that `pip install` takes and verifiers (v1) loads by its name, with tests.

    Answers are scored by the pool's programs in Envolve's sandbox, so Envolve comes with it.
    """
    check_name(name)
    try:
        if pool.startswith(WEB):
            with new_folder(into) as folder:
                write_package(folder, name, None, pool.rstrip("/"))
            what = f"the service at {pool}"
        else:
            with taken(pool, licence) as opened, new_folder(into) as folder:
                write_package(folder, name, opened.snapshot)
            what = f"pool {opened.fingerprint}, {len(opened.snapshot.levels):,} members"
    except UnusableName as error:
        fail(f"--name: {error}", 2)
    # The whole path: a bare name is looked up in a registry, where another package may have it.
    typer.echo(f"{into}: an endless taskset of {what}; pip install {into.resolve()}, then:")
    told = f"vf-eval {name.replace('_', '-')} -m MODEL -n 20 --no-push --env.agent.runtime.type subprocess"
    typer.echo(f"    {told} --client.base-url URL")
