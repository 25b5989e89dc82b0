"""The pool actor under kills: what was answered is durable, and what was asked twice happened once."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

from actors.peers import Peers
from actors.pool import PoolActor
from actors.roster import Post
from cluster.config import Config
from envpool.members import Member, Origin, Program, Status
from envpool.store import PoolReader, PoolWriter, StoreError
from tests.actors.conftest import Raise, kill

POOL = Post("pool", "actors.pool:PoolActor")


def member(k: int) -> dict[str, Any]:
    source = f"# program {k}\n"
    return Member(Program(source, f"P{k}", f"Rule {k}.", "int", "int"), Origin.GRAMMAR).to_dict()


def admissions(reader: PoolReader) -> Counter[str]:
    return Counter(entry.id for entry in reader.journal(0, 10**6) if entry.kind == "admit")


async def test_no_admission_is_lost_or_doubled_when_the_pool_is_killed_again_and_again(
    make: Raise, peers: Peers, config: Config
) -> None:
    make(POOL)
    await peers.pool.ready()
    answered: list[str] = []

    async def admit(k: int) -> None:
        record = member(k)
        await peers.pool.admit(record, "made", 0)
        answered.append(Member.from_dict(record).id)

    with PoolReader.open(config.run_folder / "pool") as reader:
        for round in range(3):
            calls = [asyncio.create_task(admit(k)) for k in range(200 * round, 200 * round + 300)]
            while len(answered) < 300 * round + 40:
                await asyncio.sleep(0.005)
            kill((await peers.pool.health())["pid"])
            seen = set(answered)
            assert seen <= set(reader.ids()), "what was answered before the kill is there after it"
            await asyncio.gather(*calls)
        times = admissions(reader)
        assert set(answered) == set(times) == set(reader.ids(status=Status.ACTIVE))
        assert set(times.values()) == {1}


async def test_the_pool_waits_for_a_lock_that_its_predecessor_still_holds(
    make: Raise, peers: Peers, config: Config
) -> None:
    before = PoolWriter.open(config.run_folder / "pool")
    make(POOL)
    admitted = asyncio.create_task(peers.pool.admit(member(1), "", 0))
    await asyncio.sleep(1.0)
    assert not admitted.done()
    before.close()
    assert await admitted


async def test_an_operation_that_is_refused_raises_and_the_others_of_its_group_are_done(
    make: Raise, peers: Peers, config: Config
) -> None:
    make(POOL)
    calls = [peers.pool.admit(member(k), "", 0) for k in range(20)]
    calls.insert(7, peers.pool.transition("p-unknown", "resting", "", 0))
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert "never admitted" in str(outcomes.pop(7))
    assert outcomes == [True] * 20


async def test_the_pool_reads_its_own_state_through_the_one_handle_that_it_has(tmp_path: Path) -> None:
    run = {"run": {"name": "alone", "folder": str(tmp_path)}, "pool": {"map_size_gib": 0.1}}
    actor = PoolActor(Config.model_validate(run).model_dump(mode="json"), "pool")
    await actor.ready()
    assert actor.wanted.counts["sandbox"] == 2
    await actor.stop()


async def test_one_bad_change_among_many_that_travel_together_fails_its_caller_alone(
    make: Raise, peers: Peers
) -> None:
    make(POOL)
    await peers.pool.ready()
    bad = peers.pool.transition("nobody", Status.RESTING.value, "why", 0)
    good = [peers.pool.admit(member(k), "made", 0) for k in range(40)]
    answers = await asyncio.gather(*good[:7], bad, *good[7:], return_exceptions=True)
    assert isinstance(answers.pop(7), StoreError)
    assert answers == [True] * 40
