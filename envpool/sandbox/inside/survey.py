"""Trying out beforehand which walls the node lets a process put up.

Invariant: each trial is the wall itself, put up in a process of its own that then ends, so the answer is the kernel's
and the caller stays as it was.
"""

import os
from collections.abc import Callable, Iterable
from typing import NoReturn

from envpool.sandbox.inside import kernel, landlock, namespaces
from envpool.sandbox.inside.filter import Program as Filter
from envpool.sandbox.inside.identity import drop_root

_MESSAGE = 400


def survey(names: Iterable[str], filter: Filter) -> dict[str, str]:
    """Which of the named layers would not take, and what the kernel said. Raises OSError where nothing forks."""
    trials: dict[str, Callable[[], object]] = {
        "seccomp": lambda: _lock(filter),
        "uid drop": drop_root,
        "namespaces": _leave,
        "landlock": _restrict,
    }
    answers = {name: _apart(trials[name]) for name in names}
    return {name: answer for name, answer in answers.items() if answer}


def _lock(filter: Filter) -> None:
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.install_filter(filter, os.getpid())


def _leave() -> None:
    drop_root()
    namespaces.enter()
    pid = os.fork()
    if pid == 0:
        os._exit(0 if os.getpid() == 1 else 1)
    if os.waitpid(pid, 0)[1] != 0:
        raise OSError("the first process of its namespace is not number 1")


def _restrict() -> None:
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    landlock.enter()


def _apart(trial: Callable[[], object]) -> str:
    """What went wrong with a trial in a process of its own; empty when nothing did."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        _run(trial, writing)
    os.close(writing)
    said = os.read(reading, _MESSAGE).decode(errors="replace")
    os.close(reading)
    status = os.waitpid(pid, 0)[1]
    return said or ("" if status == 0 else f"a trial ended with status {status}")


def _run(trial: Callable[[], object], writing: int) -> NoReturn:
    status = 1
    try:
        trial()
        status = 0
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        os.write(writing, f"{where}{error.strerror or error}".encode()[:_MESSAGE])
    finally:
        os._exit(status)
