"""The zygote: a scrubbed, single-threaded process that imports, locks itself, proves its walls and then forks.

Started as `python -s -S -P -B -c <boot> <root> <control fd> <settings>` with a literal environment. It answers one
control message at a time on a SEQPACKET socket and dies with that socket, taking every child along.
Invariant: no byte of a program or a value ever enters this process; it passes descriptors on.
The walls themselves are in `walls`, their proof in `selftest`, the children in `nursery`.
"""

import contextlib
import fcntl
import gc
import importlib
import json
import mmap
import os
import resource
import socket
import sys
import threading
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from envpool.sandbox.inside import kernel, packages
from envpool.sandbox.inside.child import Cage
from envpool.sandbox.inside.nursery import Nursery
from envpool.sandbox.inside.selftest import SelfTestFailed, run_self_test
from envpool.sandbox.inside.walls import STRICT, UNSAFE, Refused, Walls, raise_walls

# What the standard library imports only when used, and a closed world could not load any more.
HIDDEN_IMPORTS = (
    "_strptime", "collections.abc", "contextlib", "copyreg", "encodings.ascii", "encodings.cp1252",
    "encodings.hex_codec", "encodings.idna", "encodings.latin_1", "encodings.raw_unicode_escape",
    "encodings.rot_13", "encodings.unicode_escape", "encodings.utf_16", "encodings.utf_32", "inspect", "keyword",
    "linecache", "locale", "pprint", "reprlib", "traceback", "unicodedata", "warnings",
)  # fmt: skip
RESERVED_FDS = 10  # descriptors 0 to 9 are /dev/null, so that what arrives lies clear of a child's own
NULL_FD = 9
MAX_REASON = 1_000  # characters: the supervisor reads one message of bounded size


def main(control_fd: int, settings: dict[str, Any]) -> NoReturn:
    control = socket.socket(fileno=fcntl.fcntl(control_fd, fcntl.F_DUPFD_CLOEXEC, RESERVED_FDS))
    os.close(control_fd)
    try:
        cage, walls = _lock(control.fileno(), settings)
        nursery = Nursery(control, cage, namespaced=walls.rung == STRICT)
        if walls.rung != UNSAFE:
            run_self_test(cage, behind=[name for name in walls.layers if walls.rung == STRICT])
            walls.layers["self-test"] = ""
    except SelfTestFailed as error:
        _refuse(control, f"self-test: {error}", {"self-test": str(error)})
    except Refused as error:
        _refuse(control, str(error), error.missing)
    except OSError as error:
        _refuse(control, str(error), {})
    control.send(json.dumps({"ready": walls.layers, "rung": walls.rung, "missing": walls.missing}).encode())
    os.dup2(cage.null_fd, 2)
    nursery.serve()
    os._exit(0)


def _refuse(control: socket.socket, reason: str, missing: dict[str, str]) -> NoReturn:
    short = {name: why[:MAX_REASON] for name, why in missing.items()}
    control.send(json.dumps({"refused": reason[:MAX_REASON], "missing": short}).encode())
    os._exit(1)


def _lock(control_fd: int, settings: dict[str, Any]) -> tuple[Cage, Walls]:
    """Every layer of the zygote in the one order that works. Raises Refused or OSError."""
    _step_back()
    _preload(settings["imports"], settings["packages"], settings["path"])
    _reserve_descriptors()
    _check_scrubbed(control_fd, settings["environment"])
    _check_memory()
    mapped = _mapped()
    walls = raise_walls(settings["rung"])
    cage = Cage(
        filter=walls.filter,
        zygote_pid=0 if walls.rung == STRICT else os.getpid(),
        null_fd=NULL_FD,
        address_space=_within(resource.RLIMIT_AS, mapped + (settings["memory_mib"] << 20)),
        cpu_seconds=_within(resource.RLIMIT_CPU, settings["cpu_seconds"]),
        output_bytes=settings["output_bytes"],
        allowed=frozenset(settings["allowed"]),
    )
    gc.disable()
    gc.collect()
    gc.freeze()
    return cage, walls


def _step_back() -> None:
    """Under pressure the kernel shall take a child first, and other work goes before it. No wall, so no must."""
    with contextlib.suppress(OSError):
        os.nice(10)
        with open("/proc/self/oom_score_adj", "w") as score:
            score.write("1000")


def _preload(names: Iterable[str], third_party: Sequence[str], path: Iterable[str]) -> None:
    """Imports all a program may use; afterwards nothing is looked for on a path any more."""
    for name in (*names, *HIDDEN_IMPORTS):
        importlib.import_module(name)
    if third_party:
        packages.load(third_party, path)
    sys.path.clear()
    sys.path_importer_cache.clear()
    sys.path_hooks.clear()


def _reserve_descriptors() -> None:
    null = os.open("/dev/null", os.O_RDWR)
    for descriptor in range(RESERVED_FDS):
        if descriptor not in (2, null):  # 2 tells the supervisor why a start failed
            os.dup2(null, descriptor)
    if null >= RESERVED_FDS:
        os.close(null)


def _check_scrubbed(control_fd: int, environment: list[str]) -> None:
    """Raises Refused where something of the owner came along that a child could find."""
    if set(os.environ) != set(environment):
        raise Refused(f"its environment holds {sorted(set(os.environ) ^ set(environment))}")
    if threading.active_count() != 1 or len(os.listdir("/proc/self/task")) != 1:
        raise Refused("the zygote has more than one thread")
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        if descriptor >= RESERVED_FDS and descriptor != control_fd:
            with contextlib.suppress(OSError):  # the listing's own is closed by now
                os.fstat(descriptor)
                raise Refused(f"it was left descriptor {descriptor}")


def _check_memory() -> None:
    """No page of a child shall be written and executed, nor written by one child and read by another.

    Code pages that a library left writable are closed. Raises Refused where memory is shared that is written, or that a
    child could make so. Raises OSError where the kernel does not tell.
    """
    with open("/proc/self/maps") as maps:
        lines = [line.split() for line in maps]
    for span, permissions, *_ in lines:
        if "w" in permissions and "x" in permissions:
            start, end = (int(part, 16) for part in span.split("-"))
            kernel.call("mprotect", start, end - start, mmap.PROT_READ | mmap.PROT_EXEC)
    if any("s" in permissions for _, permissions, *_ in lines) and _may_be_written_together():
        raise Refused("it has memory that its children would share")


def _may_be_written_together() -> bool:
    """Whether a shared mapping is writable, or mprotect would make it so."""
    with open("/proc/self/smaps") as smaps:
        flags = [set(line.split()[1:]) for line in smaps if line.startswith("VmFlags:")]
    return any("mw" in each and each & {"sh", "ms"} for each in flags)


def _within(which: int, wanted: int) -> int:
    """A limit as far as the owner's own hard one allows, which no child could raise."""
    hard = resource.getrlimit(which)[1]
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)


def _mapped() -> int:
    """Bytes of address space in use now."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[0]) * resource.getpagesize()
