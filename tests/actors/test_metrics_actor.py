"""The metrics actor: whole lines, the rows of every trained group, and a status that is never half there."""

from __future__ import annotations

import json
from typing import Any

import pyarrow.parquet as pq

from actors.peers import Peers
from actors.roster import Post
from cluster.config import Config
from tests.actors.conftest import Raise, kill

POOL = Post("pool", "actors.pool:PoolActor")
METRICS = Post("metrics", "actors.metrics:MetricsActor")


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
