"""The seccomp filter, evaluated in pure Python over every system call number and class of arguments, on both machines.

`wanted` says once more, in another way than the filter, what each call must be answered with.
"""

import errno
import re
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envpool.sandbox.inside import filter as seccomp
from envpool.sandbox.inside import syscalls

MACHINES = ("x86_64", "aarch64")
PID = 4242
FILTERS = {machine: seccomp.build(machine).for_pid(PID) for machine in MACHINES}
EPERM, EACCES, ENOSYS = (seccomp.ERRNO | code for code in (errno.EPERM, errno.EACCES, errno.ENOSYS))


def verdict(machine: str, number: int, *args: int, arch: int | None = None) -> int:
    """What the filter of a child with pid PID answers: an interpreter of classic BPF."""
    code = FILTERS[machine]
    data = struct.pack("<iIQ6Q", number, arch or seccomp.AUDIT_ARCH[machine], 0, *(*args, *[0] * (6 - len(args))))
    accumulator, at = 0, 0
    while True:
        operation, yes, no, k = struct.unpack_from("<HBBI", code, 8 * at)
        at += 1
        if operation == seccomp.RETURN:
            return k
        if operation == seccomp.LOAD:
            accumulator = struct.unpack_from("<I", data, k)[0]
        elif operation == seccomp.AND:
            accumulator &= k
        else:
            holds = {
                seccomp.EQUAL: accumulator == k,
                seccomp.AT_LEAST: accumulator >= k,
                seccomp.ANY_BIT: bool(accumulator & k),
            }[operation]
            at += yes if holds else no


ALLOWED_SOMEHOW = {
    "read", "write", "readv", "writev", "close", "lseek", "mmap", "mprotect", "munmap", "mremap", "brk",
    "madvise", "rt_sigreturn", "rt_sigaction", "rt_sigprocmask", "sigaltstack", "restart_syscall",
    "clock_gettime", "clock_getres", "gettimeofday", "time", "times", "getpid", "gettid", "getppid", "getuid",
    "geteuid", "getgid", "getegid", "getrusage", "getrandom", "sched_yield", "sched_getaffinity", "getcpu",
    "uname", "sysinfo", "exit", "exit_group", "futex", "tgkill", "fcntl", "prlimit64", "ioctl",
}  # fmt: skip
MISSING_ON: dict[str, set[str]] = {"x86_64": set(), "aarch64": {"time"}}
SPECIAL = [0, 1, 2, 3, 4, 5, 6, 7, 9, 15, 128, PID, PID + 1, seccomp.TCGETS, 0x5412, 1030, 1031, 2**31, 2**32 - 1]
WORDS = st.builds(lambda low, high: high << 32 | low, st.sampled_from(SPECIAL) | st.integers(0, 2**32 - 1),
                  st.sampled_from([0, 0, 1, 2**32 - 1]) | st.integers(0, 2**32 - 1))  # fmt: skip
ARGUMENTS = st.lists(WORDS, min_size=6, max_size=6)


def groups(machine: str) -> dict[int, str]:
    """Every number that is named, and by which name."""
    named = [*syscalls.FREE, *syscalls.OPENS, *syscalls.ABSENT, *syscalls.KILL, *seccomp.CHECKED]
    return {number: name for name in named if (number := syscalls.number(name, machine)) is not None}


def wanted(name: str | None, args: list[int]) -> int:
    """The answer to a call; registers that the kernel reads as 32 bits are cut to them."""
    low = [argument & 0xFFFFFFFF for argument in args]
    fixed = {None: EPERM}
    fixed |= dict.fromkeys(syscalls.FREE, seccomp.ALLOW) | dict.fromkeys(syscalls.OPENS, EACCES)
    fixed |= dict.fromkeys(syscalls.ABSENT, ENOSYS) | dict.fromkeys(syscalls.KILL, seccomp.KILL_PROCESS)
    if name in fixed:
        return fixed[name]
    allowed, otherwise = {
        "mmap": (not low[2] & 4, EPERM),
        "mprotect": (not low[2] & 4, EPERM),
        "futex": (low[1] & 0x7F == 1, EPERM),
        "tgkill": (low[:3] == [PID, PID, 6], seccomp.KILL_PROCESS),
        "fcntl": (low[1] in (1, 3), EPERM),
        "prlimit64": (low[0] == 0 and args[2] == 0, EPERM),
        "sched_getaffinity": (low[0] == 0, EPERM),
        "ioctl": (low[1] == 0x5401, EPERM),
        "madvise": (low[2] in (4, 8), EPERM),
        "clock_gettime": (low[0] < 16, EPERM),
        "clock_getres": (low[0] < 16, EPERM),
    }[name or ""]
    return seccomp.ALLOW if allowed else otherwise


def call(machine: str, name: str, *args: int) -> int:
    number = syscalls.number(name, machine)
    assert number is not None
    return verdict(machine, number, *args)


@pytest.mark.parametrize("machine", MACHINES)
def test_every_number_gets_the_answer_of_its_group_and_eperm_without_one(machine: str) -> None:
    expected: dict[int | None, int] = {}
    for names, answer in (
        (syscalls.FREE, seccomp.ALLOW), (syscalls.OPENS, EACCES), (syscalls.ABSENT, ENOSYS),
        (syscalls.KILL, seccomp.KILL_PROCESS),
    ):  # fmt: skip
        expected |= {syscalls.number(name, machine): answer for name in names}
    checked = {syscalls.number(name, machine) for name in seccomp.CHECKED}
    for number in range(1024):
        if number not in checked:
            assert verdict(machine, number) == expected.get(number, EPERM), number


@pytest.mark.parametrize("machine", MACHINES)
@settings(max_examples=25)
@given(arguments=ARGUMENTS)
def test_every_number_gets_its_answer_whatever_the_arguments(machine: str, arguments: list[int]) -> None:
    names = groups(machine)
    for number in range(512):
        assert verdict(machine, number, *arguments) == wanted(names.get(number), arguments), (number, arguments)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", seccomp.CHECKED)
@given(arguments=ARGUMENTS)
def test_a_call_that_is_judged_by_its_arguments_is_judged_as_the_kernel_reads_them(
    machine: str, name: str, arguments: list[int]
) -> None:
    assert call(machine, name, *arguments) == wanted(name, arguments)


@pytest.mark.parametrize("machine", MACHINES)
@given(number=st.integers(462, 2**32 - 1), arguments=ARGUMENTS)
def test_numbers_above_the_table_are_refused_and_those_of_x32_kill(
    machine: str, number: int, arguments: list[int]
) -> None:
    kills = machine == "x86_64" and number >= seccomp.X32_BIT
    signed = number - (1 << 32) if number >= 1 << 31 else number
    assert verdict(machine, signed, *arguments) == (seccomp.KILL_PROCESS if kills else EPERM)


@given(arch=st.integers(1, 2**32 - 1), number=st.integers(-(2**31), 2**31 - 1), arguments=ARGUMENTS)
def test_no_call_of_a_foreign_architecture_lives(arch: int, number: int, arguments: list[int]) -> None:
    for machine in MACHINES:
        if arch != seccomp.AUDIT_ARCH[machine]:
            assert verdict(machine, number, *arguments, arch=arch) == seccomp.KILL_PROCESS


@pytest.mark.parametrize("machine", MACHINES)
def test_what_is_allowed_is_a_short_list_without_a_way_out(machine: str) -> None:
    """Any call that gets ALLOW for some arguments; whoever adds one must change this list too."""
    free = {name for name in groups(machine).values() if wanted(name, [0] * 6) == seccomp.ALLOW}
    assert free | set(seccomp.CHECKED) == ALLOWED_SOMEHOW - MISSING_ON[machine]


@pytest.mark.parametrize(("machine", "headers"), [
    ("x86_64", ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h")),
    ("aarch64", ("/usr/include/asm-generic/unistd.h",)),
])  # fmt: skip
def test_the_numbers_are_those_of_the_kernels_own_headers(machine: str, headers: tuple[str, ...]) -> None:
    found = next((Path(path) for path in headers if Path(path).is_file()), None)
    if found is None:
        pytest.skip(f"no kernel headers for {machine} on this machine")
    text = found.read_text(encoding="utf-8")
    theirs = {name: int(number) for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\b", text)}
    theirs |= {"newfstatat": theirs["fstatat"]} if "fstatat" in theirs else {}
    newer = {name for name in syscalls.NUMBERS if (syscalls.number(name, machine) or 0) >= 424}
    for name in syscalls.NUMBERS:
        if name in theirs or name not in newer:  # headers older than a call do not know it
            assert syscalls.number(name, machine) == theirs.get(name), name


@pytest.mark.parametrize("machine", MACHINES)
def test_no_call_is_in_two_groups_and_every_named_one_is_known(machine: str) -> None:
    named = [*syscalls.FREE, *syscalls.OPENS, *syscalls.ABSENT, *syscalls.KILL, *seccomp.CHECKED]
    assert len(named) == len(set(named))
    numbers = [number for name in named if (number := syscalls.number(name, machine)) is not None]
    assert len(numbers) == len(set(numbers))


@pytest.mark.parametrize("machine", MACHINES)
def test_a_foreign_architecture_is_killed(machine: str) -> None:
    for arch in (0x40000003, 0x40000028, *set(seccomp.AUDIT_ARCH.values()) - {seccomp.AUDIT_ARCH[machine]}):
        assert verdict(machine, 0, arch=arch) == seccomp.KILL_PROCESS


def test_x32_calls_are_killed() -> None:
    for number in (0, 1, 59, 520):
        assert verdict("x86_64", seccomp.X32_BIT | number) == seccomp.KILL_PROCESS


@pytest.mark.parametrize("machine", MACHINES)
@given(protection=st.integers(0, 2**64 - 1))
def test_memory_never_becomes_executable(machine: str, protection: int) -> None:
    wanted = EPERM if protection & seccomp.PROT_EXEC else seccomp.ALLOW
    assert call(machine, "mmap", 0, 4096, protection) == wanted
    assert call(machine, "mprotect", 0, 4096, protection) == wanted


@pytest.mark.parametrize("machine", MACHINES)
@given(group=st.sampled_from([PID, PID + 1, 1, 0]), thread=st.sampled_from([PID, 1]), signal=st.integers(0, 64))
def test_a_child_may_only_abort_itself(machine: str, group: int, thread: int, signal: int) -> None:
    allowed = group == thread == PID and signal == seccomp.SIGABRT
    wanted = seccomp.ALLOW if allowed else seccomp.KILL_PROCESS
    assert call(machine, "tgkill", group, thread, signal) == wanted


@pytest.mark.parametrize("machine", MACHINES)
def test_limits_are_read_only_and_only_ones_own(machine: str) -> None:
    assert call(machine, "prlimit64", 0, 7, 0, 1234) == seccomp.ALLOW
    for who, new in ((0, 1), (0, 1 << 32), (PID, 0), (1, 0)):
        assert call(machine, "prlimit64", who, 7, new, 1234) == EPERM


@pytest.mark.parametrize("machine", MACHINES)
@given(pid=st.integers(0, 2**22), kind=st.integers(0, 7), high=st.sampled_from([0, 2**32 - 1, 1]))
def test_the_clock_of_no_other_process_is_read(machine: str, pid: int, kind: int, high: int) -> None:
    clock = ((~pid << 3) | kind) & 0xFFFFFFFF
    for name in ("clock_gettime", "clock_getres"):
        assert call(machine, name, high << 32 | clock) == EPERM
        assert call(machine, name, kind) == seccomp.ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_advice_on_memory_only_gives_it_back(machine: str) -> None:
    allowed = {advice for advice in range(256) if call(machine, "madvise", 0, 4096, advice) == seccomp.ALLOW}
    assert allowed == {seccomp.MADV_DONTNEED, seccomp.MADV_FREE}


@pytest.mark.parametrize("machine", MACHINES)
def test_waking_is_free_and_waiting_is_not(machine: str) -> None:
    private, clock = 128, 256
    assert call(machine, "futex", 0, seccomp.FUTEX_WAKE | private) == seccomp.ALLOW
    for operation in (0, 0 | private, 9 | private | clock, 6, 11, 13):
        assert call(machine, "futex", 0, operation) == EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_descriptors_are_only_asked_about(machine: str) -> None:
    allowed = {seccomp.F_GETFD, seccomp.F_GETFL}
    for command in range(1100):
        assert (call(machine, "fcntl", 4, command) == seccomp.ALLOW) == (command in allowed)
    assert call(machine, "ioctl", 1, seccomp.TCGETS) == seccomp.ALLOW
    assert call(machine, "ioctl", 1, 0x5412) == EPERM
