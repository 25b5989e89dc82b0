"""A small pool and a status as a run writes them, for the tests of what looks into a run."""

import time
from pathlib import Path
from typing import Any

from envpool.answer_counts import AnswerCount
from envpool.members import Composite, Member, Origin, Program
from envpool.store import PoolWriter

PROGRAM = """
import random

from envpool import Environment


class CountLarge(Environment):
    rule = "The input is a list of integers. Count the numbers that are larger than 5."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(1, 9 + level) for _ in range(3 + 2 * level)]

    def solve(self, x: list[int]) -> int:
        return sum(n > 5 for n in x)
"""
BROKEN = PROGRAM.replace("import random\n", "import random\nimport os\n", 1)

FIRST = Member(
    Program("sort", "SortUp", "Sort it.", "list[int]", "list[int]"),
    Origin.SEED,
    family="sort_up",
    created=1.0,
)
SECOND = Member(Program("total", "Total", "Add it up.", "list[int]", "int"), Origin.BRICK, created=2.0)
FUSED = Member(
    Composite("SEQUENTIAL", ((FIRST.id, SECOND.id),), "list[int]", "int"),
    Origin.COMPOSER,
    (FIRST.id, SECOND.id),
)
FALLEN = "pfa11e0000000000000000"


def make_pool(run: Path, *, configured: bool = False) -> None:
    """A run's folder, unless it has its configuration, with two programs, a composite and a rejected candidate."""
    if not configured:
        run.mkdir(parents=True)
        (run / "config.yaml").write_text("run: {name: " + run.name + "}\n", encoding="utf-8")
    with PoolWriter.open(run / "pool", map_size=1 << 24) as pool:
        pool.put_state("policy", "main")
        pool.put_state("phase", "training")
        pool.admit(FIRST, reason="passed 10 gates")
        pool.admit(SECOND, reason="passed 10 gates", step=1)
        pool.admit(FUSED, reason="composed", step=3)
        pool.reject(
            FALLEN, Origin.POLICY, "L4", "only 1 different answers in list[int]", {"distinct": 1}, BROKEN, 2
        )
        pool.record(
            [AnswerCount(FIRST.id, "main", 0, 16, 8, 12, 0), AnswerCount(FUSED.id, "main", 2, 8, 2, 8, 0)]
        )
        pool.put_state("progress", {"step": 4, "version": 4})


NODES: list[dict[str, Any]] = [
    {"id": "a" * 56, "address": "10.0.0.1", "alive": True, "head": True, "quarantined": False, "actors": 9,
     "replica_lag": None},
    {"id": "b" * 56, "address": "10.0.0.2", "alive": True, "quarantined": True, "actors": 4, "replica_lag": 0.14},
]  # fmt: skip
POLICIES: list[dict[str, Any]] = [
    {"name": "main", "model": "smollm2-135m", "endpoint": "", "trainable": True, "own": True, "solvers": 2,
     "success": 0.25, "answers": 96.0, "step": 3, "version": 3, "saved": 0},
    {"name": "far", "model": "qwen", "endpoint": "http://e/v1", "trainable": False, "own": False, "solvers": 1,
     "success": None, "answers": 0.0, "step": None, "version": None, "saved": None},
]  # fmt: skip


def status_of(name: str, **changes: Any) -> dict[str, Any]:
    """A status in the middle of training."""
    solver = {"waiting_for": "buffer", "failures": 1, "gauges": {"tokens_per_second": 210.0},
              "first_failures": {"play": "Traceback ...\nSolverLost: engine [/away] is gone"}}  # fmt: skip
    step = {"step": 3, "version": 3, "success": 0.25, "parsed": 0.5, "loss": -0.01, "grad_norm": 1.5,
            "ratio_mean": 1.0, "logprob_diff": 0.001, "update_seconds": 20.5}  # fmt: skip
    return {
        "run": name, "phase": "training", "draining": False, "steps": 24,
        "progress": {"step": 3, "version": 3}, "checkpoint": {"step": 0, "version": 0},
        "pool": {"active": 71, "resting": 0, "rejected": 6}, "origins": {"seed": 10, "grammar": 12},
        "funnel": {"L1": 4, "admitted": 71, "duplicate": 2},
        "success": {"solver": {"success": 0.25, "parsed": 0.5, "answers": 96.0}},
        "last_steps": [step], "actors": {"solver-0": solver},
        "alarms": [{"kind": "infrastructure", "text": "member of list[int] [/red]", "at": 1.0}],
        "alarm_counts": {"infrastructure": 1}, "active_alarms": [], "paused": False, "nodes": NODES[:1],
        "policies": POLICIES[:1], "restarts": {}, "running_seconds": 90.0, "at": time.time(), **changes,
    }  # fmt: skip
