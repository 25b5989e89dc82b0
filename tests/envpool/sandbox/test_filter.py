"""The seccomp filter, evaluated in pure Python over system call numbers and argument classes."""

import errno
import struct

import pytest
from hypothesis import given
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
