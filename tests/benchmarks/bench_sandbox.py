"""Sandbox speed, as ratios to a fresh `python -I` for each program, all measured in the same run."""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from envpool.sandbox import Call, Sandbox, SandboxLimits

SOURCE = """
import itertools
import random
from envpool import Environment


class InversionCount(Environment):
    rule = "Count the pairs of positions i < j for which the number at i is larger than the number at j."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(1, 20) for _ in range(2 + 2 * level)]

    def solve(self, x: list[int]) -> int:
        return sum(a > b for a, b in itertools.combinations(x, 2))
"""
PLAIN = """
import itertools, json, random
rng = random.Random(1)
print(json.dumps([rng.randint(1, 20) for _ in range(6)]))
"""
SAMPLE = Call("sample", ("p:1:2:0", 2))
VERIFY = Call("verify", ([5, 3, 4, 1], 5))


ROUNDS = 25


def fresh_python() -> None:
    subprocess.run([sys.executable, "-I", "-c", PLAIN], check=True, capture_output=True)


def measure(sandbox: Sandbox) -> dict[str, float]:
    """Medians; ratios are to the fresh interpreter.

    The ways take turns, so that what else the machine does falls on all of them.
    """
    ways: dict[str, tuple[Callable[[], object], int]] = {  # and how often in each round
        "fresh": (fresh_python, 1),
        "fork": (lambda: sandbox.run(SOURCE, [SAMPLE], fresh=True), 8),
        "batch": (lambda: sandbox.run(SOURCE, [VERIFY] * 100, fresh=True), 2),
        "verify": (lambda: sandbox.run(SOURCE, [VERIFY]), 200),
        "open batch": (lambda: sandbox.run(SOURCE, [VERIFY] * 100), 2),
        "sample": (lambda: sandbox.run(SOURCE, [SAMPLE]), 50),
    }
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for action, _ in ways.values():
        action()
    for _ in range(ROUNDS):
        for name, (action, times) in ways.items():
            for _ in range(times):
                start = time.perf_counter()
                action()
                taken[name].append(time.perf_counter() - start)
    fresh, fork, batch, verify, open_batch, sample = (statistics.median(each) for each in taken.values())
    return {
        "fresh_python_ms": fresh * 1e3,
        "fork_run_ms": fork * 1e3,
        "fork_runs_per_second": 1 / fork,
        "fork_run_vs_fresh_python": fresh / fork,
        "batch_100_verify_ms": batch * 1e3,
        "batch_100_verify_vs_fresh_python_each": 100 * fresh / batch,
        "open_child_verify_p50_us": verify * 1e6,
        "open_child_verify_p99_us": statistics.quantiles(taken["verify"], n=100)[-1] * 1e6,
        "open_child_verify_vs_fresh_python": fresh / verify,
        "open_child_in_batches_verify_per_second": 100 / open_batch,
        "open_child_in_batches_verify_vs_fresh_python": 100 * fresh / open_batch,
        "open_child_sample_p50_us": sample * 1e6,
        "open_child_sample_vs_fresh_python": fresh / sample,
    }


def main() -> None:
    with Sandbox(SandboxLimits()) as sandbox:
        figures = measure(sandbox)
        where = f"rung {sandbox.rung}, {len(os.sched_getaffinity(0))} CPUs, load {os.getloadavg()[0]:.1f}"
    print(f"sandbox, against a fresh `python -I` each ({where})")
    for name, value in figures.items():
        print(f"  {name:46} {value:12.1f}")
    print(json.dumps({"sandbox": figures}))


if __name__ == "__main__":
    main()
