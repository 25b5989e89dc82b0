"""Throughput while a run is scaled: sandboxes 2 -> 12 -> 3 and solvers 1 -> 2 -> 1 under a stream of numbered jobs.

Supervisor, pool, draining and routing are real; what a sandbox or a solver does is simulated: it waits 100 ms for each
job, one at a time, so that the machine's cores do not bound the throughput. The named alternative is the first size of
the same run. A stream that lost a job or did one twice fails.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import ray

from actors import roster
from tests.runs import ROOT
from tests.simulated.light import JOB_SECONDS, light
from tests.simulated.runs import SimulatedRun, simulated
from tests.simulated.stream import Stream

SIZES = {"sandbox": (2, 12, 3), "solver": (1, 2, 1)}
AT_ONCE = {"sandbox": 96, "solver": 24}
SECONDS = 10.0
LIMIT_SECONDS = 300.0


def main() -> None:
    """Prints jobs a second at each size, and the ratio to the first."""
    ray.init(
        address="local", num_cpus=2, include_dashboard=False, log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": str(ROOT)}},
    )  # fmt: skip
    try:
        with tempfile.TemporaryDirectory(prefix="bench-scale-") as scratch:
            actors = light({"sandbox": "MarkingSandbox", "solver": "MarkingSolver"})
            config = simulated("scale", Path(scratch), actors)
            run = SimulatedRun(config)
            try:
                run.begin(LIMIT_SECONDS)
                run.until(lambda: run.status().get("phase") == "training", LIMIT_SECONDS)
                for kind in SIZES:
                    asyncio.run(measure(run, kind))
            finally:
                roster.end(config)
    finally:
        ray.shutdown()


async def measure(run: SimulatedRun, kind: str) -> None:
    """One kind. Raises RuntimeError where a job was lost or done twice."""
    stream = Stream(run, kind, AT_ONCE[kind])
    await stream.over(*SIZES[kind], seconds=SECONDS)
    done = stream.executions()
    if stream.results != stream.expected() or set(done.values()) != {1} or set(done) != set(stream.results):
        raise RuntimeError(f"{kind}: a job was lost or done twice")
    print(f"{kind}: {stream.counted:,} jobs, each done once; at best {1 / JOB_SECONDS:.0f} a second each")
    for size, rate in zip(SIZES[kind], stream.rates, strict=True):
        print(f"  {size:>3} {kind:<8} {rate:>8.1f} jobs/s   {rate / stream.rates[0]:>5.2f}x")


if __name__ == "__main__":
    main()
