"""Examining this machine: which rungs it offers, which layers hold, and what the others would need.

Invariant: what is said of a rung comes from starting a zygote on it, whose self-test tries its walls; nothing is
concluded from versions or settings. Two layers that the sandbox does not make itself are looked at, not tried.
"""

import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from envpool.sandbox import ladder
from envpool.sandbox.ladder import Rung
from envpool.sandbox.results import SandboxLimits, SandboxUnavailable
from envpool.sandbox.server import ForkServer


class State(StrEnum):
    """Whether a layer holds here."""

    HOLDS = "holds"
    MISSING = "missing"
    UNUSED = "would hold"  # it takes, but the rung that it belongs to lacks another
    NOT_NEEDED = "not needed"
    NOT_REACHED = "not reached"  # nothing started that could have tried it
    UNSEEN = "not seen from here"


LAYERS: Mapping[str, str] = {
    "zygote": "secrets in memory, environment and descriptors",
    "seccomp": "files, network, processes, threads, signals, native code, most of the kernel",
    "rlimits": "CPU time, memory, descriptors",
    "supervisor": "sleeping, stopping, floods, zombies, lies about time",
    "data boundary": "pickles, odd types, huge numbers, forged replies",
    "no new privileges": "set-uid programs",
    "not dumpable": "reading the zygote's memory, core dumps",
    "uid drop": "root's files and rights",
    "empty root": "a second wall for files, where root may change its root folder",
    "landlock": "a second wall for files, TCP and signals",
    "namespaces": "a second wall for files, network, processes, shared memory; capabilities",
    "self-test": "walls that were put up and do not hold",
    "cgroup memory limit": "many children that together fill the node's memory",
    "pod": "holes in the kernel behind the allowed calls",
}
"""Each layer and what it stops."""
_OUTSIDE = {
    "cgroup memory limit": "a memory limit of the container; without one, (sandbox.open_children + 2) x "
    "sandbox.memory_mib for each zygote is the worst case",
    "pod": "where neighbours matter: a pod of its own without a service account's token, with an egress policy, under "
    "gVisor or Kata",
}
SURVEYED = frozenset({"seccomp", "uid drop", "namespaces", "landlock"})
"""What a zygote tries apart before it takes a rung; what is not among the missing ones then, would take."""
_UNLIMITED = 1 << 60  # bytes; the old hierarchy says "no limit" with a number near 2**63


@dataclass(frozen=True, slots=True)
class Finding:
    """One layer: its state, a remark, and what would be needed where it does not hold."""

    layer: str
    stops: str
    state: State
    remark: str = ""
    needed: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What a machine offers. `taken` is the rung that a sandbox takes of itself; empty where it refuses."""

    taken: str
    rungs: Mapping[str, str]  # rung -> why it is not offered; empty where it is
    findings: tuple[Finding, ...]
    machine: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def examine(limits: SandboxLimits | None = None) -> Report:
    """Starts a zygote on each rung that could be offered, and ends it. Takes about a second."""
    rungs: dict[str, str] = {}
    layers: dict[str, str] = {}
    missing: dict[str, str] = {}
    taken = ""
    for rung in (Rung.STANDARD, Rung.STRICT):  # what the stronger one says of a layer is said last
        try:
            server = ladder.start(limits or SandboxLimits(), 1, rung)
        except SandboxUnavailable as error:
            rungs[rung.value] = ", ".join(f"{k}: {v}" for k, v in error.missing.items()) or str(error)
            missing |= error.missing
        else:
            rungs[rung.value], taken = "", rung.value
            layers |= _layers_of(server)
    rungs |= {Rung.WASM.value: ladder.NO_WASM, Rung.UNSAFE.value: "only where it is asked for and allowed by name"}
    findings = tuple(_finding(name, layers, missing) for name in LAYERS)
    return Report(taken, {rung: rungs[rung] for rung in Rung}, findings, _machine())


def _layers_of(server: ForkServer) -> dict[str, str]:
    try:
        return server.layers | {"data boundary": ""}
    finally:
        server.close()


def _finding(name: str, layers: Mapping[str, str], missing: Mapping[str, str]) -> Finding:
    stops = LAYERS[name]
    if name in layers:
        return Finding(name, stops, State.HOLDS, layers[name])
    if name in missing:
        return Finding(name, stops, State.MISSING, missing[name], ladder.NEEDED.get(name, ""))
    if name == "cgroup memory limit":
        limit = memory_limit()
        if limit:
            return Finding(name, stops, State.HOLDS, f"{limit >> 20} MiB")
        return Finding(name, stops, State.MISSING, needed=_OUTSIDE[name])
    if name == "pod":
        return Finding(name, stops, State.UNSEEN, needed=_OUTSIDE[name])
    if name in ("uid drop", "empty root") and os.geteuid() != 0:
        return Finding(name, stops, State.NOT_NEEDED, "not root")
    if name in SURVEYED and missing and SURVEYED.issuperset(missing):
        return Finding(name, stops, State.UNUSED, "tried apart")
    return Finding(name, stops, State.NOT_REACHED)


def memory_limit(proc: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")) -> int:
    """The smallest memory limit of this process's control groups in bytes; 0 where there is none."""
    limits = []
    for line in _read(proc).splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            folder, name = root, "memory.max"
        elif "memory" in controllers.split(","):
            folder, name = root / "memory", "memory.limit_in_bytes"
        else:
            continue
        below = Path(path.lstrip("/"))
        for part in (below, *below.parents):
            text = _read(folder / part / name).strip()
            if text.isdecimal() and int(text) < _UNLIMITED:
                limits.append(int(text))
    return min(limits, default=0)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def _machine() -> dict[str, str]:
    return {
        "system": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "python": platform.python_version(),
        "user": "root" if os.geteuid() == 0 else f"uid {os.geteuid()}",
    }
