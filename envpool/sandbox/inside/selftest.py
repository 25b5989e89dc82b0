"""What must not succeed in a child, tried at each start of a zygote before any program is let in.

Invariant: a probe counts as held only with the exact refusal expected of it; silence or another error is a breach.
The second walls are probed without the filter, which would answer in their place.
"""

import errno
import mmap
import os
import resource
import signal
import socket
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from envpool.sandbox.inside import frames, kernel
from envpool.sandbox.inside.child import Cage, confine
from envpool.sandbox.inside.syscalls import number

_DENIED = (errno.EPERM, errno.EACCES, errno.ENOSYS)
# A bad address: but for the filter the answer would be EFAULT, so no other wall can stand in for it.
_NOWHERE = 1
_AT_FDCWD, _PROT_ALL, _PRIVATE_ANONYMOUS = -100, 7, 0x22


class SelfTestFailed(RuntimeError):
    """A probe got through; the message names it."""


@dataclass(frozen=True, slots=True)
class Probe:
    """`attempt` returns an errno, 0 for success; `killed` says whether it must not return at all."""

    name: str
    attempt: Callable[[], int]
    refusal: int | None = None  # the one errno that will do; None for any with which a filter refuses
    killed: bool = False


def probes(zygote_pid: int) -> list[Probe]:
    machine = kernel.machine()

    def raw(name: str, *args: int | bytes | None) -> Callable[[], int]:
        call = number(name, machine)
        return lambda: kernel.raw_call(-1 if call is None else call, *args)

    return [
        Probe("open", raw("openat", _AT_FDCWD, _NOWHERE, 0, 0)),
        Probe("socket", raw("socket", 1, 1, 0)),
        Probe("memfd", raw("memfd_create", b"x", 0)),
        Probe("executable memory", raw("mmap", 0, 4096, _PROT_ALL, _PRIVATE_ANONYMOUS, -1, 0)),
        Probe("sleep", raw("clock_nanosleep", 0, 0, b"\0" * 16, None)),
        Probe("raise a limit", raw("prlimit64", 0, resource.RLIMIT_CPU, _NOWHERE, None)),
        Probe("fork", raw("clone", signal.SIGCHLD, 0, 0, 0, 0), killed=True),
        Probe("exec", raw("execve", b"/bin/true", None, None), killed=True),
        Probe("kill the zygote", raw("kill", zygote_pid, 0), killed=True),
        Probe("ptrace", raw("ptrace", 0, 0, 0, 0), killed=True),
        Probe("io_uring", raw("io_uring_setup", 1, None), killed=True),
        Probe("leave seccomp", raw("prctl", 22, 0, 0, 0, 0), killed=True),
        Probe("thread", lambda: _errno_of(threading.Thread(target=int).start), killed=True),
        Probe("memory", _grab_memory),
    ]


def second_walls(layers: Iterable[str]) -> list[Probe]:
    """What the named layers must refuse by themselves, with no filter before them."""
    held_by = {
        "landlock": [Probe("landlock: read a folder", lambda: _errno_of(lambda: os.listdir("/")), errno.EACCES)],
        "namespaces": [
            Probe("namespaces: see the old root", lambda: _errno_of(lambda: os.stat("/proc")), errno.ENOENT),
            Probe("namespaces: reach the network", lambda: _errno_of(_knock), errno.ENETUNREACH),
            Probe("namespaces: name the zygote", lambda: errno.ESRCH if os.getppid() == 0 else 0, errno.ESRCH),
            Probe("namespaces: mount", lambda: _errno_of(_mount), errno.EPERM),
        ],
    }
    return [probe for name in layers for probe in held_by.get(name, ())]


def run_self_test(cage: Cage, behind: Iterable[str] = ()) -> None:
    """Raises SelfTestFailed at the first probe that is not refused as expected; `behind` names second walls."""
    unfiltered = replace(cage, filter=None)
    for walls, tried in ((cage, probes(os.getpid())), (unfiltered, second_walls(behind))):
        for probe in tried:
            refusal, status = _try(walls, probe)
            if not _held(probe, refusal, status):
                raise SelfTestFailed(f"{probe.name} (answer {refusal}, status {status})")


def _held(probe: Probe, refusal: int, status: int) -> bool:
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGSYS
    expected = _DENIED if probe.refusal is None else (probe.refusal,)
    return killed if probe.killed else not killed and refusal in expected


def _try(cage: Cage, probe: Probe) -> tuple[int, int]:
    """The errno a confined child reports (-1 for none) and its wait status."""
    reading, writing = os.pipe()
    request, unused = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            confine(cage, request, writing)
            os.write(frames.REPLY_FD, bytes([min(probe.attempt(), 255)]))
        finally:
            os._exit(0)
    for descriptor in (writing, request, unused):
        os.close(descriptor)
    answer = os.read(reading, 1)
    os.close(reading)
    return (answer[0] if answer else -1), os.waitpid(pid, 0)[1]


def _errno_of(action: Callable[[], object]) -> int:
    try:
        action()
    except OSError as error:
        return error.errno or errno.EIO
    return 0


def _grab_memory() -> int:
    """More than any limit allows must be refused; EPERM stands for the kernel's ENOMEM."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    refused = _errno_of(lambda: mmap.mmap(-1, limit))
    return errno.EPERM if refused == errno.ENOMEM else refused


def _knock() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        door.connect(("127.0.0.1", 9))


def _mount() -> None:
    kernel.call("mount", b"none", b"/", b"tmpfs", 0, None)
