"""The generator actor: what it does when the model fails, when it is killed, when it is stopped, and who else writes.

Novelty embeds by hash and the solver knows its answers (`tests.simulated`); pool, gates, sandbox, metrics, endpoint and
its server are real.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.peers import Peers
from cluster.config import Config
from envpool.generation import parse_reply
from envpool.members import Origin
from envpool.store import PoolReader
from envpool.store.encoding import unpack
from tests.actors.conftest import Raise, kill
from tests.actors.writing import begun, told, until, written
from tests.corpus import REPLIES
from tests.simulated.knowing import Known, tell
from tests.training.policy.scripted_endpoint import Reply, ScriptedEndpoint, choices, refusal, served, slowly

SOUND = ("gcd_sum", "roman_numeral", "bracket_depth", "collatz_steps", "caesar_shift", "clock_time")
TEXTS = [(REPLIES / f"{name}.txt").read_text(encoding="utf-8") for name in SOUND]
SOURCES = [parse_reply(text) for text in TEXTS]
SEEDS = ["inversion_count", "subset_sum"]
GENERATOR, ENDPOINT = "writer.generator-0", "writer.solver-0"
LONG_SECONDS = 30.0
SIMULATED = {"actors": {"novelty": "tests.simulated.novelty:SimulatedNovelty"}}


class Server:
    """What the scripted endpoint does next, as a test sets it."""

    def __init__(self) -> None:
        self.does = "writes"
        self.groups: list[list[str]] = []
        """What it still has to reply; then it is busy."""

    def script(self, request: dict[str, Any], before: int) -> Reply:
        if self.does == "hangs up":
            raise ConnectionAbortedError("the test's server hangs up, as it was told")
        if self.does == "is slow":
            return slowly(choices("too late"), 8.0)
        if self.does == "takes for ever":
            return slowly(choices("too late"), LONG_SECONDS)
        if self.does in FAULTS:
            return FAULTS[self.does]
        return choices(*self.groups.pop(0)) if self.groups else refusal(503, "busy")


FAULTS: dict[str, Reply] = {
    "limits the rate": refusal(429, "quota exceeded"),
    "breaks down": refusal(500, "out of memory"),
    "gives no choices": (200, {"choices": []}),
    "is a login page": (200, "<html>log in</html>"),
    "does not know the model": refusal(404, "no model m"),
    "refuses the request": refusal(400, "the prompt is too long"),
}
TOLD = {
    **dict(zip(FAULTS, ("quota", "memory", "no choices", "", "no model m", "too long"), strict=True)),
    "hangs up": "Connection", "is slow": "tim",
}  # fmt: skip
"""By fault: what the alarm says of it."""


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def endpoint(server: Server) -> Iterator[ScriptedEndpoint]:
    with served(server.script) as endpoint:
        yield endpoint


@pytest.fixture
def config(cluster: None, endpoint: ScriptedEndpoint, tmp_path: Path) -> Config:
    """A run whose writer is tried once more after a fault, and soon given up."""
    config = written(
        tmp_path, endpoint.url, run=SIMULATED, generator={"group_size": 3},
        pool={"seeds": SEEDS}, writer={"retries": 1, "timeout_seconds": 5.0},
    )  # fmt: skip
    tell(config.run_folder, [Known(source, (right,)) for right, source in enumerate(SOURCES, 1)])
    return config


def lines(config: Config, kind: str) -> list[dict[str, Any]]:
    """The records of that kind in the run's metrics."""
    text = (config.run_folder / "metrics.jsonl").read_text(encoding="utf-8")
    return [line for line in map(json.loads, text.splitlines()) if line["kind"] == kind]


async def writer_alarms(peers: Peers) -> list[str]:
    alarms = (await peers.metrics.status())["active_alarms"]
    return [alarm["text"] for alarm in alarms if alarm["kind"] == "writer"]


def funnel(config: Config) -> dict[str, int]:
    with PoolReader.open(config.pool_folder) as pool:
        return pool.funnel()


def admissions(config: Config) -> list[str]:
    """The programs of policies that the journal says were admitted, in order."""
    with PoolReader.open(config.pool_folder) as pool:
        return [
            entry.id for entry in pool.journal(0, 10**6) if entry.kind == "admit" and entry.origin == Origin.POLICY
        ]


async def assert_each_was_judged_once(config: Config, peers: Peers, count: int) -> None:
    """All admitted, none as a copy of itself, every one handed on with its reward, and no draft left."""

    async def handed_on() -> bool:
        return len(told(config)) >= count and not await peers.pool.groups(f"{GENERATOR}/")

    await until(handed_on)
    assert len(admissions(config)) == len(set(admissions(config))) == count
    assert funnel(config) == {"admitted": len(SEEDS) + count}
    assert [row["admitted"] for row in told(config)] == [True] * count
    assert all(row["total"] > 0.2 for row in told(config))


async def test_a_model_that_fails_is_asked_again_told_once_and_nothing_is_judged_for_it(
    make: Raise, peers: Peers, config: Config, server: Server
) -> None:
    server.does = next(iter(TOLD))
    await begun(make, peers, config)
    for count, (fault, word) in enumerate(TOLD.items()):
        server.does = fault

        async def standing(word: str = word) -> bool:
            return any(word in text for text in await writer_alarms(peers))

        await until(standing)
        assert (len(told(config)), funnel(config).get("reply", 0)) == (3 * count, 3 * count)
        server.groups, server.does = [["nothing but \ud800", "", f"more of nothing: {count}"]], "writes"

        async def goes_on(count: int = count) -> bool:
            return len(told(config)) == 3 * (count + 1)

        await until(goes_on)
    began = [line for line in lines(config, "alarm_began") if line["alarm"] == "writer"]
    assert 1 <= len(began) <= len(TOLD)
    health = await peers[GENERATOR].health()
    assert health["failures"] == 0 and health["gauges"]["policy_written"] == 3 * len(TOLD)


async def test_an_alarm_of_a_long_outage_begins_once_and_ends_with_it(
    make: Raise, peers: Peers, config: Config, server: Server, endpoint: ScriptedEndpoint
) -> None:
    server.does = "breaks down"
    await begun(make, peers, config)

    async def asked_often() -> bool:
        return len(endpoint.requests) >= 12 and bool(await writer_alarms(peers))

    async def over() -> bool:
        return not await writer_alarms(peers)

    await until(asked_often)
    server.groups, server.does = [["no program"] * 3 for _ in range(10**4)], "writes"
    await until(over)
    for kind in ("alarm_began", "alarm_ended"):
        assert [line["subject"] for line in lines(config, kind) if line["alarm"] == "writer"] == [GENERATOR]


@pytest.mark.parametrize("victim", [GENERATOR, "validator"])
async def test_a_kill_in_the_middle_of_a_group_admits_nothing_twice_and_loses_nothing(
    make: Raise, peers: Peers, config: Config, server: Server, endpoint: ScriptedEndpoint, victim: str
) -> None:
    server.groups = [TEXTS[:3], TEXTS[3:]]
    await begun(make, peers, config)
    for already in (1, 4):

        async def under_way(already: int = already) -> bool:
            return len(admissions(config)) >= already

        await until(under_way)
        kill((await peers[victim].heartbeat())["pid"])
    await assert_each_was_judged_once(config, peers, len(SOUND))
    admitted = admissions(config)
    with PoolReader.open(config.pool_folder) as pool:
        traces = [member.evidence["proposal"]["id"] for member in map(pool.get, admitted) if member is not None]
    assert sorted(traces) == sorted(row["proposal"] for row in told(config))


async def test_what_hangs_keeps_neither_a_detach_nor_a_stop_waiting(
    make: Raise, peers: Peers, config: Config, server: Server, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    slow = config.model_copy(update={"writer": config.writer.model_copy(update={"timeout_seconds": 600.0})})
    server.does = "takes for ever"
    await begun(make, peers, slow)

    async def asked() -> bool:
        return bool(endpoint.requests)

    await until(asked)
    started = time.monotonic()
    await peers[GENERATOR].drain()
    await peers[GENERATOR].stop()
    await peers[ENDPOINT].stop()
    assert time.monotonic() - started < LONG_SECONDS / 2
    assert funnel(config) == {"admitted": len(SEEDS)}


async def test_a_reply_that_the_machine_fails_has_no_verdict_and_the_others_have(
    make: Raise, peers: Peers, config: Config, server: Server
) -> None:
    server.groups = [TEXTS[:3]]
    tell(config.run_folder, [Known(SOURCES[0], (3,)), Known(SOURCES[1], ()), Known(SOURCES[2], (3,))])
    await begun(make, peers, config)

    async def handed_on() -> bool:
        return bool(told(config)) and not await peers.pool.groups(f"{GENERATOR}/")

    await until(handed_on)
    assert [row["proposal"].rpartition("/")[2] for row in told(config)] == ["0", "2"]
    assert funnel(config) == {"admitted": len(SEEDS) + 2}
    [alarm] = lines(config, "infrastructure")
    assert "1 proposals were not judged" in alarm["text"]
    assert (await peers[GENERATOR].health())["gauges"]["infrastructure_failures"] == 1


async def test_the_runs_own_policy_learns_from_what_it_writes_and_the_grammar_writes_beside_it(
    make: Raise, peers: Peers, config: Config
) -> None:
    sections = {
        "writer": config.writer.model_copy(update={"endpoint": "", "model": ""}),
        "grammar": config.grammar.model_copy(update={"enabled": True, "interval_seconds": 0.1}),
    }
    own = config.model_copy(update=sections)
    await begun(make, peers, own, "buffer", "generator-0", without=(GENERATOR, ENDPOINT))

    async def offered() -> list[str]:
        return await peers.pool.groups("buffer/")

    [key, *_] = await until(offered)
    group = unpack(await peers.pool.group(key))
    assert (group["role"], group["policy"], len(group["trajectories"])) == ("generator", "main", 3)
    assert len({trajectory["reward"] for trajectory in group["trajectories"]}) > 1  # or it would be dropped
    for trajectory in group["trajectories"]:
        parts = trajectory["parts"]
        assert (parts["validation"], parts["shaping"], trajectory["success"]) == (0.2, 0.0, True)
        assert trajectory["reward"] == pytest.approx(parts["validation"] + parts["quality"] + parts["novelty"])

    async def grammar() -> int:
        return int(await peers.pool.state("grammar") or 0)

    await until(grammar)
    gauges = (await peers["generator-0"].health())["gauges"]
    assert gauges["policy_written"] >= 3 and gauges["grammar_written"] >= 1


async def test_where_a_writer_is_configured_the_policy_writes_nothing_and_the_grammar_is_the_runs_own(
    make: Raise, peers: Peers, config: Config, server: Server
) -> None:
    grammar = config.grammar.model_copy(update={"enabled": True, "interval_seconds": 0.1})
    own = config.model_copy(update={"grammar": grammar})
    server.groups = [["no program"] * 3]
    await begun(make, peers, own, "generator-0")

    async def both() -> bool:
        return bool(told(own)) and bool(await peers.pool.state("grammar"))

    await until(both)
    assert {row["writer"] for row in told(own)} == {"writer"}
    assert (await peers["generator-0"].health())["gauges"].keys() == {"grammar_written", "grammar_admitted"}
    assert (await peers[GENERATOR].health())["gauges"].keys() == {"policy_written", "policy_admitted"}
    await asyncio.gather(*(peers[name].stop() for name in ("generator-0", GENERATOR)))
