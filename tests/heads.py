"""Ray heads as an operator starts them, each with ports and a folder of its own, for tests that submit jobs.

`bare_python` is a Python with everything that the project needs and without the project, as a cluster's nodes are.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCRATCH = Path(tempfile.gettempdir())
START_SECONDS = 180
TRIES = 3


@dataclass(frozen=True)
class Head:
    """A running head: its Python, its addresses for each way in, and the environment of one who may use it."""

    python: Path
    gcs: str
    dashboard: str
    client: str
    environment: Mapping[str, str]

    def ray(self, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
        """`ray ARGUMENTS`, as whoever holds the head's token, or with other variables."""
        return subprocess.run(
            [str(self.python), "-m", "ray.scripts.scripts", *arguments],
            env={**self.environment, "RAY_ADDRESS": self.dashboard, **changes},
            capture_output=True, text=True, timeout=180, check=False,
        )  # fmt: skip

    def envolve(self, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
        """`envolve ARGUMENTS` on this machine, which is the head's, with the head's address in RAY_ADDRESS."""
        return subprocess.run(
            self.command(*arguments), env=self.inside(**changes), cwd=ROOT,
            capture_output=True, text=True, timeout=180, check=False,
        )  # fmt: skip

    def begin(self, *arguments: str, log: Path, **changes: str) -> subprocess.Popen[str]:
        """The same, in the background, with what it says in a file."""
        with log.open("w") as output:
            return subprocess.Popen(
                self.command(*arguments), env=self.inside(**changes), cwd=ROOT, stdout=output, stderr=subprocess.STDOUT,
                text=True, start_new_session=True,
            )  # fmt: skip

    def inside(self, **changes: str) -> dict[str, str]:
        """The environment of a process on one of the cluster's nodes; an empty value takes a variable away."""
        changed = {**self.environment, "RAY_ADDRESS": self.gcs, **changes}
        return {name: value for name, value in changed.items() if value}

    @staticmethod
    def command(*arguments: str) -> list[str]:
        return [str(Path(sys.executable).with_name("envolve")), *arguments]


@contextmanager
def head(python: Path = Path(sys.executable), cpus: int = 2, **variables: str) -> Iterator[Head]:
    """A Ray head with its dashboard; `variables` are set for it and for those who use it."""
    environment = _environment(python) | variables
    with tempfile.TemporaryDirectory(prefix="ev", dir=SCRATCH, ignore_cleanup_errors=True) as scratch:
        found, process = _started(python, cpus, environment, Path(scratch))
        try:
            yield found
        finally:
            process.terminate()
            process.wait(START_SECONDS)


def _started(
    python: Path, cpus: int, environment: dict[str, str], scratch: Path
) -> tuple[Head, subprocess.Popen[bytes]]:
    """Ray gives its own processes thirty seconds to start; on a busy machine it may need another try."""
    for left in reversed(range(TRIES)):
        folder = scratch / str(left)
        folder.mkdir()
        port, dashboard, client = free_port(), free_port(), free_port()
        said = folder / "head.log"
        with said.open("w") as log:
            process = subprocess.Popen(
                [str(python), "-m", "ray.scripts.scripts", "start", "--head", "--block", f"--port={port}",
                 f"--dashboard-port={dashboard}", f"--dashboard-agent-listen-port={free_port()}",
                 f"--ray-client-server-port={client}", f"--num-cpus={cpus}", f"--temp-dir={folder}/ray",
                 "--disable-usage-stats"],
                env=environment, stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip
        if _is_up(process, said, dashboard):
            addresses = f"127.0.0.1:{port}", f"http://127.0.0.1:{dashboard}", f"ray://127.0.0.1:{client}"
            return Head(python, *addresses, environment), process
        process.terminate()
        process.wait(START_SECONDS)
    raise AssertionError(f"the Ray head did not come up:\n{said.read_text(encoding='utf-8')}")


def _is_up(process: subprocess.Popen[bytes], said: Path, dashboard: int) -> bool:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        if "Ray runtime started" in said.read_text(encoding="utf-8") and _is_open(dashboard):
            return True
        time.sleep(0.2)
    return False


def bare_python(folder: Path) -> Path:
    """A virtual environment that holds this one's packages by links, all but the project itself."""
    venv.create(folder, symlinks=True, with_pip=False)
    packages = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if "envolve" not in path.name:
            (packages / path.name).symlink_to(path)
    return folder / "bin" / "python"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _environment(python: Path) -> dict[str, str]:
    """As after `source bin/activate`, with nothing of Ray's that this process may have set."""
    kept = {name: value for name, value in os.environ.items() if name not in ("RAY_ADDRESS", "PYTHONPATH")}
    return kept | {"PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}


def _is_open(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False
