"""Whole runs as a user starts them, for the end-to-end tests: processes, files, and what came of them.

Everything that a test starts stays below this process, also when its parent is killed (it is the subreaper), so that
a test can say that nothing is left, and end what is.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import psutil
import yaml

from envpool.store import PoolReader
from envpool.store.encoding import JournalEntry

ROOT = Path(__file__).parents[1]
PR_SET_CHILD_SUBREAPER = 36
WORD_EXAMPLES = [
    [
        f'Write the input in upper-case letters.\n\nInput: "{word}"\n\nAnswer as <answer>text</answer>',
        f"<answer>{word.upper()}</answer>",
    ]
    for word in ("sun", "tree")
]
HELD_OUT = "lists/total"
TINY: dict[str, Any] = {
    "run": {"audit": True},
    "policy": {"max_tokens": 20, "max_model_len": 1024, "examples": WORD_EXAMPLES},
    "solver": {"max_num_seqs": 64, "kv_cache_gib": 0.5, "concurrent_groups": 6},
    "learner": {
        "ranks": 1, "lr": 1e-6, "groups_per_step": 2, "group_size": 4, "micro_batch": 8, "turns": True,
    },
    "sandbox": {"count": 1, "cpu_seconds": 2, "wall_seconds": 30},
    "generator": {"interval_seconds": 6, "group_size": 2, "few_shot": 1, "max_tokens": 32},
    "grammar": {"interval_seconds": 2, "batch": 1},
    "compose": {"size": 2, "operators": ["SEQUENTIAL", "PARALLEL"]},
    "composer": {"interval_seconds": 2, "batch": 1},
    "pool": {
        "map_size_gib": 1,
        "seeds": ["inversion_count", "subset_sum"],
        "bricks": ["strings/upper_case", "strings/first_word", "strings/count_words", "lists/last_number", HELD_OUT],
        "held_out": [HELD_OUT],
    },
    "evaluation": {"questions": 8, "held_out_questions": 4},
    # Shaping gives groups a spread at once; the smallest model seldom succeeds.
    "reward": {"format_bonus": 0.1},
}  # fmt: skip


def adopt_orphans() -> None:
    """Make this process the parent of whatever its descendants leave behind."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants() -> list[psutil.Process]:
    """All living processes below this one."""
    return [process for process in psutil.Process().children(recursive=True) if is_running(process)]


def is_running(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def kill_all(processes: list[psutil.Process]) -> None:
    """kill -9, all of them."""
    for process in processes:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue


@contextmanager
def ending_what_is_left() -> Iterator[None]:
    """Adopts orphans, and at the end kills whatever was born below this process meanwhile, and nothing else."""
    adopt_orphans()
    before = set(descendants())
    try:
        yield
    finally:
        kill_all([process for process in descendants() if process not in before])


def left_of(before: set[psutil.Process], seconds: float = 20.0) -> list[str]:
    """Command lines of what still runs and did not before, after some time to end."""
    deadline = time.monotonic() + seconds
    while (found := [p for p in descendants() if p not in before]) and time.monotonic() < deadline:
        bury(before)
        time.sleep(0.5)
    return [described(process) for process in found]


def bury(before: set[psutil.Process]) -> None:
    """Reap what ended as this process's child and was not there before, as the adopter of orphans has to.

    The first process of a pid namespace does not end before all zombies of the namespace are reaped.
    """
    for process in psutil.Process().children():
        if process not in before and not is_running(process):
            with suppress(ChildProcessError):
                os.waitpid(process.pid, os.WNOHANG)


def described(process: psutil.Process) -> str:
    try:
        return f"{process.pid} {' '.join(process.cmdline())[:120]}"
    except psutil.NoSuchProcess:
        return f"{process.pid} gone"


def envolve(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The console command, from another process."""
    command = [str(Path(sys.executable).with_name("envolve")), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=ROOT, check=False)


class RunFolder:
    """What a run has written so far."""

    def __init__(self, folder: Path, name: str, settings: dict[str, Any]) -> None:
        self.root, self.name = folder, name
        self.path = folder / name
        self.config = folder / f"{name}.yaml"
        self.config.write_text(yaml.safe_dump(settings), encoding="utf-8")

    @property
    def command(self) -> list[str]:
        """The arguments of `launch.py`; the same ones start and resume."""
        return ["--config", str(self.config), f"run.name={self.name}", f"run.folder={self.root}", "--plain"]

    def start(self) -> subprocess.Popen[str]:
        """`python launch.py`, as a group of processes of its own, which Ctrl-C goes to."""
        environment = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
        with self.log.open("a") as log:
            return subprocess.Popen(
                [sys.executable, "launch.py", *self.command],
                cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT, text=True, start_new_session=True,
            )  # fmt: skip

    @property
    def log(self) -> Path:
        return self.root / f"{self.name}.log"

    def lines(self, kind: str = "") -> list[dict[str, Any]]:
        """Records of `metrics.jsonl`; what a kill tore is passed over."""
        path = self.path / "metrics.jsonl"
        found = []
        for text in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
            try:
                record = json.loads(text)
            except ValueError:
                continue
            if kind in ("", record["kind"]):
                found.append(record)
        return found

    def status(self) -> dict[str, Any]:
        path = self.path / "status.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    @cached_property
    def pool(self) -> PoolReader:
        """The run's pool, as any other process reads it."""
        return PoolReader.open(self.path / "pool")

    def journal(self, kind: str) -> list[JournalEntry]:
        return [entry for entry in self.pool.journal(0, 10**7) if entry.kind == kind]

    def until(
        self, condition: Callable[[], Any], running: subprocess.Popen[str], seconds: float = 600.0
    ) -> Any:
        """The first true value of the condition. Fails when the run ends before, or takes too long."""
        deadline = time.monotonic() + seconds
        while not (value := condition()):
            assert running.poll() is None, f"the run ended with {running.returncode}:\n{self.tail()}"
            assert time.monotonic() < deadline, f"nothing for {seconds:.0f} s:\n{self.tail()}"
            time.sleep(0.2)
        return value

    def drop_weights(self) -> None:
        """Give back the gigabytes that a finished run keeps; pytest would keep them for three sessions more."""
        for name in ("checkpoints", "weights"):
            shutil.rmtree(self.path / name, ignore_errors=True)

    def tail(self) -> str:
        """The end of the log, and who failed at what."""
        actors = self.status().get("actors", {})
        failures = {name: report["first_failures"] for name, report in actors.items() if report["failures"]}
        waiting = {name: report["waiting_for"] for name, report in actors.items()}
        log = self.log.read_text()[-3000:] if self.log.exists() else ""
        return f"{log}\nwaiting: {waiting}\n" + "\n".join(
            f"{k} {n}: {t}" for k, v in failures.items() for n, t in v.items()
        )
