"""The lock files of a pool: one process writes it, and the kernel frees the lock with the process.

Invariant: whoever holds the lock is named in the file, so a refusal says whom to look for.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from envpool.store.errors import StoreError

WRITER_LOCK = "writer.lock"
REPLICA_LOCK = "replica.lock"


def lock_out_others(folder: Path, name: str, who: str) -> int:
    """The open file of the lock, for the caller to close. Raises StoreError where another process has it."""
    lock = os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = os.read(lock, 32).decode("ascii", "replace").strip() or "unknown"
        os.close(lock)
        raise StoreError(
            f"pool {folder} has a {who} already (process {holder}); there can be only one"
        ) from error
    os.ftruncate(lock, 0)
    os.write(lock, f"{os.getpid()}\n".encode())
    return lock


@contextmanager
def alone(lock_file: Path) -> Iterator[None]:
    """Keeps every other process from opening an LMDB environment. Raises StoreError where one has it open.

    It takes the lock that LMDB takes on its own lock file; this process must not have the environment open.
    """
    with lock_file.open("ab") as lock:
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 0)
        except OSError as error:
            raise StoreError(
                f"pool {lock_file.parent} is open in another process (a view of the run?); end it and try again"
            ) from error
        yield
