"""Making files and renames last: what LMDB does for its own commits, for copies of a pool."""

import os
from pathlib import Path


def synced(path: Path) -> None:
    """A file's content, or a folder's names, on the disk. Raises OSError."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
