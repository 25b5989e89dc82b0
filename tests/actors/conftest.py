"""A Ray of one machine for the actors' tests, and actors made in it as a run makes them."""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import ray

from actors import roster
from actors.peers import Peers
from actors.roster import Post
from cluster.config import Config

ROOT = Path(__file__).parents[2]
Raise = Callable[..., Any]


@pytest.fixture(scope="session")
def cluster() -> Iterator[None]:
    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": str(ROOT)}},
    )
    yield
    ray.shutdown()


@pytest.fixture
def config(cluster: None, tmp_path: Path) -> Config:
    """A run of its own for each test."""
    run = {"name": f"t-{uuid.uuid4().hex[:8]}", "folder": str(tmp_path)}
    learner = {"groups_per_step": 2, "group_size": 2}
    return Config.model_validate(
        {"run": run, "learner": learner, "sandbox": {"count": 1}, "pool": {"map_size_gib": 0.1}}
    )


@pytest.fixture
def peers(config: Config) -> Peers:
    return Peers(config.namespace, patience=60.0)


@pytest.fixture
def make(config: Config) -> Iterator[Raise]:
    """Makes the actor of a post, with the test's configuration or its own; all are ended with the test."""
    made: list[Any] = []

    def one(post: Post, config: Config = config) -> Any:
        # No supervisor watches here, so Ray itself makes again what a test kills.
        made.append(roster.make(replace(post, restarts=-1), config))
        return made[-1]

    yield one
    for actor in made:
        ray.kill(actor, no_restart=True)


def kill(pid: int) -> None:
    """As an operator, or the kernel short of memory, does it."""
    os.kill(pid, signal.SIGKILL)
