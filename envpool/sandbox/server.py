"""The trusted hold on a zygote: start with a literal environment, control messages, end.

Invariant: only job numbers and descriptors go to the zygote, never a byte of a program. `Lost` says that the
machine failed, not a program.
"""

import contextlib
import json
import math
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from envpool.sandbox.packages import NONE, Packages
from envpool.sandbox.results import ALLOWED_IMPORTS, AUDIT_PATIENCE, SandboxLimits, SandboxUnavailable

_BOOT = (
    "import sys, json; sys.path.append(sys.argv[1]); from envpool.sandbox.inside.zygote import main; "
    "main(int(sys.argv[2]), json.loads(sys.argv[3]))"
)
_ROOT = str(Path(__file__).resolve().parents[2])
_START_SECONDS = 60.0
_LOAD_SECONDS = 300.0  # besides, where packages are loaded: a large one, on a node with other work
_CONTROL_SECONDS = 20.0
_MESSAGE = 4096
_GREETING = 1 << 16
_SAID = 2000  # bytes of what a zygote that did not start wrote last


class Lost(RuntimeError):
    """Trouble of the machine: zygote gone, fork refused, child stalled or killed from outside."""


@dataclass(frozen=True, slots=True)
class Burial:
    """How a child ended: wait status, CPU seconds, and whether the zygote had to kill it."""

    status: int
    cpu: float
    killed: bool


@dataclass(frozen=True, slots=True)
class Birth:
    """A child: its job, its pid (0 before the zygote answered), and our ends of its pipes."""

    job: int
    pid: int
    request_fd: int
    reply_fd: int

    def close(self) -> None:
        os.close(self.request_fd)
        os.close(self.reply_fd)


def environment(hash_seed: int, packages: Packages = NONE) -> dict[str, str]:
    """The literal environment of a zygote; nothing of the owner's passes."""
    return {
        "PATH": "/usr/bin:/bin", "HOME": "/", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC",
        "PYTHONHASHSEED": str(hash_seed), "PYTHONUTF8": "1", "MALLOC_ARENA_MAX": "1",
        **packages.environment(),
    }  # fmt: skip


def cpu_net(limits: SandboxLimits) -> int:
    """RLIMIT_CPU of a child in whole seconds: more than all its calls together may use, in an audit too."""
    return math.ceil(limits.cpu_seconds * limits.calls_per_child * AUDIT_PATIENCE) + 1


class ForkServer:
    """One started zygote. `rung` is "auto" or that of `ladder` which is wanted; `ladder.start` says what it came to.
    `packages` are loaded into it beside the standard library.

    Raises SandboxUnavailable where a layer of it is missing or the self-test fails, OSError where nothing starts.
    """

    def __init__(
        self, limits: SandboxLimits, hash_seed: int, rung: str = "auto", packages: Packages = NONE
    ) -> None:
        self._job = 0
        self._spare: Birth | None = None  # asked for, its answer not yet read
        self._answers: dict[int, dict[str, Any]] = {}
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # A file, because nobody reads while it loads, and a pipe would fill.
        with tempfile.TemporaryFile() as said:
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-s", "-S", "-P", "-B", "-c", _BOOT, _ROOT, str(theirs.fileno()),
                     _settings(limits, rung, packages)],
                    env=environment(hash_seed, packages), cwd="/", close_fds=True, pass_fds=(theirs.fileno(),),
                    start_new_session=True,  # a Ctrl-C in the owner's terminal is not for it
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said,
                )  # fmt: skip
            try:
                greeting = self._greeting(_START_SECONDS + (_LOAD_SECONDS if packages.names else 0), said)
            except BaseException:
                self.close()
                raise
        self.rung: str = greeting["rung"]
        self.layers: dict[str, str] = greeting["ready"]  # name -> remark
        self.missing: dict[str, str] = greeting["missing"]  # what a stronger rung lacks here, and why

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def jobs(self) -> int:
        """Children handed out so far."""
        return self._job - (self._spare is not None)

    def _greeting(self, seconds: float, said: IO[bytes]) -> dict[str, Any]:
        """What the zygote says once it stands; `said` is what it wrote on the way. Raises SandboxUnavailable."""
        self._control.settimeout(seconds)
        try:
            message = json.loads(self._control.recv(_GREETING) or b"{}")
        except (TimeoutError, ConnectionError):
            message = {}
        self._control.settimeout(_CONTROL_SECONDS)
        if "ready" in message:
            return message
        self._process.kill()
        self._process.wait()
        said.seek(max(0, said.seek(0, os.SEEK_END) - _SAID))
        reason = message.get("refused", "its zygote died or hung")
        raise SandboxUnavailable(
            f"{reason} {said.read().decode(errors='replace')}".strip(), message.get("missing")
        )

    def fork(self) -> Birth:
        """A new child, confined before it reads. Raises Lost."""
        born, self._spare = self._spare or self._request(), None
        try:
            answer = self._answer(born.job)
            if "pid" not in answer:
                raise Lost(f"fork failed: {answer.get('error')}")
        except BaseException:
            born.close()
            raise
        return replace(born, pid=answer["pid"])

    def fork_ahead(self) -> None:
        """Has the next child forked, so that it locks itself while this one works. Raises Lost.

        One is enough: whoever asks for children waits for the work of each, which takes longer than locking the next.
        """
        if self._spare is None:
            self._spare = self._request()

    def _request(self) -> Birth:
        """Asks for a child. Raises Lost."""
        self._job += 1
        with _or_lost(), contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs:
            request_in, request_out = _pipe(reader=theirs, writer=ours)
            reply_in, reply_out = _pipe(reader=ours, writer=theirs)
            socket.send_fds(self._control, [_message("fork", self._job)], [request_in, reply_out])
            ours.pop_all()
            return Birth(self._job, 0, request_out, reply_in)

    def bury(self, job: int, grace: float) -> Burial:
        """Ends the child of a job, killing it unless it ends by itself in `grace` seconds. Raises Lost."""
        with _or_lost():
            self._control.send(_message("end", job, grace=grace))
        answer = self._answer(job)
        return Burial(answer["status"], answer["cpu"], answer["killed"])

    def drop(self, job: int) -> None:
        """Has a child killed that nobody asks about any more; a zygote that is gone has none."""
        with contextlib.suppress(OSError):
            self._control.send(_message("drop", job))

    def _answer(self, job: int) -> dict[str, Any]:
        """The next answer about a job; that of a spare comes first, and is kept."""
        with _or_lost():
            while job not in self._answers:
                message = self._control.recv(_MESSAGE)
                if not message:
                    raise Lost("the zygote is gone")
                answer = json.loads(message)
                self._answers[answer["job"]] = answer
        return self._answers.pop(job)

    def close(self) -> None:
        """Ends the zygote and with it every child. May be called again."""
        self._control.close()
        if self._spare:
            self._spare.close()
            self._spare = None
        try:
            self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()  # its children follow by their parent-death signal
            self._process.wait()


def _settings(limits: SandboxLimits, rung: str, packages: Packages) -> str:
    return json.dumps({
        "rung": rung,
        "environment": sorted(environment(0, packages)),
        "imports": ALLOWED_IMPORTS,
        "allowed": (*ALLOWED_IMPORTS, *packages.tops),
        "packages": packages.names,
        "path": packages.path,
        "memory_mib": limits.memory_mib,
        "output_bytes": limits.output_kib << 10,
        "cpu_seconds": cpu_net(limits),
    })  # fmt: skip


def _message(do: str, job: int, **more: float) -> bytes:
    return json.dumps({"do": do, "job": job, **more}).encode()


def _pipe(reader: contextlib.ExitStack, writer: contextlib.ExitStack) -> tuple[int, int]:
    """A pipe whose ends close with the stacks that own them."""
    ends = os.pipe()
    for stack, descriptor in zip((reader, writer), ends, strict=True):
        stack.callback(os.close, descriptor)
    return ends


@contextlib.contextmanager
def _or_lost() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Lost(f"the zygote does not answer: {error}") from None
