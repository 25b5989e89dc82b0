"""Whether anything of a run lives, told from its folder without joining its cluster.

Invariant: nothing is changed, nobody waits for longer than a second, and Ray is not imported. That the cluster answers
does not say that the run is still in it; what the run last wrote, and when, is `envolve status`'s to judge.
"""

from __future__ import annotations

import fcntl
import json
import socket
from pathlib import Path
from urllib.parse import urlsplit

from cluster.run_folder import LOCK_FILE, PLACE_FILE

PROBE_SECONDS = 1.0


def lives(folder: Path) -> bool:
    """Whether the run has a driver, or a cluster that answers, so that something of it may live."""
    return driven(folder) or answers(folder)


def driven(folder: Path) -> bool:
    """Whether a driver holds the run's folder."""
    try:
        with (folder / LOCK_FILE).open(encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)  # free again with the file
    except BlockingIOError:
        return True
    except OSError:
        pass  # never driven
    return False


def answers(folder: Path) -> bool:
    """Whether anybody listens where the run's cluster did."""
    try:
        address = json.loads((folder / PLACE_FILE).read_text(encoding="utf-8"))["address"]
        url = urlsplit(f"//{address}")
        if url.port is None:
            return False
        socket.create_connection((url.hostname, url.port), PROBE_SECONDS).close()
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return True
