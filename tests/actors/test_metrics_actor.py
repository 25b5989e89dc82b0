"""The metrics actor: whole lines, the rows of every trained group, a status that is never half there, alarms that
stand, and sinks that are read back where their readers read them."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pyarrow.parquet as pq
import ray
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from actors.peers import Peers
from actors.roster import Post
from cluster import wanted
from cluster.config import Config
from tests.actors.conftest import Raise, kill
from training.proposals import REWARD_PARTS

POOL = Post("pool", "actors.pool:PoolActor")
METRICS = Post("metrics", "actors.metrics:MetricsActor")
HEALTHY = {"waiting_for": "", "failures": 0, "gauges": {}}


def rows(group: str) -> list[dict[str, Any]]:
    return [
        {"group": group, "response": f"{group}-{k}", "success": bool(k), "parsed": True, "shaping": 0.1}
        for k in range(2)
    ]


async def test_rows_of_trained_groups_are_kept_however_many_groups_without_variance_pass(
    make: Raise, peers: Peers, config: Config
) -> None:
    make(POOL)
    make(METRICS)
    await peers.metrics.samples(rows("trained"), True)
    for k in range(50):
        await peers.metrics.samples(rows(f"flat-{k}"), False)
    await peers.metrics.step({"step": 1, "version": 1}, ["trained"])
    table = pq.read_table(config.run_folder / "samples" / "version-000001.parquet")
    assert table.column("response").to_pylist() == ["trained-0", "trained-1"]
    assert set(table.column("step").to_pylist()) == {1}
    line = json.loads((config.run_folder / "metrics.jsonl").read_text().splitlines()[-1])
    assert (line["kind"], line["success"], line["parsed"], line["shaping"]) == ("step", 0.5, 1.0, 0.1)


async def test_rows_of_a_group_that_waits_outlive_a_kill_and_a_stop_of_the_actor(
    make: Raise, peers: Peers, config: Config
) -> None:
    make(POOL)
    make(METRICS)
    await peers.metrics.samples(rows("early"), True)
    kill((await peers.metrics.health())["pid"])
    await peers.metrics.samples(rows("late"), True)
    await peers.metrics.stop()
    kill((await peers.metrics.health())["pid"])
    await peers.metrics.step({"step": 1, "version": 1}, ["early", "late"])
    table = pq.read_table(config.run_folder / "samples" / "version-000001.parquet")
    assert table.column("response").to_pylist() == ["early-0", "early-1", "late-0", "late-1"]
    assert list((config.run_folder / "waiting").iterdir()) == []


async def test_a_line_torn_by_a_kill_does_not_spoil_the_next_one(
    make: Raise, peers: Peers, config: Config
) -> None:
    make(POOL)
    make(METRICS)
    await peers.metrics.event("whole", {})
    kill((await peers.metrics.health())["pid"])
    with (config.run_folder / "metrics.jsonl").open("a") as file:
        file.write('{"kind": "to')
    await peers.metrics.event("next", {})
    lines = (config.run_folder / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["kind"] for line in (lines[0], lines[-1])] == ["whole", "next"]
    assert len(lines) == 3


async def until(found: Callable[[], Any]) -> Any:
    """Whatever `found` returns once it is something; the test's own limit is the one for it."""
    while not (result := await asyncio.to_thread(found)):
        await asyncio.sleep(0.1)
    return result


def lines(config: Config, kind: str) -> list[dict[str, Any]]:
    """Whole lines of that kind."""
    text = (config.run_folder / "metrics.jsonl").read_text().splitlines()
    return [line for line in map(json.loads, text) if line["kind"] == kind]


def scraped(name: str, **labels: str) -> list[float]:
    """Values of a metric as the node's agent gives them to Prometheus."""
    node = ray.nodes()[0]
    url = f"http://{node['NodeManagerAddress']}:{node['MetricsExportPort']}/metrics"
    with urllib.request.urlopen(url, timeout=10) as answer:
        page = answer.read().decode()
    labelled = [f'{key}="{value}"' for key, value in labels.items()]
    rows = [row for row in page.splitlines() if row.startswith(f"ray_{name}{{")]
    return [float(row.rsplit(" ", 1)[1]) for row in rows if all(label in row for label in labelled)]


async def test_prometheus_finds_the_figures_of_run_policies_and_actors(
    make: Raise, peers: Peers, config: Config
) -> None:
    make(POOL)
    make(METRICS)
    run = config.run.name
    solver = {"tokens_per_second": 210.5, "groups": 3.0}
    await peers.metrics.report(
        {"name": "big.solver-0", "pid": 1, **HEALTHY, "gauges": solver, "at": time.time()}
    )
    await peers.metrics.report({"name": "buffer", "pid": 1, **HEALTHY, "gauges": {"ready": 4.0}})
    await peers.metrics.samples(rows("g"), False)
    await peers.metrics.step({"step": 1, "version": 1, "loss": 0.5, "policy": "big"}, [])
    await until(lambda: scraped("envolve_loss", run=run, policy="big") == [0.5])
    await until(lambda: scraped("envolve_success", run=run, policy="main", role="solver") == [0.5])
    await until(
        lambda: (
            scraped("envolve_solver_tokens_per_second", run=run, actor="big.solver-0", kind="solver")
            == [210.5]
        )
    )
    assert scraped("envolve_buffer_groups", run=run, policy="main", state="ready") == [4.0]
    assert scraped("envolve_actors_figure", run=run, policy="big", kind="solver", figure="groups") == [3.0]
    assert scraped("envolve_pool_members", run=run, status="active") == [0.0]
    assert scraped("envolve_updates_total", run=run, policy="big") == [1.0]


async def test_tensorboard_and_the_lines_go_on_where_a_killed_actor_left_them(
    make: Raise, peers: Peers, config: Config
) -> None:
    make(POOL)
    make(METRICS)
    await peers.metrics.step({"step": 1, "version": 1, "loss": 0.5}, [])

    def curve() -> list[int]:
        folder = config.run_folder / "tensorboard"
        if not folder.is_dir():
            return []
        reader = EventAccumulator(str(folder))
        reader.Reload()
        known = "train/loss" in reader.Tags()["scalars"]
        return [point.step for point in reader.Scalars("train/loss")] if known else []

    await until(lambda: curve() == [1])
    kill((await peers.metrics.health())["pid"])
    await peers.metrics.step({"step": 2, "version": 2, "loss": 0.25}, [])
    await until(lambda: curve() == [1, 2])
    assert [line["step"] for line in lines(config, "step")] == [1, 2]


async def test_wandb_is_one_run_over_a_kill_and_leaves_no_process(
    make: Raise, peers: Peers, config: Config
) -> None:
    make(POOL)
    make(METRICS)

    def cores(pid: int) -> list[int]:
        found = (process.info for process in psutil.process_iter(["pid", "cmdline"]))
        return [
            each["pid"]
            for each in found
            if each["cmdline"] and each["cmdline"][0].endswith("wandb-core") and str(pid) in each["cmdline"]
        ]

    def files() -> list[Path]:
        return list((config.run_folder / "wandb").glob("offline-run-*/run-*.wandb"))

    first = (await peers.metrics.health())["pid"]
    await until(files)
    assert len(cores(first)) == 1
    kill(first)
    await until(lambda: not cores(first))
    second = (await peers.metrics.health())["pid"]
    await until(lambda: cores(second))
    await peers.metrics.step({"step": 1, "version": 1, "loss": 0.5}, [])
    await peers.metrics.stop()
    assert not cores(second)
    assert len(files()) == 2
    assert len({file.name for file in files()}) == 1


async def test_a_sink_that_breaks_is_an_alarm_with_its_traceback_and_the_others_go_on(
    make: Raise, peers: Peers, config: Config
) -> None:
    config.run_folder.mkdir(parents=True)
    (config.run_folder / "tensorboard").write_text("a file where the folder should be")
    (config.run_folder / "samples").write_text("and another")
    make(POOL)
    make(METRICS)
    await peers.metrics.samples(rows("trained"), True)
    for step in (1, 2):
        await peers.metrics.step({"step": step, "version": step}, ["trained"])
    await until(lambda: len(lines(config, "sink")) == 2)
    broken = {line["text"].split(":")[0].rsplit(" ", 1)[1]: line["trace"] for line in lines(config, "sink")}
    assert broken.keys() == {"samples", "tensorboard"}
    assert all("Traceback" in trace and "Error" in trace for trace in broken.values())
    assert [line["step"] for line in lines(config, "step")] == [1, 2]
    status = await until_status(peers, lambda status: len(status["active_alarms"]) == 2)
    assert {alarm["kind"] for alarm in status["active_alarms"]} == {"sink"}
    assert {"sink samples", "sink tensorboard"} <= (await peers.metrics.health())["first_failures"].keys()


async def until_status(peers: Peers, right: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    while not right(status := await peers.metrics.status()):
        await asyncio.sleep(0.1)
    return dict(status)


async def test_an_alarm_stands_until_its_condition_is_gone_and_is_a_line_at_both_ends(
    make: Raise, peers: Peers, config: Config
) -> None:
    make(POOL)
    make(METRICS)
    bad = {"step": 1, "version": 1, "logprob_diff": 0.9, "grad_norm": 1.0}
    await peers.metrics.step(bad, [])
    status = await until_status(peers, lambda status: bool(status["active_alarms"]))
    [alarm] = status["active_alarms"]
    assert alarm["kind"] == "mismatch"
    assert "0.9" in alarm["text"]
    await peers.metrics.step(bad | {"step": 2, "version": 2, "logprob_diff": 0.8}, [])
    status = await until_status(peers, lambda status: "0.8" in status["active_alarms"][0]["text"])
    assert status["active_alarms"][0]["since"] == alarm["since"]
    await peers.metrics.step(bad | {"step": 3, "version": 3, "logprob_diff": 0.01}, [])
    await until_status(peers, lambda status: not status["active_alarms"])
    [began], [ended] = lines(config, "alarm_began"), lines(config, "alarm_ended")
    assert (began["alarm"], ended["alarm"]) == ("mismatch", "mismatch")
    assert ended["seconds"] > 0
    await until(lambda: scraped("envolve_events_total", run=config.run.name, kind="alarm_ended") == [1.0])


async def test_the_status_tells_nodes_policies_and_pause(make: Raise, peers: Peers, config: Config) -> None:
    make(POOL)
    make(METRICS)
    status = await peers.metrics.status()
    assert (status["paused"], status["nodes"]) == (False, [])
    assert [policy["name"] for policy in status["policies"]] == ["main"]
    spec = {"name": "far", "model": "m", "endpoint": "http://e/v1"}
    now = wanted.attached(wanted.first(config), spec, config).model_copy(update={"paused": True})
    await peers.pool.put_state(wanted.KEY, now.model_dump(mode="json"))
    node = {
        "id": "b" * 56,
        "address": "10.0.0.2",
        "alive": True,
        "quarantined": False,
        "actors": ["sandbox-0"],
    }
    overview = {"nodes": [node], "restarts": {"sandbox-0": 2}}
    await peers.metrics.report({"name": "supervisor", "pid": 1, **HEALTHY, "overview": overview})
    await peers.metrics.report(
        {"name": f"follower-{'b' * 12}", "pid": 1, **HEALTHY, "gauges": {"lag_ms_p99": 140.0}}
    )
    await peers.metrics.samples(rows("g"), False, "far")
    status = await peers.metrics.status()
    assert status["paused"]
    assert status["wanted"]["policies"][0]["name"] == "far"
    assert [(n["actors"], n["replica_lag"]) for n in status["nodes"]] == [(1, 0.14)]
    assert status["restarts"] == {"sandbox-0": 2}
    assert [(p["name"], p["success"]) for p in status["policies"]] == [("main", None), ("far", 0.5)]
    assert status["success"]["solver far"]["answers"] == 2.0


async def test_samples_and_updates_of_an_attached_policy_are_kept_apart(
    make: Raise, peers: Peers, config: Config
) -> None:
    make(POOL)
    make(METRICS)
    await peers.metrics.samples(rows("theirs"), True, "big")
    await peers.metrics.samples(rows("ours"), True, "main")
    await peers.metrics.step({"step": 1, "version": 1, "policy": "big"}, ["theirs"])
    await peers.metrics.step({"step": 1, "version": 1, "policy": "main"}, ["ours"])
    samples = config.run_folder / "samples"
    assert pq.read_table(samples / "big" / "version-000001.parquet").num_rows == 2
    assert pq.read_table(samples / "version-000001.parquet").num_rows == 2
    assert [line.get("policy", "") for line in lines(config, "step")] == ["big", ""]
    status = await peers.metrics.status()
    assert len(status["last_steps"]) == 1
    assert status["success"].keys() == {"solver", "solver big"}


async def test_an_actor_that_was_scaled_away_leaves_the_status(
    make: Raise, peers: Peers, config: Config
) -> None:
    make(POOL)
    make(METRICS)
    for name in ("sandbox-0", "sandbox-7"):
        await peers.metrics.report({"name": name, "pid": 1, **HEALTHY})
    status = await until_status(peers, lambda status: "sandbox-7" not in status["actors"])
    assert "sandbox-0" in status["actors"]


async def test_the_status_says_what_share_of_recent_proposals_is_past_each_gate(
    make: Raise, peers: Peers
) -> None:
    make(POOL)
    make(METRICS)
    gates = ["L1", "L4", "", "calibration"]
    rows = [
        {"group": "g", "gate": gate, "admitted": not gate, "reply": "", **dict.fromkeys(REWARD_PARTS, 0.5)}
        for gate in gates
    ]
    await peers.metrics.proposals(rows)
    past = (await peers.metrics.status())["passing"]["generator"]
    assert (past["L1"], past["L3"], past["L4"], past["calibration"]) == (0.75, 0.75, 0.5, 0.25)


async def test_proposals_of_a_prompt_are_one_file_and_one_line_with_the_mean_of_each_part(
    make: Raise, peers: Peers, config: Config
) -> None:
    make(POOL)
    make(METRICS)
    rows = [
        {"group": "far.generator-0-1", "gate": gate, "admitted": not gate, **dict.fromkeys(REWARD_PARTS, value)}
        for gate, value in (("", 1.0), ("reply", 0.0))
    ]
    for _ in range(2):  # a generator that was killed hands them on again
        await peers.metrics.proposals(rows, "far")
    [file] = (config.run_folder / "proposals").iterdir()
    assert (file.name, pq.read_table(file).num_rows) == ("far.generator-0-1.parquet", 2)
    told = [json.loads(line) for line in (config.run_folder / "metrics.jsonl").read_text().splitlines()]
    line = next(each for each in told if each["kind"] == "proposals")
    assert (line["policy"], line["gates"], line["count"]) == ("far", {"": 1, "reply": 1}, 2)
    assert line["reward"] == dict.fromkeys(REWARD_PARTS, 0.5)
    status = await peers.metrics.status()
    rates = status["success"]["generator far"]
    assert (rates["success"], rates["parsed"]) == (0.5, 0.5)
    assert status["earned"]["generator far"] == line["reward"]
