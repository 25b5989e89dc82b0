"""The seccomp filter of a child, built by hand as classic BPF.

Invariant: allow-list; a foreign architecture or an x32 call kills. The filter names the child's own pid
(`tgkill`), so a prebuilt program is patched in place for each child instead of being built again.
It does not install itself: see `kernel.py`.
"""

import errno
import struct
from dataclasses import dataclass

from envpool.sandbox.inside import syscalls

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, KILL_PROCESS, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
X32_BIT = 0x40000000
PROT_EXEC, FUTEX_WAKE, FUTEX_CMD_MASK, SIGABRT = 4, 1, 0x7F, 6
F_GETFD, F_GETFL, TCGETS = 1, 3, 0x5401
MADV_DONTNEED, MADV_FREE, OWN_CLOCKS = 4, 8, 16

LOAD, AND, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_NR, _ARCH, _ARGS = 0, 4, 16  # offsets into struct seccomp_data; both architectures are little-endian
_INSTRUCTION = struct.Struct("<HBBI")


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction; `yes` and `no` name labels, None falls through."""

    code: int
    k: int | str
    yes: str | None = None
    no: str | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """An assembled filter and where the child's pid goes in it."""

    code: bytes
    pid_at: tuple[int, ...]

    def for_pid(self, pid: int) -> bytearray:
        patched = bytearray(self.code)
        for offset in self.pid_at:
            struct.pack_into("<I", patched, offset, pid)
        return patched


def low(argument: int) -> int:
    return _ARGS + 8 * argument


def high(argument: int) -> int:
    return low(argument) + 4


def _checks() -> dict[str, list[Step]]:
    """Bodies of the calls whose arguments decide; each ends in ALLOW or falls to refusal."""
    no_exec = [Step(LOAD, low(2)), Step(ANY_BIT, PROT_EXEC, "eperm", "allow")]
    # The numbers above are the CPU clocks of other processes: who lives, and how long the zygote has worked.
    own_clock = [Step(LOAD, low(0)), Step(AT_LEAST, OWN_CLOCKS, "eperm", "allow")]
    return {
        "mmap": no_exec,
        "mprotect": no_exec,
        "clock_gettime": own_clock,
        "clock_getres": own_clock,
        # What malloc does. Other advice merges equal pages with those of other processes, throws pages of shared
        # libraries out of memory, or makes a child wait for a disk, which looks like a stalled machine.
        "madvise": [
            Step(LOAD, low(2)), Step(EQUAL, MADV_DONTNEED, "allow"), Step(EQUAL, MADV_FREE, "allow", "eperm"),
        ],
        # Nothing else runs in the process, so waiting on a futex could only hang.
        "futex": [
            Step(LOAD, low(1)), Step(AND, FUTEX_CMD_MASK), Step(EQUAL, FUTEX_WAKE, "allow", "eperm"),
        ],
        # abort() of oneself; SIGSTOP would let a program pass for a stalled machine.
        "tgkill": [
            Step(LOAD, low(0)), Step(EQUAL, "pid", None, "kill"),
            Step(LOAD, low(1)), Step(EQUAL, "pid", None, "kill"),
            Step(LOAD, low(2)), Step(EQUAL, SIGABRT, "allow", "kill"),
        ],
        "fcntl": [
            Step(LOAD, low(1)), Step(EQUAL, F_GETFD, "allow"), Step(EQUAL, F_GETFL, "allow", "eperm"),
        ],
        "prlimit64": [
            Step(LOAD, low(0)), Step(EQUAL, 0, None, "eperm"),
            Step(LOAD, low(2)), Step(EQUAL, 0, None, "eperm"),
            Step(LOAD, high(2)), Step(EQUAL, 0, "allow", "eperm"),
        ],
        # Of other processes it tells who lives, and which child is being asked (`envpool.sandbox.seat`).
        "sched_getaffinity": [Step(LOAD, low(0)), Step(EQUAL, 0, "allow", "eperm")],
        "ioctl": [Step(LOAD, low(1)), Step(EQUAL, TCGETS, "allow", "eperm")],
    }  # fmt: skip


CHECKED = tuple(_checks())


def _steps(machine: str) -> list[Step]:
    steps = [Step(LOAD, _ARCH), Step(EQUAL, AUDIT_ARCH[machine], None, "kill"), Step(LOAD, _NR)]
    if machine == "x86_64":
        steps.append(Step(AT_LEAST, X32_BIT, "kill"))
    groups = ((syscalls.FREE, "allow"), (CHECKED, None), (syscalls.OPENS, "eacces"),
              (syscalls.ABSENT, "enosys"), (syscalls.KILL, "kill"))  # fmt: skip
    for names, target in groups:
        for name in names:
            number = syscalls.number(name, machine)
            if number is not None:
                steps.append(Step(EQUAL, number, target or name))
    steps.append(Step(RETURN, ERRNO | errno.EPERM))
    for name, body in _checks().items():
        first, *rest = body
        steps += [Step(first.code, first.k, first.yes, first.no, name), *rest]
    steps.append(Step(RETURN, ERRNO | errno.EPERM, label="eperm"))  # again: jumps only go forward
    steps.append(Step(RETURN, ERRNO | errno.EACCES, label="eacces"))
    steps.append(Step(RETURN, ERRNO | errno.ENOSYS, label="enosys"))
    steps.append(Step(RETURN, ALLOW, label="allow"))
    steps.append(Step(RETURN, KILL_PROCESS, label="kill"))
    return steps


def build(machine: str) -> Program:
    """The filter for "x86_64" or "aarch64"."""
    return assemble(_steps(machine))


def assemble(steps: list[Step]) -> Program:
    """Steps as the kernel reads them. Raises ValueError for a jump that goes back or too far."""
    where = {step.label: index for index, step in enumerate(steps) if step.label}
    code, pid_at = bytearray(), []
    for index, step in enumerate(steps):
        jumps = [0 if target is None else where[target] - index - 1 for target in (step.yes, step.no)]
        if max(jumps) > 255 or min(jumps) < 0:
            raise ValueError(f"jump out of reach in the filter at {index}")
        if step.k == "pid":
            pid_at.append(len(code) + 4)
        code += _INSTRUCTION.pack(step.code, jumps[0], jumps[1], step.k if isinstance(step.k, int) else 0)
    return Program(bytes(code), tuple(pid_at))
