"""`envolve run`: start a run, or resume it under the same name."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import Annotated

import typer

from cluster.cli.places import console, fail
from cluster.config import Config
from cluster.inspect.live import LiveView
from cluster.report import report
from cluster.resolve import PRESETS, ConfigError, dump, resolve
from cluster.run_folder import RunFolderError, held, named, phase
from cluster.submission import SubmissionError, settled
from envpool.store import StoreError
from training.policy.source import ModelUnavailable, is_writer, resolve_model

INTERRUPTED_EXIT = 130
SERVER = ("fastapi", "uvicorn")
"""What the extra `serve` brings for a run with a trainer elsewhere."""


def run(
    overrides: Annotated[
        list[str] | None, typer.Argument(help="section.key=value, as often as you like.")
    ] = None,
    config: Annotated[str, typer.Option(help=f"A preset ({', '.join(PRESETS)}) or a YAML file.")] = "local",
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Print the resolved configuration and stop; what is decided at the start stays auto or empty.",
        ),
    ] = False,
    plain: Annotated[bool, typer.Option("--plain", help="Lines instead of the live view.")] = False,
    detach: Annotated[
        bool, typer.Option("--detach", help="Leave the run going in its cluster once it has begun.")
    ] = False,
) -> None:
    """Evolve a pool and train on it. The same command with the same run.name resumes, or joins a run that goes.

    Ctrl-C drains and saves. The run is in the Ray cluster that RAY_ADDRESS names; without it in one of its own, which
    ends with this command.
    """
    if sys.platform != "linux":
        fail(f"Envolve runs on Linux only, not on {sys.platform}: its sandbox is made of Linux system calls")
    try:
        resolved = resolve(config, overrides or [])
    except ConfigError as error:
        fail(str(error), 2)
    if dry_run:
        typer.echo(dump(resolved), nl=False)
    else:
        if resolved.serve.enabled:
            _require_server()
        else:
            _require_writer(resolved.policy.model)
        _drive(named(settled(resolved)), plain, detach)


def _require_writer(model: str) -> None:
    """A writer takes half an hour to make, so it is asked for before anything of a run is made."""
    try:
        if is_writer(model):
            resolve_model(model)
    except ModelUnavailable as error:
        fail(f"policy.model: {error}", 2)


def _require_server() -> None:
    if lacking := [name for name in SERVER if find_spec(name) is None]:
        fail(f"a run that serves needs {' and '.join(lacking)}: pip install 'envolve[serve]'", 2)


def _drive(config: Config, plain: bool, detach: bool) -> None:
    # Only now: Ray and what comes with it take seconds to import, which --help and --dry-run need not pay.
    from cluster.driver import Interrupted, RunFailed, drive, launch
    from cluster.joining import ClusterRefused, RayNotStarted, cluster_of

    screen = console()
    try:
        with held(config) as folder:
            screen.print(f"{_verb(config, phase(folder))} run {config.run.name} in {folder}")
            with cluster_of(config, lasting=detach) as cluster:
                if detach:
                    launch(config, screen.print)
                    screen.print(_farewell(config))
                    return
                with LiveView(screen, plain=plain or not screen.is_terminal) as view:
                    drive(config, cluster, view.show, screen.print)
            screen.print(report(folder))
    except (ConfigError, RunFolderError, StoreError, ClusterRefused, SubmissionError) as error:
        fail(str(error), 2)
    except RayNotStarted as error:
        fail(str(error))
    except ConnectionError as error:
        fail(f"no Ray cluster answers at {os.environ.get('RAY_ADDRESS', 'this machine')}: {error}")
    except Interrupted as stop:
        does = "resumes" if stop.resumes else "begins it"
        screen.print(f"{stop}. The same command with run.name={config.run.name} {does}.")
        raise typer.Exit(INTERRUPTED_EXIT) from stop
    except RunFailed as error:
        fail(f"run {config.run.name!r} failed: {error}")


def _farewell(config: Config) -> str:
    name, where = config.run.name, config.run.folder.expanduser().resolve()
    which = f"--run {name} --folder {where}"
    return (
        f"{name} goes on without this command; `envolve status {which}` looks, `envolve stop {which}` ends it"
    )


def _verb(config: Config, phase: str) -> str:
    if phase == "done":
        fail(
            f"run {config.run.name!r} is finished and takes no further steps: run.steps can be raised only before the "
            f"end; choose another run.name, or look with `envolve status`"
        )
    return "starting" if phase == "starting" else "resuming"
