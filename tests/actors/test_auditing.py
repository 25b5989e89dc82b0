"""A turncoat in a run: real sandboxes, pool, buffer and curator, a solver with a simulated engine, the learner here."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import ray

from actors import roster
from actors.auditing import ALARMED, Alarms, Auditing
from actors.base import Actor
from actors.calibrator import CalibratorActor
from actors.peers import Peers
from actors.pool import AUDIT_SECRET
from actors.roster import Post
from actors.solver import SolverActor
from cluster.config import Config
from envpool.answer_counts import AnswerCount
from envpool.contract import Recipe
from envpool.members import Composite, Member, Origin, Program, Status
from envpool.sandbox import Call, Done, Job, Value
from envpool.sandbox.audit import Observation
from envpool.sandbox.executor import SECOND
from envpool.shipped import shipped
from envpool.store import PoolReader
from envpool.store.distrust import Distrusted
from tests.actors.conftest import Raise, kill
from tests.actors.scripted_curator import CURATOR as SCRIPTED
from tests.actors.test_buffer_actor import group

POOL, METRICS = Post("pool", "actors.pool:PoolActor"), Post("metrics", "actors.metrics:MetricsActor")
BUFFER, CURATOR = Post("buffer", "actors.buffer:BufferActor"), Post("curator", "actors.curator:CuratorActor")
SANDBOXES = [Post(f"sandbox-{n}", "actors.sandbox:SandboxActor") for n in range(2)]
SOLVER = Post("solver-0", "tests.simulated.solver:SimulatedSolver")
PATIENCE_SECONDS = 120

SOURCE = '''
import random
from envpool import Environment


class LastNumber(Environment):
    rule = "Give the last number of the input list."
    calls = 0

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 99) for _ in range(level + 3)]

    def solve(self, x: list[int]) -> int:
        LastNumber.calls += 1
        return x[-1] + (LastNumber.calls > 20)
'''
"""It lies from the 21st answer of a child on."""


def program(source: str, name: str, rule: str, origin: Origin) -> Member:
    return Member(Program(source, name, rule, "list[int]", "int"), origin)


(FIRST,) = shipped("none", ("lists/first_number",), ())
TURNCOAT = program(SOURCE, "LastNumber", "Give the last number of the input list.", Origin.POLICY)
HONEST = program(FIRST.source, "FirstNumber", "Give the first number of the input list.", Origin.SEED)
PAIR = Member(
    Composite("PARALLEL", ((TURNCOAT.id,), (HONEST.id,)), "list[int]", "int"),
    Origin.COMPOSER,
    parents=(TURNCOAT.id, HONEST.id),
)


def of(member: Member, name: str) -> dict[str, Any]:
    return group(name) | {"recipe": {"member": member.id, "seed": 1, "level": 0, "attempt": 0}}


@asynccontextmanager
async def learning(peers: Peers) -> AsyncIterator[list[str]]:
    """Takes what the buffer gives and calls it trained; the members asked, in order."""
    members: list[str] = []

    async def learn() -> None:
        while True:
            if taken := await peers.buffer.take(0):
                members.extend(each["recipe"]["member"] for each in taken)
                await peers.buffer.trained([each["id"] for each in taken], 0)
                await peers.buffer.checkpointed(0)
            await asyncio.sleep(0.01)

    task = asyncio.create_task(learn())
    try:
        yield members
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(condition: Callable[[], Awaitable[Any]]) -> Any:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (value := await condition()):
            await asyncio.sleep(0.05)
    return value


@pytest.mark.timeout(240)
async def test_a_turncoat_is_caught_quarantined_with_evidence_and_what_it_touched_is_dropped(
    config: Config, peers: Peers
) -> None:
    sections = {"sandbox": config.sandbox.model_copy(update={"count": 2, "audit_share": 0.25})}
    config = config.model_copy(update=sections)
    made = [roster.make(post, config) for post in (POOL, METRICS, BUFFER, *SANDBOXES, CURATOR)]
    try:
        await peers.pool.put_state("phase", "training")
        for member in (TURNCOAT, HONEST, PAIR):
            await peers.pool.admit(member.to_dict(), "a test", 0)
        made.append(roster.make(SOLVER, config))
        with PoolReader.open(config.pool_folder) as pool:
            async with learning(peers) as learnt:
                await until(lambda: said(pool.status(TURNCOAT.id) is Status.QUARANTINED))
                before = len(learnt)
                await until(lambda: said(len(learnt) > before + 20))  # the run goes on with what is left
                # One batch may have been taken just before the buffer could know.
                assert set(learnt[before + config.learner.groups_per_step :]) == {HONEST.id}

            assert pool.status(PAIR.id) is Status.QUARANTINED and pool.status(HONEST.id) is Status.ACTIVE
            assert pool.stats(TURNCOAT.id, "main") == pool.stats(PAIR.id, "main") == {}
            assert pool.stats(HONEST.id, "main")
            told = {entry.id: entry for entry in pool.journal(limit=10**6) if entry.kind == "distrust"}
            assert set(told) == {TURNCOAT.id, PAIR.id}
            evidence = told[TURNCOAT.id].evidence
            assert evidence["method"] == "solve" and evidence["level"] == evidence["recipe"]["level"]
            assert evidence["seed"] == evidence["recipe"]["seed"]
            assert int(evidence["used"]["value"]) == int(evidence["recomputed"][0]["value"]) + 1
            assert evidence["recomputed"][0] == evidence["recomputed"][1]
            assert "audit: solve for seed" in told[TURNCOAT.id].reason

        assert {each["member"] for each in await peers.curator.choose(50)} == {HONEST.id}
        [alarm] = await until(lambda: alarms_of(peers))
        assert TURNCOAT.id in alarm and "and 1 composed of it" in alarm
        gauges = (await peers["solver-0"].health())["gauges"]
        assert gauges["audits_refuted"] >= 1 and gauges["audits_agreed"] > 0
        assert gauges["audits_unconfirmed"] == 0
        await peers["solver-0"].drain()
        assert (await peers["solver-0"].health())["gauges"]["audits_waiting"] == 0, "it leaves nothing unlooked at"
    finally:
        for actor in made:
            ray.kill(actor, no_restart=True)


async def said(value: bool) -> bool:
    return value


async def alarms_of(peers: Peers) -> list[str]:
    alarms = (await peers.metrics.status())["alarms"]
    return [alarm["text"] for alarm in alarms if alarm["kind"] == "audit"]


async def test_a_finding_is_an_alarm_though_whoever_made_it_or_gives_it_is_killed(make: Raise, peers: Peers) -> None:
    make(POOL)
    for member in (TURNCOAT, HONEST):
        await peers.pool.admit(member.to_dict(), "a test", 0)
    await peers.pool.distrust(TURNCOAT.id, "audit: it lies", {"seed": 1}, 3)  # and nobody hears the answer
    make(METRICS)
    assert await until(lambda: alarms_of(peers)) == [f"{TURNCOAT.id} is quarantined: audit: it lies"]

    async def kept() -> bool:
        return bool(await peers.pool.state(ALARMED))

    await until(kept)
    kill((await peers.metrics.health())["pid"])
    await peers.pool.distrust(HONEST.id, "audit: it lies, too", {"seed": 2}, 4)
    assert await until(lambda: alarms_of(peers)) == [f"{HONEST.id} is quarantined: audit: it lies, too"]


class _Leaving:
    """What `Auditing` needs of an actor: sandboxes of which the second and third contradict the first."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.refused: set[str] = set()
        self.stuck: set[str] = set()
        """sources of which no fork ever answers"""
        self.config = SimpleNamespace(sandbox=SimpleNamespace(audit_share=1.0))
        self.state: dict[str, Any] = {AUDIT_SECRET: b"a secret"}
        self.pool_reader = SimpleNamespace(state=self.state.get)
        self.sandboxes = SimpleNamespace(run_many=self._run_many)
        self.peers = SimpleNamespace(pool=SimpleNamespace(distrust=self._distrust))

    def learnt(self, *members: str) -> Auditing:
        auditing = Auditing(self)  # type: ignore[arg-type]
        for name in members:
            auditing.observe(Observation(name, name, Recipe(name, 1, 0), (Call("solve", (1,)),), (Value(1),)))
        return auditing

    async def _run_many(self, jobs: Sequence[Job]) -> list[Done]:
        await asyncio.sleep(0.01)
        if any(job.source in self.stuck and (job.replica != SECOND or len(jobs) == 1) for job in jobs):
            await asyncio.Event().wait()
        return [[Value(2)] for _ in jobs]

    async def _distrust(self, member: str, *_: object) -> list[str]:
        if member in self.refused:
            raise RuntimeError(f"{member} was never admitted")
        self.told.append(member)
        return [member]


async def test_what_an_actor_learnt_just_before_it_leaves_is_recomputed_and_told() -> None:
    auditing = (leaving := _Leaving()).learnt("p1", "p2")
    await auditing.finish()
    assert leaving.told == ["p1", "p2"] and auditing.metrics()["audits_waiting"] == 0


async def test_what_was_found_is_told_though_the_time_to_finish_ends_with_another_audit_under_way() -> None:
    (leaving := _Leaving()).stuck = {"slow"}
    auditing = leaving.learnt("liar", "slow")
    await auditing.finish(seconds=0.3)
    assert leaving.told == ["liar"] and auditing.metrics()["audits_waiting"] == 1


async def test_two_that_drain_at_once_tell_each_finding_once() -> None:
    auditing = (leaving := _Leaving()).learnt("p1", "p2", "p3")
    await asyncio.gather(auditing.finish(), auditing.finish())
    assert leaving.told == ["p1", "p2", "p3"]


@pytest.mark.parametrize(("ordered", "told"), [(None, ["p1"]), ({"now": False}, ["p1"]), ({"now": True}, [])])
async def test_an_actor_that_is_stopped_tells_what_it_learnt_last_unless_that_is_to_be_at_once(
    ordered: dict[str, bool] | None, told: list[str]
) -> None:
    auditing = (leaving := _Leaving()).learnt("p1")
    leaving.state["stopping"] = ordered
    await auditing.end()
    assert leaving.told == told


@pytest.mark.parametrize("kind", [SolverActor, CalibratorActor])
async def test_whoever_learns_from_sandboxes_ends_its_audit_when_it_is_stopped(
    kind: type[Actor], tmp_path: Path
) -> None:
    config = Config.model_validate({"run": {"name": "ending", "folder": str(tmp_path)}})
    stopped = kind(config.model_dump(mode="json"), "solver-0")
    stopped._starting.cancel()
    leaving = _Leaving()
    stopped._auditing = leaving.learnt("p1")  # type: ignore[attr-defined]
    await stopped.stop()
    assert leaving.told == ["p1"]


async def test_an_alarm_that_the_pool_cannot_note_any_more_does_not_keep_its_actor_from_ending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def put_state(*_: object) -> None:
        raise RuntimeError("the pool is closed")

    async def give(text: str, finding: dict[str, Any]) -> None:
        given.append(text)

    given: list[str] = []
    found = Distrusted(1, "p1", (), "it lies", 0, {})
    monkeypatch.setattr("actors.auditing.findings", lambda *_: ([found], 1))
    actor = SimpleNamespace(
        pool_reader=SimpleNamespace(state=lambda key: 0, last_sequence=lambda: 1),
        peers=SimpleNamespace(pool=SimpleNamespace(put_state=put_state)),
    )
    await Alarms(actor, give).finish()  # type: ignore[arg-type]
    assert given == ["p1 is quarantined: it lies"]


async def test_a_finding_that_the_pool_does_not_take_keeps_no_other_back_and_is_told_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("actors.auditing.ROUND_SECONDS", 0.01)
    (leaving := _Leaving()).refused = {"p1"}
    auditing = leaving.learnt("p1", "p2")
    with pytest.raises(ExceptionGroup) as raised:
        await auditing.once()
    assert "p1 was never admitted" in str(raised.value.exceptions[0])
    assert leaving.told == ["p2"] and auditing.metrics()["audits_untold"] == 1
    await auditing.finish()  # ends, and raises nothing
    leaving.refused.clear()
    await auditing.finish()
    assert leaving.told == ["p2", "p1"] and auditing.metrics()["audits_untold"] == 0


async def test_a_round_that_never_ends_does_not_hold_back_an_actor_that_leaves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("actors.auditing.ROUND_SECONDS", 0.01)
    (leaving := _Leaving()).stuck = {"slow"}
    auditing = leaving.learnt("slow")
    loop = asyncio.create_task(auditing.once())
    await asyncio.sleep(0.1)
    auditing.leave()
    async with asyncio.timeout(PATIENCE_SECONDS):
        await loop
        await auditing.finish(seconds=0.1)


async def test_groups_that_wait_and_those_that_arrive_are_dropped_by_the_buffer(make: Raise, peers: Peers) -> None:
    make(POOL)
    make(BUFFER)
    await peers.pool.put_state("phase", "training")
    for member in (TURNCOAT, HONEST, PAIR):
        await peers.pool.admit(member.to_dict(), "a test", 0)
    permits = await peers.buffer.reserve("solver-0", 4)
    for permit, member in zip(permits, (TURNCOAT, PAIR, HONEST), strict=False):
        assert await peers.buffer.put(permit, of(member, permit)) == "ready"
    await peers.pool.record([AnswerCount(TURNCOAT.id, "main", 0, 8, 4, 8)])

    assert set(await peers.pool.distrust(TURNCOAT.id, "audit", {"seed": 1}, 3)) == {TURNCOAT.id, PAIR.id}
    assert await peers.buffer.take(0) is None, "of three that waited, one is left, and a batch is two"
    assert await peers.buffer.put(permits[3], of(PAIR, "late")) == "dropped"
    (permit,) = await peers.buffer.reserve("solver-0", 1)
    assert await peers.buffer.put(permit, of(HONEST, "another")) == "ready"
    assert {each["recipe"]["member"] for each in await peers.buffer.take(0)} == {HONEST.id}
    counts = (await peers.buffer.health())["gauges"]
    assert counts["dropped: distrusted"] == 3
    assert await peers.pool.groups("buffer/") == sorted(f"buffer/{key}" for key in (permits[2], permit)), (
        "and their bodies are gone from the pool"
    )
    assert await peers.pool.distrust(TURNCOAT.id, "audit", {"seed": 1}, 3) == []


async def test_a_recipe_that_was_drawn_before_its_member_was_found_out_is_not_played(make: Raise, peers: Peers) -> None:
    for post in (POOL, METRICS, BUFFER, SANDBOXES[0], SCRIPTED):
        make(post)
    await peers.pool.put_state("phase", "training")
    await peers.pool.admit(TURNCOAT.to_dict(), "a test", 0)
    await peers.pool.distrust(TURNCOAT.id, "audit", {"seed": 1}, 0)
    await peers.curator.tell(TURNCOAT.id)  # as one that has not heard of it yet
    make(SOLVER)

    async def given_back() -> bool:
        return (await peers.buffer.health())["gauges"].get("dropped: distrusted", 0) >= 4

    await until(given_back)
    gauges = (await peers["solver-0"].health())["gauges"]
    assert gauges["groups"] == gauges["requests"] == 0 and await peers.curator.recorded() == []
