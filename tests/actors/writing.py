"""What the tests of writers share: a run of only the actors that a proposal meets, begun without a supervisor."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from typing import Any

from actors import roster
from actors.peers import Peers
from cluster import wanted
from cluster.config import Config
from cluster.inspect import proposals
from tests.actors.conftest import Raise
from tests.simulated.runs import merged

ACTORS = ("metrics", "sandbox-0", "novelty", "validator", "solver-0", "writer.solver-0", "writer.generator-0")
"""Beside the pool; those of a run whose configuration names a writer."""
SETTINGS: dict[str, Any] = {
    "run": {"actors": {"solver": "tests.simulated.knowing:KnowingSolver"}},
    "writer": {"model": "m", "retries": 0},
    "generator": {"interval_seconds": 0.1},
    "grammar": {"enabled": False},
    "composer": {"enabled": False},
    "sandbox": {"count": 1, "cpu_seconds": 2},
    "admission": {"concurrent": 1},
    "review": {"enabled": False},
    "pool": {"bricks": "none", "map_size_gib": 0.1},
    "metrics": {"prometheus": False, "tensorboard": False, "wandb": "off"},
}
"""One candidate is judged at a time, so that what each is compared with is known."""


def written(folder: Path, url: str, **sections: Any) -> Config:
    """The configuration of a run that the model at this address writes for."""
    place = {"run": {"name": f"w-{uuid.uuid4().hex[:8]}", "folder": str(folder)}, "writer": {"endpoint": url}}
    return Config.model_validate(merged(merged(SETTINGS, place), sections))


async def begun(
    make: Raise, peers: Peers, config: Config, *names: str, without: Collection[str] = ()
) -> None:
    """Makes the run's actors, puts its seeds into the pool, and has it train."""
    state = wanted.first(config)
    posts = {post.name: post for post in roster.posts(config, state)}
    make(posts["pool"], config)
    await peers.pool.put_state(wanted.KEY, state.model_dump(mode="json"))
    for name in (*ACTORS, *names):
        if name not in without:
            make(posts[name], config)
    await peers.validator.bootstrap()
    await peers.pool.put_state("phase", "training")


async def until(condition: Callable[[], Awaitable[Any]], seconds: float = 240.0) -> Any:
    """The first true value of the condition."""
    deadline = time.monotonic() + seconds
    while not (value := await condition()):
        assert time.monotonic() < deadline, f"nothing for {seconds:.0f} s"
        await asyncio.sleep(0.1)
    return value


def told(config: Config) -> list[dict[str, Any]]:
    """All proposals that are handed on, in the order in which they were written."""
    return sorted(proposals.newest(config.run_folder), key=lambda row: (row["group"], _place(row)))


def _place(row: dict[str, Any]) -> int:
    return int(row["proposal"].rpartition("/")[2])
