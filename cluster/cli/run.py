"""`envolve run`: start a run, or resume it under the same name."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from cluster.cli.places import console, fail
from cluster.config import Config
from cluster.inspect.live import LiveView
from cluster.report import report
from cluster.resolve import PRESETS, ConfigError, dump, resolve
from cluster.run_folder import RunFolderError, held, named, phase
from envpool.store import StoreError

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
        fail(f"Envolve runs on Linux only, not on {sys.platform}: its sandbox is made of Linux system calls")
    try:
        resolved = resolve(config, overrides or [])
    except ConfigError as error:
        fail(str(error), 2)
    if dry_run:
        typer.echo(dump(resolved), nl=False)
    else:
        _drive(named(resolved), plain)


def _drive(config: Config, plain: bool) -> None:
    # Only now: Ray and what comes with it take seconds to import, which --help and --dry-run need not pay.
    from cluster.driver import Interrupted, RunFailed, cluster_of, drive

    screen = console()
    try:
        with held(config) as folder:
            screen.print(f"{_verb(config, phase(folder))} run {config.run.name} in {folder}")
            view = LiveView(screen, plain=plain or not screen.is_terminal)
            with cluster_of(config), view:
                drive(config, view.show)
            screen.print(report(folder))
    except (ConfigError, RunFolderError, StoreError) as error:
        fail(str(error), 2)
    except ConnectionError as error:
        fail(f"no Ray cluster answers at {os.environ.get('RAY_ADDRESS', 'this machine')}: {error}")
    except Interrupted as stop:
        screen.print(f"{stop}. The same command with run.name={config.run.name} resumes.")
        raise typer.Exit(INTERRUPTED_EXIT) from stop
    except RunFailed as error:
        fail(f"run {config.run.name!r} failed: {error}")


def _verb(config: Config, phase: str) -> str:
    if phase == "done":
        fail(f"run {config.run.name!r} is finished; choose another run.name, or look with `envolve status`")
    return "starting" if phase == "starting" else "resuming"
