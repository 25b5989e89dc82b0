"""Sandboxes as one executor: faults of the infrastructure move a job on, kills do not lose it."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest
import ray

from actors import roster
from actors.peers import Peers, PeerUnavailable
from actors.roster import Post
from actors.sandboxes import PLACES_TRIED, SandboxGroup
from cluster.config import Config
from envpool.composition.chains import SearchSettings
from envpool.composition.quotas import Quotas
from envpool.composition.search import FrontierSearch
from envpool.contract import Recipe
from envpool.members import Program
from envpool.sandbox import (
    Call,
    Done,
    Fault,
    FaultKind,
    InfrastructureFault,
    Job,
    LocalExecutor,
    Mode,
    SandboxUnavailable,
    Value,
)
from tests.actors.conftest import ROOT, Raise, kill
from tests.envpool.composition.bricks import shipped_bricks

SOURCE = (ROOT / "envpool" / "bricks" / "strings" / "upper_case.py").read_text(encoding="utf-8")
HEAD = """import random
from envpool import Environment


class Looped(Environment):
    rule = "It never ends."

    def sample(self, rng: random.Random, level: int) -> int:
        return 1

"""
POOL = Post("pool", "actors.pool:PoolActor")
SANDBOX = Post("sandbox-0", "actors.sandbox:SandboxActor")


class ScriptedPlaces:
    """Stands where `Peers` does: each place raises what it is told to, or answers each job with its own name."""

    def __init__(self, faults: dict[str, Exception]) -> None:
        self.faults = faults
        self.asked: list[str] = []
        self.batches: list[list[Job]] = []

    def __getitem__(self, name: str) -> ScriptedPlaces._Place:
        return self._Place(self, name)

    class _Place:
        def __init__(self, places: ScriptedPlaces, name: str) -> None:
            self.places, self.name = places, name

        async def run_many(self, jobs: Sequence[Job]) -> list[Done]:
            self.places.asked.append(self.name)
            self.places.batches.append(list(jobs))
            await asyncio.sleep(0)
            fault = self.places.faults.get(self.name)
            if isinstance(fault, InfrastructureFault):  # is told job by job
                return [fault for _ in jobs]
            if fault is not None:
                raise fault
            return [[Value(self.name)] for _ in jobs]


@pytest.mark.parametrize(
    "fault", [InfrastructureFault("no fork"), SandboxUnavailable("no seccomp"), PeerUnavailable("away")]
)
async def test_a_job_that_the_infrastructure_spoils_is_done_at_another_place(fault: Exception) -> None:
    whole = ScriptedPlaces({})
    await SandboxGroup(whole, lambda: 4).run(SOURCE, [])  # type: ignore[arg-type]
    places = ScriptedPlaces({whole.asked[0]: fault})
    assert await SandboxGroup(places, lambda: 4).run(SOURCE, []) != [Value(whole.asked[0])]  # type: ignore[arg-type]
    assert places.asked[0] == whole.asked[0], "a program keeps to its place while it can"
    assert len(places.asked) == 2


async def test_a_job_that_fails_everywhere_is_no_verdict() -> None:
    places = ScriptedPlaces({f"sandbox-{k}": InfrastructureFault(f"fault {k}") for k in range(4)})
    with pytest.raises(InfrastructureFault, match="fault"):
        await SandboxGroup(places, lambda: 4).run(SOURCE, [])  # type: ignore[arg-type]
    assert len(set(places.asked)) == PLACES_TRIED


async def test_a_fault_that_is_not_the_infrastructures_is_not_tried_again() -> None:
    places = ScriptedPlaces({f"sandbox-{k}": KeyError("ours") for k in range(4)})
    with pytest.raises(KeyError):
        await SandboxGroup(places, lambda: 4).run(SOURCE, [])  # type: ignore[arg-type]
    assert len(places.asked) == 1


async def test_jobs_outlive_the_kill_of_their_sandbox_and_no_process_of_it_stays(
    make: Raise, peers: Peers, tmp_path: Path
) -> None:
    make(POOL)
    make(SANDBOX)
    group = SandboxGroup(peers, lambda: 1)
    calls = [Call("solve", ("tree",))] * 200
    assert await group.run(SOURCE, calls[:1]) == [Value("TREE")]
    health = await peers["sandbox-0"].health()
    zygotes = psutil.Process(health["pid"]).children(recursive=True)
    jobs = [asyncio.create_task(group.run(SOURCE, calls, mode=Mode.SAMPLE, replica=k % 2)) for k in range(4)]
    await asyncio.sleep(0.2)
    kill(health["pid"])
    assert await asyncio.gather(*jobs) == [[Value("TREE")] * 200] * 4
    _, alive = psutil.wait_procs(zygotes, timeout=3)
    assert zygotes and not alive


async def test_a_stopped_sandbox_has_no_processes(make: Raise, peers: Peers) -> None:
    make(POOL)
    make(SANDBOX)
    await SandboxGroup(peers, lambda: 1).run(SOURCE, [Call("solve", ("tree",))])
    health = await peers["sandbox-0"].health()
    zygotes = psutil.Process(health["pid"]).children(recursive=True)
    await peers["sandbox-0"].stop()
    _, alive = psutil.wait_procs(zygotes, timeout=3)
    assert zygotes and not alive


async def test_a_batch_in_one_call_is_seen_while_it_runs_and_counted(
    make: Raise, peers: Peers, config: Config
) -> None:
    make(POOL)
    soon = config.model_copy(update={"sandbox": config.sandbox.model_copy(update={"cpu_seconds": 2.0})})
    actor = roster.make(SANDBOX, soon)
    try:
        await _batch_and_loop(peers)
    finally:
        ray.kill(actor, no_restart=True)


async def _batch_and_loop(peers: Peers) -> None:
    looped = HEAD + "    def solve(self, x: int) -> int:\n        for _ in range(10 ** 9): pass\n"
    jobs = [Job(SOURCE, (Call("solve", ("a",)), Call("solve", ("b",)))) for _ in range(50)]
    sandbox = peers["sandbox-0"]
    assert await sandbox.run_many(jobs) == [[Value("A"), Value("B")]] * 50
    told = (await sandbox.health())["gauges"]
    assert (told["jobs"], told["calls"], told["verdict_ok"], told["queue"]) == (50, 100, 100, 0)
    assert told["forks"] == 1 and told["runs_per_second"] > 0 and told["p99_seconds"] >= told["p50_seconds"] > 0
    slow = asyncio.create_task(sandbox.run_many([Job(looped, (Call("solve", (1,)),), Mode.SAMPLE, 1)]))
    while not (running := (await sandbox.health())["running"]):
        await asyncio.sleep(0.05)
    [now] = running
    assert (now["program"], now["mode"], now["replica"]) == (Program(looped, "", "", "", "").id, "sample", 1)
    assert 0 <= time.time() - now["since"] < 60
    assert (await sandbox.health())["gauges"]["queue"] == 1
    [[result]] = await slow
    assert isinstance(result, Fault) and result.kind is FaultKind.CPU_LIMIT
    assert (await sandbox.health())["rung"] in ("strict", "standard")


async def test_a_full_sandbox_refuses_before_it_begins_and_the_group_waits_for_room(
    make: Raise, peers: Peers, config: Config
) -> None:
    tight = config.model_copy(update={"sandbox": config.sandbox.model_copy(update={"queue": 8})})
    make(POOL)
    actor = roster.make(SANDBOX, tight)
    try:
        jobs = [Job(SOURCE, (Call("solve", ("a",)),) * 20, Mode.SAMPLE) for _ in range(8)]
        busy = [asyncio.create_task(SandboxGroup(peers, lambda: 1).run_many(jobs)) for _ in range(6)]
        assert await asyncio.gather(*busy) == [[[Value("A")] * 20] * 8] * 6
        told = (await peers["sandbox-0"].health())["gauges"]
        assert told["refused_full"] > 0, "some had to wait"
        assert told["jobs"] == 48, "and none was done twice, lost, or made a fault of"
    finally:
        ray.kill(actor, no_restart=True)


@pytest.mark.timeout(120)  # it would never end
async def test_one_that_is_moved_ends_while_jobs_go_on_arriving(make: Raise, peers: Peers) -> None:
    make(POOL)
    make(SANDBOX)
    make(Post("sandbox-1", "actors.sandbox:SandboxActor"))
    sources = [f"{SOURCE}\n# {n}" for n in range(8)]
    group, done, moved = SandboxGroup(peers, lambda: 2), 0, asyncio.Event()

    async def ask(source: str) -> None:
        nonlocal done
        while not moved.is_set():
            assert await group.run(source, [Call("solve", ("a",))]) == [Value("A")]
            done += 1

    asking = [asyncio.create_task(ask(source)) for source in sources]
    await peers["sandbox-0"].drain()
    before = done
    while done < before + 50:
        await asyncio.sleep(0.01)
    moved.set()
    await asyncio.gather(*asking)


async def test_one_that_has_not_started_leaves_at_once(make: Raise, peers: Peers) -> None:
    make(SANDBOX)  # and no pool, which it waits for
    await peers["sandbox-0"].drain()
    assert (await peers["sandbox-0"].heartbeat())["leaving"]
    await peers["sandbox-0"].stop()


class LocalPlaces:
    """Stands where `Peers` does: every place is the same executor of this process."""

    def __init__(self, executor: LocalExecutor) -> None:
        self.executor = executor

    def __getitem__(self, name: str) -> LocalExecutor:
        return self.executor


async def test_a_search_is_a_job_that_the_sandboxes_of_a_run_take_like_any_other() -> None:
    here = LocalExecutor()
    bricks = await shipped_bricks(here, ["numbers/*"])
    found = []
    for executor in (here, SandboxGroup(LocalPlaces(here), lambda: 2)):  # type: ignore[arg-type]
        search = FrontierSearch(executor, bricks, SearchSettings(depth=3))
        starts = [Recipe(id, 0, 0) for id in search.bricks[:4]]
        chains = [chain async for chain in search.chains(random.Random(0), starts, Quotas(9))]
        assert await search.confirmed(chains[:3]) == chains[:3]
        found.append(chains)
    here.close()
    assert found[0] == found[1] and max(chain.size for chain in found[0]) == 3
