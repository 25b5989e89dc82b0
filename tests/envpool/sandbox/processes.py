"""Looking at processes from outside, through /proc."""

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path


def children(pid: int) -> list[int]:
    """Living children of a zygote that serve jobs; none if it is gone."""
    with contextlib.suppress(OSError):
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [int(child) for child in listed if not first_of_a_namespace(int(child))]
    return []


def first_of_a_namespace(pid: int) -> bool:
    """Whether a process is number 1 where it lives: the one that the others of a strict zygote stand under."""
    with contextlib.suppress(OSError):
        status = Path(f"/proc/{pid}/status").read_text()
        return any(line.startswith("NSpid:") and line.split()[-1] == "1" for line in status.splitlines())
    return False


def alive(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def wait_for(condition: Callable[[], bool], seconds: float) -> bool:
    """Polls until the condition holds; False if it never did."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def marked(memory_mib: int) -> list[int]:
    """Living zygotes, and children of theirs, that were started with this memory limit."""
    wanted = f'"memory_mib": {memory_mib},'.encode()
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and wanted in (entry / "cmdline").read_bytes() and alive(int(entry.name)):
                found.append(int(entry.name))
    return found
