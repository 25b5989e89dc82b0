"""Sandbox speed, as ratios to a fresh `python -I` for each program, all measured in the same run."""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from envpool.sandbox import Call, Sandbox, SandboxLimits

SOURCE = '''
import itertools
import random
from envpool import Environment


class InversionCount(Environment):
    rule = "Count the pairs of positions i < j for which the number at i is larger than the number at j."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(1, 20) for _ in range(2 + 2 * level)]

    def solve(self, x: list[int]) -> int:
        return sum(a > b for a, b in itertools.combinations(x, 2))
'''
PLAIN = """
import itertools, json, random
rng = random.Random(1)
print(json.dumps([rng.randint(1, 20) for _ in range(6)]))
"""
SAMPLE = Call("sample", ("p:1:2:0", 2))
VERIFY = Call("verify", ([5, 3, 4, 1], 5))


def seconds(action: Callable[[], object], times: int) -> list[float]:
    """Wall seconds of each of `times` calls, sorted."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        action()
        taken.append(time.perf_counter() - start)
    return sorted(taken)


def measure() -> dict[str, float]:
    """Medians; ratios are to the fresh interpreter."""
    with Sandbox(SandboxLimits()) as sandbox:
        sandbox.run(SOURCE, [SAMPLE], fresh=True)
        fresh = statistics.median(
            seconds(lambda: subprocess.run([sys.executable, "-I", "-c", PLAIN], check=True, capture_output=True), 20)
        )
        fork = statistics.median(seconds(lambda: sandbox.run(SOURCE, [SAMPLE], fresh=True), 200))
        batch = statistics.median(seconds(lambda: sandbox.run(SOURCE, [VERIFY] * 100, fresh=True), 30))
        verify = seconds(lambda: sandbox.run(SOURCE, [VERIFY]), 3_000)
        sample = seconds(lambda: sandbox.run(SOURCE, [SAMPLE]), 1_000)
    middle_verify, middle_sample = statistics.median(verify), statistics.median(sample)
    return {
        "fresh_python_ms": fresh * 1e3,
        "fork_run_ms": fork * 1e3,
        "fork_runs_per_second": 1 / fork,
        "fork_run_vs_fresh_python": fresh / fork,
        "batch_100_verify_ms": batch * 1e3,
        "batch_100_verify_vs_fresh_python_each": 100 * fresh / batch,
        "open_child_verify_p50_us": middle_verify * 1e6,
        "open_child_verify_p99_us": verify[int(len(verify) * 0.99)] * 1e6,
        "open_child_verify_calls_per_second": 1 / middle_verify,
        "open_child_verify_vs_fresh_python": fresh / middle_verify,
        "open_child_sample_p50_us": middle_sample * 1e6,
        "open_child_sample_vs_fresh_python": fresh / middle_sample,
    }


def main() -> None:
    figures = measure()
    print(f"sandbox, against a fresh `python -I` each ({os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f})")
    for name, value in figures.items():
        print(f"  {name:42} {value:12.1f}")
    print(json.dumps({"sandbox": figures}))


if __name__ == "__main__":
    main()
