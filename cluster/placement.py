"""Where a run's actors go: what a configuration needs of a cluster, whether it fits, and which node is next.

Invariant: what `missing` lets through can be packed, each group of solver ranks or learner ranks whole on one node;
where it refuses, no packing was found. Pure: it knows neither Ray nor what else runs on the cluster, only the totals
of its nodes. Reserving what is chosen here is the roster's work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

from cluster.config import Config
from cluster.packing import FRACTIONS, Group, Room, pack
from cluster.wanted import Wanted, first, for_policy
from training.grpo.settings import rank_groups

HEAD_RESOURCE = "node:__internal_head__"
"""The resource that Ray gives its head node and no other."""


@dataclass(frozen=True, slots=True)
class Node:
    """A machine of the cluster; `cpus` and `gpus` are totals, whoever holds them now."""

    id: str
    address: str
    alive: bool
    is_head: bool
    cpus: float
    gpus: float
    labels: Mapping[str, str] = field(default_factory=dict)
    free_cpus: float = inf
    """What nobody has reserved, where that was asked."""


@dataclass(frozen=True, slots=True)
class Gang:
    """`count` groups of one kind, each of which needs its GPUs and CPUs together on one node."""

    noun: str
    count: int
    gpus: float
    """Of a group, as all below."""
    cpus: float
    ranks: int = 0
    """Where it is made of learner ranks; 0: it is one process."""
    lower_gpus: str = ""
    """The key that makes a group need fewer GPUs."""
    lower_cpus: str = ""
    lower_count: str = ""
    """The key that makes all groups together need less."""

    @property
    def named(self) -> str:
        """For example "2 solvers of 4 GPUs", "16 learner ranks"."""
        if self.ranks:
            return _counted(self.count * self.ranks, self.noun)
        size = _counted(self.gpus, "GPU") if self.gpus else _counted(self.cpus, "CPU")
        return f"{_counted(self.count, self.noun)} of {size}"


@dataclass(frozen=True, slots=True)
class Demand:
    """All that a configuration reserves; actors that reserve nothing are not in it."""

    gangs: tuple[Gang, ...]

    @property
    def gpus(self) -> float:
        """GPUs in all."""
        return sum(gang.count * gang.gpus for gang in self.gangs)

    @property
    def cpus(self) -> float:
        """CPUs in all."""
        return sum(gang.count * gang.cpus for gang in self.gangs)


def nodes_from(
    ray_nodes: Iterable[Mapping[str, Any]], available: Mapping[str, Mapping[str, float]] | None = None
) -> list[Node]:
    """The nodes of what `ray.nodes()` gives, by id; `available` are the resources that are free, by node id."""
    nodes = [
        Node(
            id=str(node["NodeID"]),
            address=str(node.get("NodeManagerAddress", "")),
            alive=bool(node["Alive"]),
            is_head=HEAD_RESOURCE in (held := node.get("Resources") or {}),
            cpus=float(held.get("CPU", 0.0)),
            gpus=float(held.get("GPU", 0.0)),
            labels=dict(node.get("Labels") or {}),
            free_cpus=inf if available is None else available.get(str(node["NodeID"]), {}).get("CPU", 0.0),
        )
        for node in ray_nodes
    ]
    return sorted(nodes, key=lambda node: node.id)


def demand(config: Config, wanted: Wanted | None = None) -> Demand:
    """What the run reserves: as the configuration says, or with the counts and attached policies of `wanted`.

    Raises ValueError where a learner's ranks do not divide into equal groups.
    """
    wanted = wanted or first(config)
    cpus = config.sandbox.cpus
    gangs = [
        *([] if config.serve.enabled else _of_policy(config, wanted.counts["solver"], trained=True)),
        Gang("sandbox", wanted.counts["sandbox"], 0.0, cpus, 0, "", "sandbox.cpus", "sandbox.count"),
    ]
    for spec in wanted.policies:
        if not spec.endpoint:
            solvers = wanted.counts[f"{spec.name}.solver"]
            gangs += _of_policy(for_policy(config, spec), solvers, trained=spec.trainable)
    return Demand(tuple(gang for gang in gangs if gang.count and (gang.gpus or gang.cpus)))


def missing(demand: Demand, nodes: Collection[Node]) -> list[str]:
    """What keeps the demand from being placed on the alive nodes; empty: nothing does.

    A sentence each, with the way out, that begins with "needs". Judged by totals, as if the cluster were empty.
    """
    alive = [node for node in nodes if node.alive]
    if not alive:
        return ["needs a node, and none is alive: start one with `ray start --head`"]
    lacks = [] if any(node.is_head for node in alive) else [_no_head()]
    lacks += [lack for gang in demand.gangs if (lack := _too_large(gang, alive))]
    lacks += [lack for unit in ("GPU", "CPU") if (lack := _too_many(demand, unit, alive))]
    if not lacks and placed(demand, alive) is None:
        lacks.append(_scattered(demand, alive))
    return lacks


def placed(demand: Demand, nodes: Collection[Node]) -> list[tuple[Gang, str]] | None:
    """A packing on the alive nodes, a (gang, node id) for each group; None where there is none."""
    gangs = [gang for gang in demand.gangs for _ in range(gang.count)]
    groups = [Group(str(index), gang.gpus, gang.cpus) for index, gang in enumerate(gangs)]
    found = pack(groups, [Room.of(node.id, node.gpus, node.cpus) for node in nodes if node.alive])
    if found is None:
        return None
    return [(gang, found[group.name]) for group, gang in zip(groups, gangs, strict=True)]


def choose(
    load: Mapping[str, int], nodes: Collection[Node], avoid: Collection[str] = (), cpus: float = 0.0
) -> str | None:
    """The node for one more actor: alive, not avoided, `cpus` free, with the fewest in `load`; ties go by id.

    A node that is full or avoided is better than none; None only where no node is alive.
    """
    alive = [node for node in nodes if node.alive]
    allowed = [node for node in alive if node.id not in avoid] or alive
    roomy = [node for node in allowed if node.free_cpus >= cpus] or allowed
    return min((node.id for node in roomy), key=lambda id: (load.get(id, 0), id), default=None)


def avoidable(gpus: float, nodes: Collection[Node], avoid: Collection[str]) -> Collection[str]:
    """`avoid`, or nothing where it has every alive node that is large enough for so many GPUs."""
    able = {node.id for node in nodes if node.alive and node.gpus >= gpus}
    return avoid if able - set(avoid) else ()


def tightest(
    gpus: float, nodes: Collection[Node], held: Mapping[str, float], avoid: Collection[str] = ()
) -> str | None:
    """The alive, not avoided node that `gpus` more GPUs fill the most; None where none has so many free.

    `held` are the GPUs reserved by node. Left to itself Ray spreads small groups, and then has no whole node left for a
    large one.
    """
    free = {
        node.id: node.gpus - held.get(node.id, 0.0) for node in nodes if node.alive and node.id not in avoid
    }
    fitting = {id: left for id, left in free.items() if left >= gpus - 1 / FRACTIONS}
    return min(fitting, key=lambda id: (fitting[id], id), default=None)


def rebalance(
    load: Mapping[str, int], nodes: Collection[Node], avoid: Collection[str] = (), cpus: float = 0.0
) -> str | None:
    """The node that one actor should leave, for `choose` with the same `load` to place it better; None: balanced.

    An avoided node is emptied first; else the fullest node gives where another with `cpus` free has at least two fewer.
    With a `load` of other actors than `choose` is given, the two could move one actor to and fro.
    """
    alive = [node for node in nodes if node.alive]
    receiving = [node.id for node in alive if node.id not in avoid and node.free_cpus >= cpus]
    if not receiving:
        return None
    left = [node.id for node in alive if node.id in avoid and load.get(node.id, 0)]
    allowed = [node.id for node in alive if node.id not in avoid]
    fullest = min(left or allowed, key=lambda id: (-load.get(id, 0), id))
    if left or load.get(fullest, 0) - min(load.get(id, 0) for id in receiving) >= 2:
        return fullest
    return None


def _of_policy(config: Config, solvers: int, *, trained: bool) -> list[Gang]:
    """The gangs of one policy. A solver on shared cores reserves nothing."""
    solver, learner = config.solver, config.learner
    rank = "solver.tensor_parallel" if solver.tensor_parallel > 1 else "solver.gpus"
    own, keys = "", (rank, "solver.count", "learner.ranks_per_node", "learner.ranks")
    if config.policy.attached:
        own, whose = f"{config.policy.name} ", f"of policy {config.policy.name}"
        keys = (f"gpus {whose}", f"solvers {whose}", "learner.ranks_per_node", "learner.ranks")
    gangs = []
    if gpus := solver.gpus * solver.tensor_parallel:
        gangs.append(Gang(f"{own}solver", solvers, gpus, solver.cpus, 0, keys[0], "solver.cpus", keys[1]))
    if trained:
        sizes = rank_groups(learner.ranks, learner.ranks_per_node)
        ranks = sizes[0]
        # verl gives a rank one whole GPU, if any, and one CPU beside it
        on_gpus = float(ranks) if learner.gpus else 0.0
        gangs.append(
            Gang(f"{own}learner rank", len(sizes), on_gpus, float(ranks), ranks, keys[2], keys[2], keys[3])
        )
    return gangs


def _no_head() -> str:
    return (
        f"needs a head node for the pool, and none has the resource {HEAD_RESOURCE}: "
        "join a cluster that `ray start --head` began"
    )


def _too_large(gang: Gang, nodes: list[Node]) -> str:
    """Of a group that not even an empty node holds."""
    if gang.gpus > 1 and gang.gpus % 1:
        return f"needs {gang.named}, and Ray gives above one GPU whole ones only: change {gang.lower_gpus}"
    for unit, size, most, key in (
        ("GPU", gang.gpus, max(node.gpus for node in nodes), gang.lower_gpus),
        ("CPU", gang.cpus, max(node.cpus for node in nodes), gang.lower_cpus),
    ):
        if size > most and (most or unit == "CPU"):  # that there is no GPU at all is said once, of the total
            groups = f"groups of {_number(size)}" if gang.count > 1 else "one group"
            return (
                f"needs {_counted(gang.count * size, unit)} in {groups} ({gang.named}); "
                f"the largest node has {_number(most)}: lower {key}, or add nodes"
            )
    if gang.gpus and gang.cpus and not any(n.gpus >= gang.gpus and n.cpus >= gang.cpus for n in nodes):
        return (
            f"needs {_counted(gang.gpus, 'GPU')} and {_counted(gang.cpus, 'CPU')} on one node ({gang.named}); "
            f"no node has both: lower {_either(gang.lower_gpus, gang.lower_cpus)}, or add nodes"
        )
    return ""


def _too_many(demand: Demand, unit: str, nodes: list[Node]) -> str:
    """Of a total that all nodes together do not have."""
    attribute = f"{unit.lower()}s"
    held = sum(getattr(node, attribute) for node in nodes)
    shares = [(gang, gang.count * getattr(gang, attribute)) for gang in demand.gangs]
    shares = [(gang, share) for gang, share in shares if share]
    total = sum(share for _, share in shares)
    if round(total * FRACTIONS) <= round(held * FRACTIONS):
        return ""
    parts = ", ".join(f"{_number(share)} for {_plural(gang.noun)}" for gang, share in shares)
    needs = f"needs {_counted(total, unit)} ({parts})"
    if not held and unit == "GPU":
        return f"{needs}; no node has one: take the preset local, or start Ray where it sees the GPUs"
    keys = _either(*(gang.lower_count for gang, _ in shares))
    return f"{needs}; the cluster has {_number(held)}: lower {keys}, or add nodes"


def _scattered(demand: Demand, nodes: list[Node]) -> str:
    """Of groups that each fit and fit in sum, but not side by side."""
    groups = ", ".join(
        f"{_counted(gang.count, 'group')} of {_counted(gang.ranks, gang.noun)}" if gang.ranks else gang.named
        for gang in demand.gangs
    )
    kinds = Counter((node.gpus, node.cpus) for node in nodes)
    rooms = ", ".join(
        f"{_counted(count, 'node')} of {_counted(gpus, 'GPU') + ' and ' if gpus else ''}{_counted(cpus, 'CPU')}"
        for (gpus, cpus), count in kinds.items()
    )
    keys = _either(*(gang.lower_gpus if gang.gpus else gang.lower_cpus for gang in demand.gangs))
    return f"needs {groups}, each on one node; {rooms} have no room for that: lower {keys}, or add nodes"


def _either(*keys: str) -> str:
    return " or ".join(dict.fromkeys(keys))


def _number(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".")


def _plural(noun: str) -> str:
    return f"{noun}es" if noun.endswith("x") else f"{noun}s"


def _counted(value: float, noun: str) -> str:
    return f"{_number(value)} {noun if value == 1 else _plural(noun)}"
