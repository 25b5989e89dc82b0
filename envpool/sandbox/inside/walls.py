"""The walls that a zygote puts up around itself, by rung, in the one order that works.

Invariant: a rung's walls are all up when `raise_walls` returns, or it raises `Refused` and the process must end; a
weaker rung is taken only where none was asked for by name, and then what is missing is said.
The filter is built here and installed by each child; which walls hold is for `selftest` to prove.
"""

import contextlib
import os
import resource
from collections.abc import Callable
from dataclasses import dataclass, field

from envpool.sandbox.inside import filter as seccomp
from envpool.sandbox.inside import kernel, landlock, namespaces
from envpool.sandbox.inside.identity import drop_root, empty_root
from envpool.sandbox.inside.survey import survey

AUTO, STRICT, STANDARD, UNSAFE = "auto", "strict", "standard", "unsafe"
SECOND = ("namespaces", "landlock")  # what strict has over standard


class Refused(RuntimeError):
    """The rung cannot be had here; `missing` says for each layer what the kernel answered."""

    def __init__(self, reason: str, missing: dict[str, str] | None = None) -> None:
        super().__init__(reason)
        self.missing = missing or {}


@dataclass(slots=True)
class Walls:
    """The rung that was taken, its layers with a remark on each, and why a stronger rung was not."""

    rung: str
    filter: seccomp.Program | None
    layers: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def up(self, name: str, build: Callable[[], object], *, must: bool = True) -> None:
        """Puts one wall up. Raises Refused when it must stand and does not; nothing must on the rung `unsafe`."""
        try:
            remark = build()
        except OSError as error:
            if must and self.rung != UNSAFE:
                raise Refused(f"{name}: {error.strerror}", {name: str(error.strerror)}) from None
            self.missing[name] = str(error.strerror)
        else:
            self.layers[name] = str(remark) if remark else ""


def raise_walls(wanted: str) -> Walls:
    """All walls of the rung that is wanted, or of the strongest one that the node offers. Raises Refused."""
    walls = _unsafe() if wanted == UNSAFE else _chosen(wanted)
    strict = walls.rung == STRICT
    if os.geteuid() == 0 or os.getuid() == 0:
        if not strict:  # a process in a chroot may not make a user namespace, and a namespace needs none
            walls.up("empty root", empty_root, must=False)
        walls.up("uid drop", lambda: f"uid {drop_root()}")
    if strict:
        walls.up("namespaces", _leave)
    walls.up("no new privileges", lambda: kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1))
    walls.up("not dumpable", _hide_memory)
    if strict:
        walls.up("landlock", lambda: f"ABI {landlock.enter()}")
    return walls


def _unsafe() -> Walls:
    return Walls(UNSAFE, None, {"unsafe": "no system call is refused", "zygote": "", "rlimits": "", "supervisor": ""})


def _chosen(wanted: str) -> Walls:
    """The rung, its filter and the layers that need nothing. Raises Refused."""
    machine = kernel.machine()
    if machine not in seccomp.AUDIT_ARCH:
        raise Refused(f"no system call table for {machine}", {"seccomp": f"no table for {machine}"})
    filter = seccomp.build(machine)
    first = ("seccomp", "uid drop") if os.geteuid() == 0 else ("seccomp",)
    missing = survey(first if wanted == STANDARD else (*first, *SECOND), filter)
    rung = STRICT if wanted == STRICT or (wanted == AUTO and not missing) else STANDARD
    lacking = [name for name in missing if rung == STRICT or name in first]
    if lacking:
        raise Refused("; ".join(f"{name}: {missing[name]}" for name in lacking), missing)
    return Walls(
        rung, filter, {"zygote": "", "seccomp": f"allow-list for {machine}", "rlimits": "", "supervisor": ""}, missing
    )


def _leave() -> str:
    namespaces.enter()
    return "user, mount, pid, net, ipc, uts; the root is empty"


def _hide_memory() -> None:
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    with contextlib.suppress(ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
