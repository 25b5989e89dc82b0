"""Checking a pool's files in a process of its own.

LMDB reads through a map: a file that was cut off, or a page of noise, ends the process that reads it by a signal. Here
that is one more finding. `python -m envpool.store.apart PATH` is the other process; it writes JSON.
"""

import json
import signal
import subprocess
import sys
from dataclasses import astuple
from pathlib import Path

from envpool.store import errors
from envpool.store.errors import StoreError
from envpool.store.integrity import Finding, check
from envpool.store.reading import PoolReader


def check_at(path: Path) -> list[Finding]:
    """What `check` finds in the pool at `path`, or that its file cannot be read at all.

    Raises what PoolReader.open raises: NoPool, SchemaError, NetworkFileSystem, StoreError.
    """
    command = [sys.executable, "-m", "envpool.store.apart", str(path)]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode < 0:
        how = signal.Signals(-done.returncode).name
        return [
            Finding("file", "data.mdb", f"reading it ends in {how}: it was cut off, or a page is damaged")
        ]
    if done.returncode:
        raise StoreError(f"pool {path} could not be checked: {done.stderr.decode(errors='replace')[-500:]}")
    answer = json.loads(done.stdout)
    if "error" in answer:
        raise getattr(errors, answer["error"])(answer["text"])
    return [Finding(*row) for row in answer["findings"]]


def main() -> None:
    """Writes the findings, or the error that opening raised, as JSON."""
    answer: dict[str, object]
    try:
        with PoolReader.open(sys.argv[1]) as pool:
            answer = {"findings": [astuple(finding) for finding in check(pool)]}
    except StoreError as error:
        answer = {"error": type(error).__name__, "text": str(error)}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
