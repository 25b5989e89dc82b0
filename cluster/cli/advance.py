"""How far a long command is: a bar on a terminal, elsewhere a line now and then.

Invariant: it goes to standard error, so what a command prints can be piped. It says nothing of what was found.
"""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

PAUSE = 5.0
"""Seconds between two lines, where there is no terminal."""


class Advance:
    """Shows one or more counts as they rise; a context."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._terminal = sys.stderr.isatty()
        self._bars = Progress(
            *columns, console=Console(stderr=True), transient=True, disable=not self._terminal
        )
        self._tasks: dict[str, TaskID] = {}
        self._told = time.monotonic()

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def show(self, what: str, done: int, total: int, beside: str = "") -> None:
        """So many of so many are done, and what else shows that it goes on."""
        text = f"{what} ({beside})" if beside else what
        if self._terminal:
            if what not in self._tasks:
                self._tasks[what] = self._bars.add_task(text, total=total)
            self._bars.update(self._tasks[what], description=text, completed=done)
        elif time.monotonic() - self._told >= PAUSE:
            typer.echo(f"{text}: {done:,} of {total:,}", err=True)
            self._told = time.monotonic()
