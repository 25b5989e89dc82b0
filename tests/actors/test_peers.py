"""Calls by name, through kills, restarts and successors of the peer."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
import ray
from ray.exceptions import ActorUnschedulableError

from actors import roster
from actors.peers import Peers, PeerUnavailable
from actors.roster import Place
from cluster.config import Config
from tests.actors.conftest import Raise, kill
from tests.actors.scripted import scripted


async def test_a_call_finds_a_peer_that_was_killed_and_restarted(make: Raise, peers: Peers) -> None:
    make(scripted())
    before = await peers.scripted.pid()
    kill(before)
    assert await peers.scripted.pid() != before


async def test_a_call_under_way_when_its_peer_is_killed_is_delivered_again(
    make: Raise, peers: Peers, tmp_path: Path
) -> None:
    make(scripted())
    mark = tmp_path / "mark"
    call = asyncio.create_task(peers.scripted.delivered(str(mark)))
    while not mark.exists() or not mark.read_text().endswith("\n"):
        await asyncio.sleep(0.05)
    first = int(mark.read_text())
    kill(first)
    second = await call
    assert second != first
    assert [int(line) for line in mark.read_text().split()] == [first, second]


async def test_a_new_actor_under_the_same_name_is_found(make: Raise, peers: Peers) -> None:
    first = make(scripted())
    assert await peers.scripted.count() == 1
    ray.kill(first, no_restart=True)
    call = asyncio.create_task(peers.scripted.count())
    make(scripted())
    assert await call == 1


async def test_a_peer_that_does_not_exist_yet_is_waited_for(make: Raise, peers: Peers) -> None:
    call = asyncio.create_task(peers["later"].count())
    await asyncio.sleep(0.3)
    make(scripted("later"))
    assert await call == 1


async def test_a_peer_that_was_meant_for_a_node_that_died_meanwhile_is_waited_for(
    make: Raise, peers: Peers, config: Config
) -> None:
    lost = roster.make(replace(scripted(), place=Place.NODE, node="ab" * 28), config)
    with pytest.raises(ActorUnschedulableError):
        await lost.count.remote()
    peers.scripted._known = lost  # asked before, and not looked up again until it fails
    call = asyncio.create_task(peers.scripted.count())
    make(scripted())
    assert await call == 1


async def test_the_peers_own_error_reaches_the_caller_at_once(make: Raise, peers: Peers) -> None:
    make(scripted())
    await peers.scripted.count()
    with pytest.raises(ValueError, match="not like this"):
        await peers.scripted.refuse("not like this")
    assert await peers.scripted.count() == 2, "the call was not repeated and the peer lives on"


async def test_a_peer_that_stays_away_is_unavailable_after_the_callers_patience(config: Config) -> None:
    started = time.monotonic()
    with pytest.raises(PeerUnavailable, match="nobody did not answer ask"):
        await Peers(config.namespace, patience=0.5).nobody.ask()
    assert time.monotonic() - started >= 0.5


async def test_one_peer_carries_many_calls_through_a_kill(make: Raise, peers: Peers) -> None:
    make(scripted())
    kill(await peers.scripted.pid())
    pids = await asyncio.gather(*(peers.scripted.pid() for _ in range(50)))
    assert len(set(pids)) == 1
    assert os.getpid() not in pids
