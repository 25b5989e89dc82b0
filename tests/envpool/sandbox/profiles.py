"""Nodes that offer less than this one: other users and container profiles, each in a process of its own.

`run_as` starts a module of this folder as another user or under a profile. A profile is put on before anything of the
sandbox starts, so what follows meets it as a process in such a container does.
"""

import errno
import functools
import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
NOBODY = 65534
SETUID = 7  # the capability

USER_NAMESPACES = 0x7E020000  # every CLONE_NEW... flag
CONTAINER_CALLS = (
    "unshare", "setns", "mount", "umount2", "move_mount", "fsopen", "pivot_root", "bpf", "perf_event_open", "keyctl",
    "add_key", "request_key", "userfaultfd", "reboot", "init_module", "finit_module", "delete_module", "kexec_load",
    "open_by_handle_at", "io_uring_setup", "io_uring_enter", "io_uring_register",
)  # fmt: skip
"""What the default profile of Docker refuses to a container without added capabilities, of the calls in our table."""


def container() -> None:
    """The default container profile: no new namespaces, no mounts; seccomp and Landlock pass."""
    from envpool.sandbox.inside import filter as seccomp
    from envpool.sandbox.inside.filter import Step

    refuse = seccomp.ERRNO | errno.EPERM
    clone = [Step(seccomp.LOAD, seccomp.low(0)), Step(seccomp.ANY_BIT, USER_NAMESPACES, "refuse", "allow")]
    _install(
        [
            *(_when(name, "refuse") for name in CONTAINER_CALLS),
            *(_when(name, target) for name, target in (("clone", "clone"), ("clone3", "absent"))),
            Step(seccomp.RETURN, seccomp.ALLOW),
            Step(clone[0].code, clone[0].k, label="clone"),
            clone[1],
            Step(seccomp.RETURN, refuse, label="refuse"),
            Step(seccomp.RETURN, seccomp.ERRNO | errno.ENOSYS, label="absent"),
            Step(seccomp.RETURN, seccomp.ALLOW, label="allow"),
        ]
    )


def no_seccomp() -> None:
    """A kernel that takes no filter: prctl(PR_SET_SECCOMP) and seccomp answer as where they are not built in."""
    from envpool.sandbox.inside import filter as seccomp
    from envpool.sandbox.inside import kernel
    from envpool.sandbox.inside.filter import Step

    absent = seccomp.ERRNO | errno.EINVAL
    _install(
        [
            _when("seccomp", "absent"),
            _when("prctl", "prctl"),
            Step(seccomp.RETURN, seccomp.ALLOW),
            Step(seccomp.LOAD, seccomp.low(0), label="prctl"),
            Step(seccomp.EQUAL, kernel.PR_SET_SECCOMP, "absent", "allow"),
            Step(seccomp.RETURN, absent, label="absent"),
            Step(seccomp.RETURN, seccomp.ALLOW, label="allow"),
        ]
    )


def no_landlock() -> None:
    """A kernel before 5.13."""
    from envpool.sandbox.inside import filter as seccomp
    from envpool.sandbox.inside.filter import Step

    absent = Step(seccomp.RETURN, seccomp.ERRNO | errno.ENOSYS, label="absent")
    _install([_when("landlock_create_ruleset", "absent"), Step(seccomp.RETURN, seccomp.ALLOW), absent])


def no_setuid() -> None:
    """Root that may not become another user."""
    from envpool.sandbox.inside import kernel

    held = int(Path("/proc/self/status").read_text().split("CapPrm:")[1].split()[0], 16) & ~(1 << SETUID)
    low, high = held & 0xFFFFFFFF, held >> 32
    kernel.prctl(kernel.PR_CAPBSET_DROP, SETUID)
    kernel.call("capset", (0x20080522).to_bytes(4, "little") + bytes(4), struct.pack("6I", low, low, 0, high, high, 0))


PROFILES: dict[str, Callable[[], None]] = {
    "plain": lambda: None,
    "container": container,
    "no seccomp": no_seccomp,
    "no landlock": no_landlock,
    "no setuid": no_setuid,
}


def _when(name: str, target: str) -> Any:
    from envpool.sandbox.inside import filter as seccomp
    from envpool.sandbox.inside import kernel, syscalls

    number = syscalls.number(name, kernel.machine())
    assert number is not None
    return seccomp.Step(seccomp.EQUAL, number, target)


def _install(steps: list[Any]) -> None:
    from envpool.sandbox.inside import filter as seccomp
    from envpool.sandbox.inside import kernel

    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.install_filter(seccomp.assemble([seccomp.Step(seccomp.LOAD, 0), *steps]), os.getpid())


def run_as(identity: str, module: str, *arguments: str, profile: str = "plain", timeout: float = 300.0) -> Any:
    """The JSON that a module of this folder prints last, as "root", "nobody" or "self" under a profile."""
    nobody: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if identity == "nobody" else {}
    done = subprocess.run(
        [interpreter(identity), "-B", str(HERE / "profiles.py"), profile, module, *arguments],
        cwd="/", env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TMPDIR": "/tmp"}, capture_output=True, text=True,
        timeout=timeout, check=False, **nobody,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def unavailable(identity: str) -> str:
    """Why tests cannot run as such a user here; empty where they can."""
    if identity == "self":
        return ""
    if identity == "root":
        return "" if os.geteuid() == 0 else "these tests do not run as root"
    if os.geteuid() != 0:
        return "only root can become nobody"
    return "" if interpreter(identity) else "no interpreter that nobody may read"


@functools.cache
def interpreter(identity: str) -> str:
    """One that the user can start and that can load the sandbox; empty where there is none."""
    if identity != "nobody":
        return sys.executable
    check = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); assert sys.version_info >= (3, 11); "
        "import envpool.sandbox.inside.zygote"
    )
    for candidate in (sys.executable, "/usr/bin/python3", "/usr/bin/python3.12", "/usr/bin/python3.11"):
        try:
            tried = subprocess.run(
                [candidate, "-B", "-c", check], user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True, cwd="/"
            )
        except OSError:
            continue
        if tried.returncode == 0:
            return candidate
    return ""


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(HERE)]
    PROFILES[sys.argv[1]]()
    __import__(sys.argv[2]).main(*sys.argv[3:])
