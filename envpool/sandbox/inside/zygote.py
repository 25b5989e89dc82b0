"""The zygote: a scrubbed, single-threaded process that imports, locks itself, proves its walls and then forks.

Started as `python -s -S -P -B -c <boot> <root> <control fd> <settings>` with a literal environment. It answers one
control message at a time on a SEQPACKET socket and dies with that socket, taking every child along.
Invariant: no byte of a program or a value ever enters this process; it passes descriptors on.
"""

import array
import contextlib
import fcntl
import gc
import importlib
import json
import os
import resource
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from typing import Any, NoReturn

from envpool.sandbox.inside import filter as seccomp
from envpool.sandbox.inside import kernel
from envpool.sandbox.inside.child import Cage
from envpool.sandbox.inside.child import run as run_child
from envpool.sandbox.inside.selftest import SelfTestFailed, run_self_test

# What the standard library imports only when used, and a closed world could not load any more.
HIDDEN_IMPORTS = (
    "_strptime", "collections.abc", "contextlib", "copyreg", "encodings.ascii", "encodings.cp1252",
    "encodings.hex_codec", "encodings.idna", "encodings.latin_1", "encodings.raw_unicode_escape",
    "encodings.rot_13", "encodings.unicode_escape", "encodings.utf_16", "encodings.utf_32", "inspect", "keyword",
    "linecache", "locale", "pprint", "reprlib", "traceback", "unicodedata", "warnings",
)  # fmt: skip
RESERVED_FDS = 10  # descriptors 0 to 9 are /dev/null, so that what arrives lies clear of a child's own
NULL_FD = 9
FIRST_UID, UIDS = 61_184, 4_000
MESSAGE = 4096


class Refused(RuntimeError):
    """A layer that may not be missing did not take."""


def main(control_fd: int, settings: dict[str, Any]) -> NoReturn:
    control = socket.socket(fileno=fcntl.fcntl(control_fd, fcntl.F_DUPFD_CLOEXEC, RESERVED_FDS))
    os.close(control_fd)
    try:
        cage, layers = _lock(control.fileno(), settings)
        run_self_test(cage)
    except (Refused, SelfTestFailed, OSError) as error:
        reason = f"self-test: {error}" if isinstance(error, SelfTestFailed) else str(error)
        control.send(json.dumps({"refused": reason}).encode())
        os._exit(1)
    control.send(json.dumps({"ready": [*layers, "self-test"]}).encode())
    os.dup2(cage.null_fd, 2)
    _Nursery(control, cage).serve()
    os._exit(0)


def _lock(control_fd: int, settings: dict[str, Any]) -> tuple[Cage, list[str]]:
    """Every layer of the zygote in the one order that works. Raises Refused or OSError."""
    _step_back()
    _preload(settings["imports"])
    _reserve_descriptors()
    _check_scrubbed(control_fd, settings["environment"])
    machine = kernel.machine()
    if machine not in seccomp.AUDIT_ARCH:
        raise Refused(f"no system call table for {machine}")
    layers = ["zygote", "seccomp", "rlimits", "supervisor"]
    cage = Cage(
        filter=seccomp.build(machine),
        zygote_pid=os.getpid(),
        null_fd=NULL_FD,
        address_space=_mapped() + (settings["memory_mib"] << 20),
        cpu_seconds=settings["cpu_seconds"],
        output_bytes=settings["output_bytes"],
        allowed=frozenset(settings["allowed"]),
    )
    if os.geteuid() == 0:
        layers += _drop_root()
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    gc.disable()
    gc.collect()
    gc.freeze()
    return cage, layers


def _step_back() -> None:
    """Under pressure the kernel shall take a child first, and other work goes before it. No wall, so no must."""
    with contextlib.suppress(OSError):
        os.nice(10)
        with open("/proc/self/oom_score_adj", "w") as score:
            score.write("1000")


def _preload(names: Iterable[str]) -> None:
    """Imports all a program may use; afterwards nothing is looked for on a path any more."""
    for name in (*names, *HIDDEN_IMPORTS):
        importlib.import_module(name)
    sys.path.clear()
    sys.path_importer_cache.clear()
    sys.path_hooks.clear()


def _reserve_descriptors() -> None:
    null = os.open("/dev/null", os.O_RDWR)
    for descriptor in range(RESERVED_FDS):
        if descriptor not in (2, null):  # 2 tells the supervisor why a start failed
            os.dup2(null, descriptor)
    if null >= RESERVED_FDS:
        os.close(null)


def _check_scrubbed(control_fd: int, environment: list[str]) -> None:
    """Raises Refused where something of the owner came along that a child could find."""
    if set(os.environ) != set(environment):
        raise Refused(f"its environment holds {sorted(set(os.environ) ^ set(environment))}")
    if threading.active_count() != 1 or len(os.listdir("/proc/self/task")) != 1:
        raise Refused("the zygote has more than one thread")
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        if descriptor >= RESERVED_FDS and descriptor != control_fd:
            with contextlib.suppress(OSError):  # the listing's own is closed by now
                os.fstat(descriptor)
                raise Refused(f"it was left descriptor {descriptor}")


def _mapped() -> int:
    """Bytes of address space in use now."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[0]) * resource.getpagesize()


def _drop_root() -> list[str]:
    """An empty root that no longer has a name, where allowed; then a uid of its own. The layers that took."""
    layers = ["uid drop"]
    with contextlib.suppress(OSError):
        empty = tempfile.mkdtemp()
        os.chdir(empty)
        os.rmdir(empty)
        os.chroot(".")
        layers.append("empty root")
    uid = FIRST_UID + os.getpid() % UIDS
    try:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    except OSError:
        raise Refused(
            "it runs as root and may not drop that; run as another user or grant SETUID and SETGID"
        ) from None
    return layers


class _Nursery:
    """Forks and buries children on request. Messages carry the job, so a late one cannot hit another child."""

    def __init__(self, control: socket.socket, cage: Cage) -> None:
        self._control = control
        self._cage = cage
        self._children: dict[int, int] = {}  # job -> pid, not yet waited for

    def serve(self) -> None:
        """Until the supervisor's end closes."""
        try:
            while (message := self._receive())[0]:
                self._handle(*message)
        finally:
            for pid in self._children.values():
                os.kill(pid, signal.SIGKILL)
            for pid in self._children.values():
                os.waitpid(pid, 0)

    def _receive(self) -> tuple[bytes, list[int]]:
        data, ancillary, _, _ = self._control.recvmsg(MESSAGE, socket.CMSG_SPACE(8))
        descriptors = array.array("i")
        for level, kind, payload in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                descriptors.frombytes(payload)
        return data, descriptors.tolist()

    def _handle(self, data: bytes, descriptors: list[int]) -> None:
        message = json.loads(data)
        job = message["job"]
        if message["do"] == "fork":
            self._fork(job, *descriptors)
        elif message["do"] == "end":
            self._end(job, message["grace"])
        elif message["do"] == "drop":
            self._drop(job)

    def _fork(self, job: int, request_fd: int, reply_fd: int) -> None:
        try:
            pid = os.fork()
        except OSError as error:
            self._answer({"job": job, "error": str(error)})
        else:
            if pid == 0:
                run_child(self._cage, request_fd, reply_fd)
            self._children[job] = pid
            self._answer({"job": job, "pid": pid})
        os.close(request_fd)
        os.close(reply_fd)

    def _end(self, job: int, grace: float) -> None:
        """Kills and buries, but first waits `grace` seconds for a child that seems to be ending by itself.

        Killing a child that is not buried cannot hit another process.
        """
        pid = self._children.pop(job)
        deadline = time.monotonic() + grace
        buried, status, usage = os.wait4(pid, os.WNOHANG)
        while not buried and time.monotonic() < deadline:
            time.sleep(0.001)
            buried, status, usage = os.wait4(pid, os.WNOHANG)
        killed = not buried
        if killed:
            os.kill(pid, signal.SIGKILL)
            _, status, usage = os.wait4(pid, 0)
        cpu = usage.ru_utime + usage.ru_stime
        self._answer({"job": job, "status": status, "cpu": cpu, "killed": killed})

    def _drop(self, job: int) -> None:
        pid = self._children.pop(job)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

    def _answer(self, message: dict[str, Any]) -> None:
        self._control.send(json.dumps(message).encode())
