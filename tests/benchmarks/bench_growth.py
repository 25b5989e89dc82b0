"""What an actor costs that does nothing: runs of 16, 64 and 128 light actors under the real supervisor, one machine.

The named alternative, of the same size and in the same minute: plain Ray actors, made at once and left alone. What is
taken of each: seconds until all answer, CPU time at rest of the actors and of what keeps them (supervisor, metrics,
pool, Ray's control service and raylet), the supervisor's turn, how long a status takes, and memory as shares of pages
add up to it (PSS). The estimate for 1,000 actors says which figures it rests on. Sizes may be given as arguments.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import ray

from actors import roster
from tests.chaos.nodes import family
from tests.runs import ROOT
from tests.simulated.light import light
from tests.simulated.runs import SimulatedRun, simulated

SIZES = (16, 64, 128)
REST_SECONDS = 30.0
STATUSES = 100
LIMIT_SECONDS = 900.0
KEEPERS = ("supervisor", "metrics", "pool")
ESTIMATE = 1000
MIB = 2**20


@dataclass
class Costs:
    """Of one size. CPU in seconds a minute."""

    actors: int
    start: float
    cpu: dict[str, float] = field(default_factory=dict)
    """By part: `actor` is the mean of one light actor, the others are whole processes."""
    memory: float = 0.0
    """MiB of one light actor (PSS)."""
    turn_ms: float = 0.0
    status_ms: tuple[float, float] = (0.0, 0.0)
    """Median and 99th percentile."""

    def each(self, part: str) -> float:
        """A part's CPU for each actor."""
        return self.cpu.get(part, 0.0) / self.actors


def main() -> None:
    sizes = [int(text) for text in sys.argv[1:]] or list(SIZES)
    runs, plain = [], []
    for size in sizes:
        plain.append(of_plain_actors(size))
        show(f"{size} plain Ray actors", plain[-1])
        runs.append(of_a_run(size))
        show(f"{size} light actors of a run", runs[-1])
    table(runs, plain)
    if len(runs) > 1:
        estimate(runs)


@contextmanager
def machine() -> Iterator[None]:
    """A Ray of its own for each size."""
    ray.init(
        address="local", num_cpus=2, include_dashboard=False, log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": str(ROOT)}},
    )  # fmt: skip
    try:
        yield
    finally:
        ray.shutdown()


class Idle:
    """A plain Ray actor."""

    async def heartbeat(self) -> int:
        import os

        return os.getpid()


def of_plain_actors(count: int) -> Costs:
    with machine():
        begun = time.monotonic()
        made = [ray.remote(Idle).options(num_cpus=0, max_concurrency=1000).remote() for _ in range(count)]
        pids = ray.get([actor.heartbeat.remote() for actor in made], timeout=LIMIT_SECONDS)
        costs = Costs(count, time.monotonic() - begun)
        rest(costs, {f"actor-{pid}": pid for pid in pids})
        return costs


def of_a_run(count: int) -> Costs:
    with machine(), tempfile.TemporaryDirectory(prefix="growth-") as scratch:
        posts = roster.posts(simulated("count", Path(scratch), light({})))
        others = 1 + sum(post.kind != "sandbox" for post in posts)
        changes: dict[str, Any] = {
            "sandbox": {"count": count - others},
            # As an operator has it, not as the tests do.
            "supervision": {"heartbeat_seconds": 10.0, "missed_heartbeats": 6},
        }
        config = simulated("growth", Path(scratch), light({"sandbox": "LightActor"}), changes)
        run = SimulatedRun(config)
        begun = time.monotonic()
        try:
            run.begin(LIMIT_SECONDS)
            run.until(lambda: reporting(run) >= count, LIMIT_SECONDS)
            costs = Costs(count, time.monotonic() - begun)
            rest(costs, run.pids())
            costs.turn_ms = run.status()["actors"]["supervisor"]["gauges"]["turn_ms"]
            costs.status_ms = status_latency(run)
        finally:
            roster.end(config)
        return costs


def reporting(run: SimulatedRun) -> int:
    """Actors whose own report the status holds."""
    return len(run.status().get("actors", ()))


def rest(costs: Costs, pids: dict[str, int]) -> None:
    """CPU time of each part over a while in which nothing is asked of anybody, and memory after it."""
    parts = {name: psutil.Process(pid) for name, pid in pids.items()}
    parts |= ray_processes()
    time.sleep(5.0)  # what starting left to do
    before = {name: spent(process) for name, process in parts.items()}
    time.sleep(REST_SECONDS)
    used = {name: 60 / REST_SECONDS * (spent(process) - before[name]) for name, process in parts.items()}
    idle = [name for name in pids if roster.kind_of(name) not in KEEPERS]
    costs.cpu = {name: value for name, value in used.items() if name not in idle}
    costs.cpu["actor"] = statistics.mean(used[name] for name in idle)
    sample = idle[:: max(1, len(idle) // 8)]
    costs.memory = statistics.mean(parts[name].memory_full_info().pss / MIB for name in sample)


def ray_processes() -> dict[str, psutil.Process]:
    """Ray's own, below this process."""
    found = {}
    for process in family(psutil.Process().pid)[1:]:
        command = " ".join(process.cmdline()[:1])
        for name in ("gcs_server", "raylet"):
            if command.endswith(f"/{name}"):
                found[name] = process
    return found


def spent(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


def status_latency(run: SimulatedRun) -> tuple[float, float]:
    metrics, taken = run.actor("metrics"), []
    for _ in range(STATUSES):
        begun = time.perf_counter()
        ray.get(metrics.status.remote())
        taken.append(1000 * (time.perf_counter() - begun))
    taken.sort()
    return taken[len(taken) // 2], taken[int(0.99 * len(taken))]


def show(name: str, costs: Costs) -> None:
    parts = ", ".join(f"{part} {value:.2f}" for part, value in sorted(costs.cpu.items()))
    print(f"   {name}: all answer after {costs.start:.1f} s; CPU s/min: {parts}", flush=True)


def table(runs: list[Costs], plain: list[Costs]) -> None:
    print("   CPU in seconds a minute for each actor; in brackets plain Ray actors")
    print(
        f"   {'actors':>7} {'start s':>15} {'MiB each':>13} {'own':>15} {'supervisor':>10} {'metrics':>8} {'pool':>6} "
        f"{'gcs':>15} {'raylet':>15} {'turn ms':>8} {'status ms p50/p99':>18}"
    )
    for run, bare in zip(runs, plain, strict=True):
        print(
            f"   {run.actors:>7} {run.start:>6.1f} ({bare.start:>6.1f}) {run.memory:>5.0f} ({bare.memory:>5.0f}) "
            f"{run.cpu['actor']:>6.3f} ({bare.cpu['actor']:>6.3f}) {run.each('supervisor'):>10.4f} "
            f"{run.each('metrics'):>8.4f} {run.each('pool'):>6.4f} "
            f"{run.each('gcs_server'):>6.4f} ({bare.each('gcs_server'):>6.4f}) "
            f"{run.each('raylet'):>6.4f} ({bare.each('raylet'):>6.4f}) "
            f"{run.turn_ms:>8.1f} {run.status_ms[0]:>8.1f} / {run.status_ms[1]:>6.1f}"
        )


def estimate(runs: list[Costs]) -> None:
    """Straight lines through the smallest and the largest run: everything here grows with the number of actors."""
    small, large = runs[0], runs[-1]

    def at(value: Any) -> float:
        slope = (value(large) - value(small)) / (large.actors - small.actors)
        return max(0.0, value(large) + slope * (ESTIMATE - large.actors))

    print(f"   {ESTIMATE} actors, from {small.actors} and {large.actors} by a straight line:")
    for part in (*KEEPERS, "gcs_server"):
        share = at(lambda run, part=part: run.cpu.get(part, 0.0)) / 60
        print(f"     {part}: {100 * share:.0f} % of a core")
    print(f"     supervisor's turn {at(lambda run: run.turn_ms):.0f} ms of the second between two, "
          f"status {at(lambda run: run.status_ms[0]):.0f} ms")  # fmt: skip
    pace = (large.actors - small.actors) / max(0.1, large.start - small.start)
    print(f"     start: {pace:.1f} actors a second on these cores, all nodes start theirs side by side")
    own = large.cpu["actor"] / 60
    print(f"     each actor itself: {100 * own:.2f} % of a core and {large.memory:.0f} MiB, on its own node")


if __name__ == "__main__":
    main()
