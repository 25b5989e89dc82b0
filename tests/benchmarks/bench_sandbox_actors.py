"""Two sandbox actors under Ray: verifications a second in batches, against one call at a time and a fresh Python each.

The ways take turns in one run, each with both actors (or two interpreters) at work, so that what else the machine does
falls on all of them.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import ray

import tests.conftest  # noqa: F401  a Ray without tokens
from actors import roster
from actors.peers import Peers
from actors.roster import Post
from cluster.config import Config
from envpool.sandbox import Job, Value
from tests.benchmarks.bench_sandbox import SOURCE, VERIFY

ACTORS = 2
ROUNDS = 12
JOBS, CALLS, IN_FLIGHT = (
    10,
    100,
    2,
)  # a batch is a Ray call of JOBS jobs of CALLS calls; so many at once an actor
PLAIN = """
import itertools
x, answer = [5, 3, 4, 1], 5
assert sum(a > b for a, b in itertools.combinations(x, 2)) == answer
"""


async def in_batches(sandbox: Any) -> int:
    jobs = [Job(SOURCE, (VERIFY,) * CALLS)] * JOBS
    for batch in await asyncio.gather(*(sandbox.run_many(jobs) for _ in range(IN_FLIGHT))):
        assert batch == [[Value(1.0)] * CALLS] * JOBS, batch
    return IN_FLIGHT * JOBS * CALLS


async def one_by_one(sandbox: Any) -> int:
    for _ in range(20):
        assert await sandbox.run(SOURCE, [VERIFY]) == [Value(1.0)]
    return 20


async def fresh_python(_: Any) -> int:
    done = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-c", PLAIN, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    assert await done.wait() == 0
    return 1


WAYS: dict[str, Callable[[Any], Awaitable[int]]] = {
    "in_batches": in_batches,
    "one_by_one": one_by_one,
    "fresh_python": fresh_python,
}


async def measure(sandboxes: list[Any]) -> dict[str, float]:
    """Medians of verifications a second, all actors together; ratios to the named alternatives."""
    rates: dict[str, list[float]] = {name: [] for name in WAYS}
    for turn in range(ROUNDS + 1):
        for name, way in WAYS.items():
            start = time.perf_counter()
            done = sum(await asyncio.gather(*map(way, sandboxes)))
            if turn > 0:  # the first opens the children
                rates[name].append(done / (time.perf_counter() - start))
    middle = {name: statistics.median(each) for name, each in rates.items()}
    return {
        **{f"{name}_per_second": rate for name, rate in middle.items()},
        "in_batches_best_per_second": max(rates["in_batches"]),
        "in_batches_vs_one_by_one": middle["in_batches"] / middle["one_by_one"],
        "in_batches_vs_fresh_python": middle["in_batches"] / middle["fresh_python"],
    }


async def of_actors(config: Config) -> tuple[dict[str, float], str]:
    """The figures of actors made for it, and the rung that they stand on."""
    names = [f"sandbox-{number}" for number in range(ACTORS)]
    posts = [
        Post("pool", "actors.pool:PoolActor"),
        *(Post(name, "actors.sandbox:SandboxActor") for name in names),
    ]
    made = [roster.make(replace(post, restarts=-1), config) for post in posts]
    try:
        peers = Peers(config.namespace, patience=120.0)
        sandboxes = [peers[name] for name in names]
        await asyncio.gather(*(sandbox.ready() for sandbox in sandboxes))
        figures = await measure(sandboxes)
        return figures, str((await sandboxes[0].health())["rung"])
    finally:
        for actor in made:
            ray.kill(actor, no_restart=True)


def main() -> None:
    root = os.getcwd()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        run = {"name": "bench-sandbox", "folder": folder}
        config = Config.model_validate(
            {"run": run, "sandbox": {"count": ACTORS}, "pool": {"map_size_gib": 0.1}}
        )
        ray.init(
            address="local", num_cpus=ACTORS, include_dashboard=False, log_to_driver=False,
            runtime_env={"env_vars": {"PYTHONPATH": root}},
        )  # fmt: skip
        try:
            figures, rung = asyncio.run(of_actors(config))
        finally:
            ray.shutdown()
    where = f"rung {rung}, {len(os.sched_getaffinity(0))} CPUs, load {os.getloadavg()[0]:.1f}"
    print(f"{ACTORS} sandbox actors, verifications a second, all together ({where})")
    for name, value in figures.items():
        print(f"  {name:32} {value:12.1f}")
    print(json.dumps({"sandbox_actors": figures}))


if __name__ == "__main__":
    main()
