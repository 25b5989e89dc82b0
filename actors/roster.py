"""Which actors a run has, under which names, and how each is made.

Invariant: every actor is detached, named in the run's namespace and restarted by Ray without end, so the death of
the supervisor, or of whoever submitted the run, takes nothing with it. Making one that exists adopts it.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any

import ray

from cluster.config import Config

CALLS_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Post:
    """One named actor: its class as `module:Class`, and the resources it asks Ray for."""

    name: str
    path: str
    options: dict[str, Any] = field(default_factory=dict)

    def load(self) -> type:
        """The actor's class; imported only where the actor is made, since some bring torch along."""
        module, name = self.path.split(":")
        return getattr(importlib.import_module(module), name)


def posts(config: Config) -> list[Post]:
    """All actors of the run but the supervisor, in the order they are made."""
    one = [
        Post("pool", "actors.pool:PoolActor"),
        Post("metrics", "actors.metrics:MetricsActor"),
        Post("buffer", "actors.buffer:BufferActor"),
        Post("learner", "actors.learner:LearnerActor"),
        Post("curator", "actors.curator:CuratorActor"),
        Post("novelty", "actors.novelty:NoveltyActor"),
        Post("validator", "actors.validator:ValidatorActor"),
        Post("composer", "actors.composer:ComposerActor"),
        Post("generator", "actors.generator:GeneratorActor"),
        Post("evaluator", "actors.evaluator:EvaluatorActor"),
    ]
    solver_gpus = config.solver.gpus * config.solver.tensor_parallel
    solvers = [
        Post(f"solver-{index}", "actors.solver:SolverActor", {"num_gpus": solver_gpus} if solver_gpus else {})
        for index in range(config.solver.count)
    ]
    sandboxes = [
        Post(f"sandbox-{index}", "actors.sandbox:SandboxActor") for index in range(config.sandbox.count)
    ]
    return solvers + sandboxes + one


def supervisor(config: Config) -> Post:
    """The actor that makes all others."""
    return Post("supervisor", "actors.supervisor:SupervisorActor")


def make(post: Post, config: Config) -> Any:
    """The post's actor, made or adopted. CPU shares are not reserved: on a small machine all share the cores."""
    options = {
        "name": post.name,
        "namespace": config.namespace,
        "lifetime": "detached",
        "max_restarts": -1,
        "max_concurrency": CALLS_AT_ONCE,
        "get_if_exists": True,
        "num_cpus": 0,
        **post.options,
    }
    return ray.remote(post.load()).options(**options).remote(config.model_dump(mode="json"), post.name)


def end(config: Config) -> None:
    """Kill whatever actors of the run there are. Idempotent."""
    for post in [supervisor(config), *posts(config)]:
        try:
            ray.kill(ray.get_actor(post.name, config.namespace), no_restart=True)
        except ValueError:
            continue  # no actor of that name
