"""A child from fork to exit: it confines itself, then answers one request at a time until its input ends.

Invariant: `confine` comes before the first byte of a program is read. Whatever a program does here it can only
falsify its own replies, so nothing in this file is a wall.
"""

import gc
import os
import resource
import signal
from dataclasses import dataclass
from typing import Any, NoReturn

from envpool.sandbox.inside import frames, kernel
from envpool.sandbox.inside.filter import Program as Filter
from envpool.sandbox.inside.form import Malformed
from envpool.sandbox.inside.inspection import inspect
from envpool.sandbox.inside.program import FILE, Program, Solution
from envpool.sandbox.inside.search import Search
from envpool.signatures import IllegalValue

_MAX_DETAIL = 500


@dataclass(frozen=True, slots=True)
class Cage:
    """What a zygote prepares once for all its children."""

    filter: Filter | None  # None only on the rung `unsafe`, and where the self-test looks behind the filter
    zygote_pid: int  # as a child sees it; 0 in a process namespace of its own
    null_fd: int
    address_space: int  # bytes
    cpu_seconds: int  # a net in case the supervisor is gone; the verdict limit is measured from outside
    output_bytes: int
    allowed: frozenset[str]

    def rlimits(self) -> tuple[tuple[int, int], ...]:
        return (
            (resource.RLIMIT_CPU, self.cpu_seconds), (resource.RLIMIT_AS, self.address_space),
            (resource.RLIMIT_FSIZE, self.output_bytes), (resource.RLIMIT_NOFILE, 16), (resource.RLIMIT_NPROC, 0),
            (resource.RLIMIT_CORE, 0), (resource.RLIMIT_MEMLOCK, 0),
        )  # fmt: skip


def confine(cage: Cage, request_fd: int, reply_fd: int) -> None:
    """All layers of a child. Raises OSError if one does not take, and then nothing may run."""
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != cage.zygote_pid:
        raise OSError("the zygote is gone")
    # The zygote keeps 0 to 9 taken, so neither descriptor can be overwritten by the other's move.
    os.dup2(request_fd, frames.REQUEST_FD)
    os.dup2(reply_fd, frames.REPLY_FD)
    for standard in (0, 1, 2):
        os.dup2(cage.null_fd, standard)
    os.closerange(frames.REPLY_FD + 1, 1 << 20)
    os.setsid()
    for which, limit in cage.rlimits():
        resource.setrlimit(which, (limit, limit))
    if cage.filter is not None:
        kernel.install_filter(cage.filter, os.getpid())


def run(cage: Cage, request_fd: int, reply_fd: int) -> NoReturn:
    """The whole life of a child; never returns."""
    status = 70
    try:
        confine(cage, request_fd, reply_fd)
        os.write(frames.REPLY_FD, frames.CONFINED)
        gc.enable()
        _Session(cage).serve()
        status = 0
    finally:
        os._exit(status)


class _Session:
    """One source and the calls made of it; the source of a search is the bundle of its bricks."""

    def __init__(self, cage: Cage) -> None:
        self._cage = cage
        self._source = ""
        self._program: Program | None = None
        self._solution: Solution | None = None

    def serve(self) -> None:
        requests = frames.Requests()
        while (request := requests.next()) is not None:
            identity, method, args = request
            if method == "source":
                self._source = args[0]
                continue
            frames.send(self._reply(identity, method, args))

    def _reply(self, identity: int, method: str, args: list[Any]) -> bytes:
        try:
            body = frames.encode([identity, "value", self._call(identity, method, args)])
        except MemoryError:
            self._program = self._solution = None
            return frames.encode([identity, "mem_limit", "MemoryError"])
        except IllegalValue as error:
            return frames.encode([identity, "illegal_value", _clean(str(error))])
        except BaseException as error:  # noqa: BLE001  a program may raise anything, SystemExit too
            return frames.encode([identity, "code_error", _describe(error)])
        if len(body) > self._cage.output_bytes:
            return frames.encode([identity, "output_limit", f"a result of {len(body)} bytes"])
        return body

    def _call(self, identity: int, method: str, args: list[Any]) -> Any:
        if method == "inspect":
            return inspect(self._source, self._cage.allowed)
        if method == "search":
            Search(self._source, *args).run(lambda part: frames.send(frames.encode([identity, "part", part])))
            return None
        if method == "answer":
            if self._solution is None:
                self._solution = Solution(self._source)
            return self._solution.answer(args)
        if self._program is None:
            self._program = Program(self._source)
        return self._program.call(method, args)


def _describe(error: BaseException) -> str:
    """Class, message and the last line of the program on the way, as far as the program lets us."""
    if isinstance(error, Malformed):
        return _clean(str(error))
    try:
        text = f"{type(error).__name__}: {error}"
    except BaseException:  # noqa: BLE001  __str__ is the program's
        text = "an exception that cannot be shown"
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    return _clean(text) + (f" (line {line})" if line else "")


def _clean(text: str) -> str:
    """Short, and without lone surrogates, which the other side refuses."""
    return text[:_MAX_DETAIL].encode("utf-8", "replace").decode()
