"""The ladder of rungs, and starting a zygote on one of them.

    strict     standard, and behind it Landlock and namespaces with an empty root, should the first wall have a hole
    standard   a scrubbed zygote that is not root, an allow-list of system calls, limits, strict data; any user can
    wasm       an interpreter in WebAssembly, for nodes without seccomp: not part of this package, offered nowhere
    unsafe     limits and strict data only: a program can read, send and kill whatever its user can; trusted code only

Invariant: a rung asked for by name is taken or refused; where none is asked for it is the strongest of strict and
standard, never less. Which one it is, with its layers and what a stronger one lacks, is one line in the log at each
start; `unsafe` needs two keys and is a warning.
"""

import logging
import platform
import sys
from collections.abc import Mapping
from enum import StrEnum

from envpool.sandbox.packages import NONE, Packages
from envpool.sandbox.results import SandboxLimits, SandboxUnavailable
from envpool.sandbox.server import ForkServer

log = logging.getLogger(__name__)


class Rung(StrEnum):
    """How much stands between a program and the node, the strongest first."""

    STRICT = "strict"
    STANDARD = "standard"
    WASM = "wasm"
    UNSAFE = "unsafe"


AUTO = "auto"
NEEDED: Mapping[str, str] = {
    "seccomp": "a kernel with seccomp filters, and a container profile that lets prctl(PR_SET_SECCOMP) pass, as the "
    "default ones of Docker and Kubernetes do",
    "uid drop": "another user than root, or root with the capabilities SETUID and SETGID",
    "no new privileges": "a container profile that lets prctl(PR_SET_NO_NEW_PRIVS) pass",
    "namespaces": "unprivileged user namespaces: user.max_user_namespaces above 0, "
    "kernel.apparmor_restrict_unprivileged_userns and its like off, no chroot, and a container profile that lets "
    "unshare, mount and pivot_root pass",
    "landlock": "a kernel from 5.13 with landlock among its security modules (lsm=), and a container profile that "
    "lets the landlock calls pass",
    "self-test": "a kernel that answers itself: a wall was put up and did not hold, which happens where something "
    "between here and the kernel (an emulation, a tracer) takes seccomp calls without acting on them",
}
"""What would help where a layer does not hold."""
_ANYWHERE = (
    "Linux on x86_64 or aarch64 and Python 3.11 or later; the default profile of a container is enough for `standard`"
)
NO_WASM = "there is no WASI interpreter in this package"
_BANNER = (
    "\n" + "!" * 78 + "\n!!  THE SANDBOX IS OFF (rung `unsafe`): programs can do whatever this user can.\n"
    "!!  For trusted code on a machine of your own. Every result is stamped unsafe.\n" + "!" * 78
)


def start(
    limits: SandboxLimits,
    hash_seed: int,
    rung: str | None = None,
    *,
    allow_unsafe: bool = False,
    packages: Packages = NONE,
) -> ForkServer:
    """A zygote on the named rung, or on the strongest one for None and "auto". Raises SandboxUnavailable."""
    if reason := unsupported():
        raise SandboxUnavailable(f"the sandbox refuses to start: {reason}. It needs {_ANYWHERE}.")
    wanted = asked_for(rung, allow_unsafe=allow_unsafe)
    try:
        server = ForkServer(limits, hash_seed, wanted, packages)
    except OSError as error:
        raise SandboxUnavailable(f"the sandbox refuses to start: no process can be started: {error}") from None
    except SandboxUnavailable as error:
        raise SandboxUnavailable(_refusal(wanted, str(error), error.missing), error.missing) from None
    _announce(server, packages)
    return server


def unsupported(system: str = sys.platform, python: tuple[int, ...] = tuple(sys.version_info[:2])) -> str:
    """Why no rung at all can work on such a platform; empty when one may."""
    if system != "linux":
        return f"it is made of Linux system calls, and this is {system}"
    if python < (3, 11):
        return f"Python {'.'.join(map(str, python))} has no safe path (-P) and a parser that long sources crash"
    return ""


def asked_for(rung: str | None, *, allow_unsafe: bool = False) -> str:
    """A rung's name, checked; "auto" for None. Raises SandboxUnavailable for one that no node could give."""
    if rung is None or rung == AUTO:
        return AUTO
    if rung not in list(Rung):
        raise SandboxUnavailable(f"there is no rung {rung!r}; there are {', '.join(Rung)}, and {AUTO}")
    if rung == Rung.WASM:
        way_out = "Ask for strict or standard; `envolve doctor` says what they lack on a node"
        text = f"rung wasm is not offered: {NO_WASM}. {way_out}."
        raise SandboxUnavailable(text, {Rung.WASM.value: NO_WASM})
    if rung == Rung.UNSAFE and not allow_unsafe:
        raise SandboxUnavailable(
            "rung unsafe runs programs without a sandbox, so it must be allowed by name as well: allow_unsafe=True, "
            "or sandbox.allow_unsafe=true in a run's configuration"
        )
    return Rung(rung).value


def _refusal(wanted: str, reason: str, missing: Mapping[str, str]) -> str:
    """One text: what is missing, what would help, and what else there is."""
    needs = "; ".join(f"{name} needs {NEEDED[name]}" for name in missing if name in NEEDED)
    where = "" if wanted == AUTO else f" on rung {wanted}"
    text = f"the sandbox refuses to start{where}: {reason}. It needs {_ANYWHERE}."
    if needs:
        text += f" What would help here: {needs}."
    if wanted == Rung.STRICT and not {"seccomp", "uid drop"} & set(missing):
        return f"{text} This node may offer standard."
    return f"{text} Rung wasm is not offered ({NO_WASM}); unsafe must be asked for and allowed by name."


def _announce(server: ForkServer, packages: Packages) -> None:
    """The one line. `platform` because a fleet is looked at together."""
    if server.rung == Rung.UNSAFE:
        log.warning(_BANNER)
        return
    line = f"sandbox ready on {platform.machine()}: {server.rung} ({', '.join(server.layers)})"
    if packages.names:
        line += f", with {', '.join(packages.names)}"
    if server.missing:
        lacks = ", ".join(f"{name}: {reason}" for name, reason in server.missing.items())
        line += f"; {Rung.STRICT} is not offered ({lacks})"
    log.info(line)
