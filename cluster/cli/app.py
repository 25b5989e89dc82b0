"""The typer application and how errors leave it."""

from __future__ import annotations

from importlib.util import find_spec
from inspect import cleandoc
from typing import Any

import typer
from typer.core import TyperGroup

from cluster.cli import control, doctor, export, import_pool, judge, policies, pool, serve, status, warmstart
from cluster.cli.places import fail
from cluster.cli.run import run


class _Commands(TyperGroup):
    """All commands; an argument that is refused is told without the words of the library that refused it."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise
        except ModuleNotFoundError as error:
            if find_spec("ray") is not None:
                raise
            fail(
                f"this command needs {error.name}, which the base install does not have: "
                "pip install 'envolve[cpu]', or 'envolve[gpu]'",
                2,
            )

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command = super().get_command(ctx, cmd_name)
        _flow(command)
        return command


def _flow(command: Any) -> None:
    """Lines of a docstring do not end where a terminal's do: a paragraph becomes one line, which the help breaks."""
    if command is not None and command.help:
        command.help = "\n\n".join(" ".join(part.split()) for part in cleandoc(command.help).split("\n\n"))
    for each in getattr(command, "commands", {}).values():
        _flow(each)


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Grow a pool of verifiable environments with the model that is trained on them. Linux only.",
)
app.command()(run)
app.command()(status.status)
app.command()(control.scale)
app.command()(control.pause)
app.command()(control.resume)
app.command()(control.checkpoint)
app.command()(control.stop)
app.command()(policies.attach)
app.command()(policies.detach)
app.command()(policies.policies)
app.command()(judge.judge)
app.command()(doctor.doctor)
app.command()(warmstart.warmstart)
app.command()(serve.serve)
app.add_typer(pool.app, name="pool")
app.add_typer(export.app, name="export")
import_pool.register(app)
