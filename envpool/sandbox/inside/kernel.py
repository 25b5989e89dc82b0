"""The few kernel interfaces that Python has no function for, through ctypes.

Every call raises OSError with the kernel's error, but for `raw_call`, which returns it. Prepared once in the zygote,
used in each child.
"""

import ctypes
import os

from envpool.sandbox.inside import syscalls
from envpool.sandbox.inside.filter import Program

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 24, 38
SECCOMP_MODE_FILTER = 2

_libc = ctypes.CDLL(None, use_errno=True)
_libc.prctl.argtypes = (ctypes.c_int, *(ctypes.c_ulong,) * 4)
_libc.prctl.restype = ctypes.c_int
_libc.syscall.restype = ctypes.c_long


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def prctl(option: int, value: int) -> None:
    if _libc.prctl(option, value, 0, 0, 0) != 0:
        raise _error(f"prctl({option}, {value})")


def install_filter(program: Program, pid: int) -> None:
    """Locks the calling process for good. Raises OSError where seccomp is not available."""
    code = program.for_pid(pid)
    buffer = (ctypes.c_char * len(code)).from_buffer(code)
    header = _FilterProgram(len(code) // 8, ctypes.addressof(buffer))
    if _libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(header), 0, 0) != 0:
        raise _error("prctl(PR_SET_SECCOMP)")


def call(name: str, *args: int | bytes | None) -> int:
    """A system call by its name in `syscalls`, and what it returns. Raises OSError, which names it."""
    number = syscalls.number(name, machine())
    result = _libc.syscall(ctypes.c_long(-1 if number is None else number), *_words(args))
    if result == -1:
        raise _error(name)
    return result


def raw_call(number: int, *args: int | bytes | None) -> int:
    """A system call by number: its errno, or 0 when it succeeded. For the self-test only."""
    ctypes.set_errno(0)
    return ctypes.get_errno() if _libc.syscall(ctypes.c_long(number), *_words(args)) == -1 else 0


def _error(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}")


def _words(args: tuple[int | bytes | None, ...]) -> list[ctypes.c_long | ctypes.c_char_p]:
    return [ctypes.c_long(a) if isinstance(a, int) else ctypes.c_char_p(a) for a in args]


def machine() -> str:
    return os.uname().machine
