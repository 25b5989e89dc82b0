"""Which actors a run has, under which names, where each belongs, and how it is made.

Invariant: every actor is detached and named in the run's namespace, so the death of the supervisor, or of whoever
submitted the run, takes nothing with it. Making one that exists adopts it. The run's own policy has bare names; an
attached one's begin with its name and a dot. Nothing here decides when an actor is made: the supervisor does.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import ray
from ray.util import list_named_actors
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy, PlacementGroupSchedulingStrategy

from actors import placement_groups
from cluster.config import Config
from cluster.wanted import PolicySpec, Wanted, first, for_policy

CALLS_AT_ONCE = 1000
FOLLOWER = "follower-"
SUPERVISOR = "supervisor"
KINDS = frozenset(
    name
    for row in (
        ("pool", "metrics", "supervisor", "follower", "buffer", "curator", "learner", "solver", "calibrator"),
        ("sandbox", "novelty", "validator", "evaluator", "composer", "generator", "server"),
    )
    for name in row
)
"""The last part of every actor's kind."""
HEAD = {"node:__internal_head__": 0.001}
_NUMBERED = re.compile(r"-[0-9]+$")


class Place(StrEnum):
    """Where an actor belongs."""

    HEAD = "head"
    ANY = "any"
    NODE = "node"
    GROUP = "group"


@dataclass(frozen=True, slots=True)
class Post:
    """One named actor: its class as `module:Class`, where it belongs, and what it reserves there."""

    name: str
    path: str
    place: Place = Place.ANY
    gpus: float = 0.0
    cpus: float = 0.0
    node: str = ""
    """for Place.NODE"""
    policy: PolicySpec | None = None
    """the attached policy that it serves"""
    restarts: int = 0
    """how often Ray makes it again by itself; -1: always"""

    @property
    def kind(self) -> str:
        """`NAME.solver` for `NAME.solver-1`; what actors are counted and scaled by."""
        return kind_of(self.name)

    def load(self, config: Config) -> type:
        """The actor's class, ours or what `run.actors` has in its place; imported only where the actor is made."""
        kind = self.kind.rpartition(".")[2]
        if kind == "solver" and (self.policy or config.policy).endpoint:
            kind = "endpoint"
        module, name = config.run.actors.get(kind, self.path).split(":")
        return getattr(importlib.import_module(module), name)


def kind_of(name: str) -> str:
    """What kind of actor has this name."""
    return FOLLOWER.rstrip("-") if is_follower(name) else _NUMBERED.sub("", name)


def is_follower(name: str) -> bool:
    """Whether the actor keeps a node's replica; an attached policy may have any name, `follower-x` too."""
    return name.startswith(FOLLOWER) and not is_attached(name)


def is_attached(name: str) -> bool:
    """Whether the actor serves an attached policy: the run goes on without it."""
    return "." in name


def number_of(name: str) -> int:
    """1 for `generator-1`; 0 for an actor of which there is one."""
    found = _NUMBERED.search(name)
    return int(found.group()[1:]) if found else 0


def solvers(config: Config, wanted: Wanted, policy: str = "") -> list[str]:
    """The solvers of an attached policy, or of the one that this configuration is for; none where it is not there."""
    kind = f"{policy}.solver" if policy else config.own("solver")
    return [f"{kind}-{index}" for index in range(wanted.counts.get(kind, 0))]


def posts(config: Config, wanted: Wanted | None = None) -> list[Post]:
    """All actors of the run but supervisor and followers, in the order they are made."""
    wanted = wanted or first(config)
    head = [
        Post("pool", "actors.pool:PoolActor", Place.HEAD),
        Post("metrics", "actors.metrics:MetricsActor", Place.HEAD),
        Post("curator", "actors.curator:CuratorActor", Place.HEAD),
    ]
    learning = [
        Post("buffer", "actors.buffer:BufferActor", Place.HEAD),
        Post("learner", "actors.learner:LearnerActor"),
        Post("evaluator", "actors.evaluator:EvaluatorActor"),
    ]
    serving = [Post("server", "actors.server:ServerActor", Place.HEAD)]
    rest = [
        Post("novelty", "actors.novelty:NoveltyActor"),
        Post("validator", "actors.validator:ValidatorActor"),
    ]
    sandboxes = [
        Post(name, "actors.sandbox:SandboxActor", cpus=config.sandbox.cpus)
        for name in _numbered("sandbox", wanted)
    ]
    makers = [
        *(Post(name, "actors.composer:ComposerActor") for name in _numbered("composer", wanted)),
        *(Post(name, "actors.generator:GeneratorActor") for name in _numbered("generator", wanted)),
    ]
    attached = [post for spec in wanted.policies for post in _of_policy(config, spec, wanted)]
    own = [*(serving if config.serve.enabled else learning), *_solvers(config, "solver", wanted, None)]
    return [*head, *own, *sandboxes, *rest, *makers, *attached]


def names(config: Config, wanted: Wanted) -> set[str]:
    """The names of all actors that a run has now, but for the followers."""
    return {SUPERVISOR, *(post.name for post in posts(config, wanted))}


def supervisor() -> Post:
    """The actor that makes all others, and that Ray itself restarts."""
    return Post(SUPERVISOR, "actors.supervisor:SupervisorActor", Place.HEAD, restarts=-1)


def follower(node: str) -> Post:
    """The actor that keeps a node's replica."""
    return Post(f"{FOLLOWER}{node[:12]}", "actors.follower:FollowerActor", Place.NODE, node=node)


def make(post: Post, config: Config, node: str | None = None, avoid: Collection[str] = ()) -> Any:
    """The post's actor, made or adopted; on `node` where it may be anywhere. CPU shares are reserved only if asked."""
    own = config if post.policy is None else for_policy(config, post.policy)
    options = {
        "name": post.name,
        "namespace": config.namespace,
        "lifetime": "detached",
        "max_restarts": post.restarts,
        "max_concurrency": CALLS_AT_ONCE,
        "get_if_exists": True,
        "num_cpus": post.cpus,
        "num_gpus": post.gpus,
        **_placed(post, config, node, avoid),
    }
    return ray.remote(post.load(config)).options(**options).remote(own.model_dump(mode="json"), post.name)


def present(config: Config) -> list[str]:
    """The names of the run's actors that exist now, the supervisor's among them; a learner's ranks are its own."""
    return [name for name in _named(config) if kind_of(name).rpartition(".")[2] in KINDS]


def kill(name: str, config: Config) -> None:
    """End an actor for good, and give its placement group back. Idempotent."""
    with suppress(ValueError):  # no actor of that name
        ray.kill(ray.get_actor(name, config.namespace), no_restart=True)
    if kind_of(name).endswith("solver"):
        placement_groups.release(f"{config.namespace}/{name}")


def waits(name: str, config: Config) -> bool:
    """Whether the actor has a placement group for which there is no room yet."""
    return placement_groups.waits(f"{config.namespace}/{name}")


def lives(name: str, config: Config) -> bool:
    """Whether Ray has made the actor, so that it could answer; not so while it is imported or waits for room."""
    try:
        actor = ray.get_actor(name, config.namespace)
    except ValueError:
        return False
    return bool(ray._private.state.actors(actor._actor_id.hex()).get("State") == "ALIVE")


def end(config: Config, by_itself: bool = False) -> None:
    """Kill whatever actors of the run there are, the supervisor first, or it would make them again. Idempotent.

    `by_itself`: the supervisor's own process calls this, which its own end would cut short; so it goes last.
    """
    if not by_itself:
        kill(SUPERVISOR, config)
    for name in _named(config):
        if name != SUPERVISOR:
            kill(name, config)
    placement_groups.release_all(f"{config.namespace}/")
    if by_itself:
        kill(SUPERVISOR, config)


def _named(config: Config) -> list[str]:
    """All names in the run's namespace."""
    found = list_named_actors(all_namespaces=True)
    return [str(actor["name"]) for actor in found if actor["namespace"] == config.namespace]


def _of_policy(config: Config, spec: PolicySpec, wanted: Wanted) -> list[Post]:
    """The actors of an attached policy: one that is asked only, one that writes, or one that learns."""
    name = spec.name
    if spec.endpoint:
        solvers = [
            Post(solver, "actors.endpoint:EndpointActor", policy=spec)
            for solver in _numbered(f"{name}.solver", wanted)
        ]
    else:
        solvers = _solvers(for_policy(config, spec), f"{name}.solver", wanted, spec)
    actors = [*solvers]
    if spec.solves:
        actors.append(Post(f"{name}.calibrator", "actors.calibrator:CalibratorActor", policy=spec))
    if spec.writes:
        writers = _numbered(f"{name}.generator", wanted)
        actors += [Post(writer, "actors.generator:GeneratorActor", policy=spec) for writer in writers]
    if spec.trainable:
        actors += [
            Post(f"{name}.buffer", "actors.buffer:BufferActor", Place.HEAD, policy=spec),
            Post(f"{name}.curator", "actors.curator:CuratorActor", Place.HEAD, policy=spec),
            Post(f"{name}.learner", "actors.learner:LearnerActor", policy=spec),
        ]
    return actors


def _solvers(config: Config, kind: str, wanted: Wanted, spec: PolicySpec | None) -> list[Post]:
    if config.policy.endpoint:
        return [Post(name, "actors.endpoint:EndpointActor") for name in _numbered(kind, wanted)]
    solver = config.solver
    gpus = solver.gpus * solver.tensor_parallel
    where = {"place": Place.GROUP, "gpus": gpus, "cpus": solver.cpus} if gpus else {}
    return [
        Post(name, "actors.solver:SolverActor", policy=spec, **where)  # type: ignore[arg-type]
        for name in _numbered(kind, wanted)
    ]


def _numbered(kind: str, wanted: Wanted) -> list[str]:
    return [f"{kind}-{index}" for index in range(wanted.counts.get(kind, 0))]


def _placed(post: Post, config: Config, node: str | None, avoid: Collection[str]) -> dict[str, Any]:
    """Ray's options for where the actor belongs."""
    if post.place is Place.HEAD:
        return {"resources": HEAD}
    if post.place is Place.GROUP:
        group = placement_groups.reserve(f"{config.namespace}/{post.name}", post.gpus, post.cpus, avoid)
        return {
            "scheduling_strategy": PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=0)
        }
    if target := post.node or node:
        # Ray takes a soft wish for none where nothing is reserved, and places at random. A hard one fails when the node
        # dies meanwhile: then the actor is missing, and made again elsewhere.
        soft = post.cpus > 0
        return {"scheduling_strategy": NodeAffinitySchedulingStrategy(target, soft=soft)}
    return {}
