"""The few kernel interfaces that Python has no function for, through ctypes.

Every call raises OSError with the kernel's error. Prepared once in the zygote, used in each child.
"""

import ctypes
import os

from envpool.sandbox.inside.filter import Program

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
SECCOMP_MODE_FILTER = 2

_libc = ctypes.CDLL(None, use_errno=True)
_libc.prctl.argtypes = (ctypes.c_int, *(ctypes.c_ulong,) * 4)
_libc.prctl.restype = ctypes.c_int
_libc.syscall.restype = ctypes.c_long


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def prctl(option: int, value: int) -> None:
    if _libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}, {value})")


def install_filter(program: Program, pid: int) -> None:
    """Locks the calling process for good. Raises OSError where seccomp is not available."""
    code = program.for_pid(pid)
    buffer = (ctypes.c_char * len(code)).from_buffer(code)
    header = _FilterProgram(len(code) // 8, ctypes.addressof(buffer))
    if _libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(header), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_SECCOMP)")


def raw_call(number: int, *args: int | bytes | None) -> int:
    """A system call by number: its errno, or 0 when it succeeded. For the self-test only."""
    words = [ctypes.c_long(a) if isinstance(a, int) else ctypes.c_char_p(a) for a in args]
    ctypes.set_errno(0)
    return ctypes.get_errno() if _libc.syscall(ctypes.c_long(number), *words) == -1 else 0


def machine() -> str:
    return os.uname().machine
