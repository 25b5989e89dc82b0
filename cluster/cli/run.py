"""`envolve run`: start a run, or resume it under the same name."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.console import Console

from cluster.cli.places import fail
from cluster.resolve import PRESETS, ConfigError, dump, resolve

INTERRUPTED_EXIT = 130


def run(
    overrides: Annotated[
        list[str] | None, typer.Argument(help="section.key=value, as often as you like.")
    ] = None,
    config: Annotated[str, typer.Option(help=f"A preset ({', '.join(PRESETS)}) or a YAML file.")] = "local",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the resolved configuration and stop.")
    ] = False,
    plain: Annotated[bool, typer.Option("--plain", help="Lines instead of the live view.")] = False,
) -> None:
    """Evolve a pool and train on it. The same command with the same run.name resumes; Ctrl-C drains and saves."""
    if sys.platform != "linux":
        fail(
            f"Envolve runs on Linux only (this is {sys.platform}): its sandbox is made of Linux system calls"
        )
    try:
        resolved = resolve(config, overrides or [])
    except ConfigError as error:
        fail(str(error), 2)
    if dry_run:
        typer.echo(dump(resolved), nl=False)
        return
    # Only now: Ray and what comes with it take seconds to import, which --help and --dry-run need not pay.
    from cluster.driver import Interrupted, RunFailed, cluster_of, drive
    from cluster.inspect.live import LiveView
    from cluster.report import report
    from cluster.run_folder import RunFolderError, held, named, phase

    console = Console()
    resolved = named(resolved)
    try:
        with held(resolved) as folder:
            before = phase(folder)
            if before == "done":
                fail(
                    f"run {resolved.run.name!r} is finished; choose another run.name, or look with `envolve status`"
                )
            verb = "resuming" if before != "starting" else "starting"
            console.print(f"{verb} run [bold]{resolved.run.name}[/] in {folder}")
            with cluster_of(resolved), LiveView(console, plain=plain or not console.is_terminal) as view:
                drive(resolved, view.show)
            console.print(report(folder))
    except (ConfigError, RunFolderError) as error:
        fail(str(error), 2)
    except Interrupted as stop:
        console.print(f"{stop}. The same command with run.name={resolved.run.name} resumes.")
        raise typer.Exit(INTERRUPTED_EXIT) from stop
    except RunFailed as error:
        fail(f"run {resolved.run.name!r} failed: {error}")
