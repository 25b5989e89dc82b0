"""The GPU presets on a real Ray cluster with declared GPUs: placement groups are really made, no engine or rank is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import ray
from ray.cluster_utils import Cluster
from ray.util.placement_group import PlacementGroup, placement_group_table
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from actors import placement_groups, roster
from actors.roster import Place
from cluster.config import Config
from cluster.placement import demand, missing, nodes_from
from cluster.resolve import resolve
from training.grpo.platform import serve
from training.grpo.rank_pool import RankPool
from training.grpo.settings import LearnerSettings


class Machines:
    """A head without GPUs, and other nodes with as many as are declared; none of them is there."""

    def __init__(self) -> None:
        self.cluster = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False}
        )
        self.nodes: list[tuple[float, Any]] = []

    def connect(self) -> None:
        """As a driver of its own."""
        ray.init(address=self.cluster.address, log_to_driver=False)

    def have(self, *gpus: int) -> list[str]:
        """The ids of nodes with just these GPUs, nothing reserved on them."""
        placement_groups.release_all("")
        wanted = list(gpus)
        for held, node in list(self.nodes):
            if held in wanted:
                wanted.remove(held)
            else:
                self.cluster.remove_node(node)
                self.nodes.remove((held, node))
        for held in wanted:
            self.nodes.append((held, self.cluster.add_node(num_cpus=64, num_gpus=held)))
        return [node.node_id for _, node in sorted(self.nodes, key=lambda pair: -pair[0])]


@pytest.fixture(scope="module")
def machines() -> Iterator[Machines]:
    ray.shutdown()  # other tests keep theirs for the whole session, and a process has one
    made = Machines()
    try:
        made.connect()
        yield made
    finally:
        serve(gpus=False)  # which a pool of GPU ranks has changed
        ray.shutdown()
        made.cluster.shutdown()


def standing(prefix: str = "") -> dict[str, dict[str, Any]]:
    table = placement_group_table().values()
    return {
        facts["name"]: facts
        for facts in table
        if facts["state"] != "REMOVED" and facts["name"].startswith(prefix)
    }


def nodes_of(group: PlacementGroup) -> set[str]:
    return set(placement_group_table(group)["bundles_to_node_id"].values())


def reserve_solvers(config: Config, avoid: tuple[str, ...] = ()) -> None:
    posts = [post for post in roster.posts(config) if post.place is Place.GROUP]
    for post in posts:
        placement_groups.reserve(f"run/{post.name}", post.gpus, post.cpus, avoid)


def reserve_ranks(config: Config, avoid: tuple[str, ...] = ()) -> RankPool:
    """As the learner does before it starts its ranks."""
    learner = config.learner
    settings = LearnerSettings(
        Path("model"), learner.ranks, learner.ranks_per_node, gpus=True, name="run/learner-"
    )
    pool = RankPool(settings, avoid)
    pool.get_placement_groups()
    return pool


ORDERS = [(reserve_solvers, reserve_ranks), (reserve_ranks, reserve_solvers)]


@pytest.mark.parametrize("order", ORDERS, ids=["solvers first", "ranks first"])
@pytest.mark.parametrize(
    ("preset", "gpus", "solvers", "ranks"),
    [
        ("a100-node", [8], 4, [4]),
        ("evoenv-paper", [8], 4, [4]),
        ("a100-cluster", [8] * 4, 16, [8, 8]),
        ("races-paper", [8] * 4, 16, [8, 8]),
    ],
)
def test_all_groups_of_a_preset_are_made_together_each_on_one_node(
    machines: Machines,
    preset: str,
    gpus: list[int],
    solvers: int,
    ranks: list[int],
    order: tuple[Callable[[Config], Any], ...],
) -> None:
    config = resolve(preset)
    ids = machines.have(*gpus)
    assert missing(demand(config), nodes_from(ray.nodes())) == []
    for reserve in order:
        reserve(config)
    made = standing()
    assert {facts["state"] for facts in made.values()} == {"CREATED"}
    assert all(len(set(facts["bundles_to_node_id"].values())) == 1 for facts in made.values())
    solver = {"GPU": 1.0} | ({"CPU": config.solver.cpus} if config.solver.cpus else {})
    assert [list(f["bundles"].values()) for f in standing("run/solver-").values()] == [[solver]] * solvers
    rank = {"CPU": 1.0, "GPU": 1.0}
    assert [list(f["bundles"].values()) for f in standing("run/learner-").values()] == [
        [rank] * size for size in ranks
    ]
    held = placement_groups.reserved_gpus()
    assert held == dict.fromkeys(ids, 8.0)


@pytest.mark.parametrize(
    ("preset", "gpus", "lack"),
    [
        (
            "a100-node",
            [7],
            "needs 8 GPUs (4 for solvers, 4 for learner ranks); the cluster has 7: "
            "lower solver.count or learner.ranks, or add nodes",
        ),
        (
            "evoenv-paper",
            [4, 3],
            "needs 8 GPUs (4 for solvers, 4 for learner ranks); the cluster has 7: "
            "lower solver.count or learner.ranks, or add nodes",
        ),
        (
            "a100-cluster",
            [8, 8, 8, 7],
            "needs 32 GPUs (16 for solvers, 16 for learner ranks); the cluster has 31: "
            "lower solver.count or learner.ranks, or add nodes",
        ),
    ],
)
def test_with_one_gpu_less_a_preset_is_refused_before_anything_is_made(
    machines: Machines, preset: str, gpus: list[int], lack: str
) -> None:
    machines.have(*gpus)
    assert missing(demand(resolve(preset)), nodes_from(ray.nodes())) == [lack]
    assert standing() == {}


def test_no_group_lies_on_a_node_in_quarantine(machines: Machines) -> None:
    away, other, free = machines.have(8, 8, 8)[:3]
    groups = [placement_groups.reserve(f"run/solver-{at}", 1, 0, [away, other]) for at in range(8)]
    assert [nodes_of(group) for group in groups] == [{free}] * 8
    ninth = placement_groups.reserve("run/solver-8", 1, 0, [away, other])
    assert placement_group_table(ninth)["state"] == "PENDING"
    assert placement_groups.waits("run/solver-8") and not placement_groups.waits("run/solver-0")
    placement_groups.release("run/solver-0")
    assert ninth.wait(30) and nodes_of(ninth) == {free}


def test_the_last_nodes_that_are_large_enough_are_used_though_they_are_in_quarantine(
    machines: Machines,
) -> None:
    away = machines.have(8, 8)
    group = placement_groups.reserve("run/solver-0", 1, 0, away)
    assert placement_group_table(group)["state"] == "CREATED"
    assert placement_groups.reserve("run/solver-0", 1, 0, away).id == group.id


def test_ranks_keep_away_from_a_node_in_quarantine_where_there_is_room_elsewhere(machines: Machines) -> None:
    config = resolve("a100-node")
    away, free = machines.have(8, 8)
    pool = reserve_ranks(config, (away,))
    assert [nodes_of(group) for group in pool.get_placement_groups()] == [{free}]
    pool.release()
    assert standing() == {}
    for index in range(5):
        placement_groups.reserve(f"run/solver-{index}", 1, 0, [away])
    pool = reserve_ranks(config, (away,))
    assert [nodes_of(group) for group in pool.get_placement_groups()] == [{away}]
    pool.release()


def test_a_group_is_adopted_unless_its_node_fell_into_quarantine_or_its_size_changed(
    machines: Machines,
) -> None:
    machines.have(8, 8)
    made = placement_groups.reserve("run/solver-0", 2, 1)
    ray.shutdown()
    machines.connect()  # whoever made it is gone
    again = placement_groups.reserve("run/solver-0", 2, 1)
    assert again.id == made.id
    [was] = nodes_of(again)
    moved = placement_groups.reserve("run/solver-0", 2, 1, [was])
    assert moved.id != made.id and nodes_of(moved).isdisjoint({was})
    larger = placement_groups.reserve("run/solver-0", 4, 1)
    assert placement_group_table(larger)["bundles"] == {0: {"CPU": 1.0, "GPU": 4.0}}
    assert len(standing()) == 1


def test_a_group_whose_node_died_is_made_again_elsewhere(machines: Machines) -> None:
    machines.have(8, 6)
    group = placement_groups.reserve("run/solver-0", 1, 0)
    [home] = nodes_of(group)
    dead = next(pair for pair in machines.nodes if pair[1].node_id == home)
    machines.cluster.remove_node(dead[1])
    machines.nodes.remove(dead)
    again = placement_groups.reserve("run/solver-0", 1, 0)
    assert again.wait(30) and nodes_of(again).isdisjoint({home})
    assert len(standing()) == 1


def test_what_runs_in_a_group_has_its_gpus_and_ends_with_it(machines: Machines) -> None:
    @ray.remote
    class Engine:
        def gpus(self) -> tuple[list[int], str]:
            return ray.get_gpu_ids(), ray.get_runtime_context().get_node_id()

    [home] = machines.have(8)
    group = placement_groups.reserve("run/solver-0", 2, 0)
    engine = Engine.options(
        num_cpus=0, num_gpus=2, scheduling_strategy=PlacementGroupSchedulingStrategy(group, 0)
    ).remote()
    ids, node = ray.get(engine.gpus.remote())
    assert (len(set(ids)), node) == (2, home)
    placement_groups.release("run/solver-0")
    placement_groups.release("run/solver-0")
    with pytest.raises(ray.exceptions.RayActorError):
        ray.get(engine.gpus.remote())


def test_the_groups_of_other_runs_stay_when_a_run_ends(machines: Machines) -> None:
    machines.have(8)
    for name in ("run/solver-0", "run/solver-1", "run-2/solver-0"):
        placement_groups.reserve(name, 1, 0)
    placement_groups.release_all("run/")
    assert list(standing()) == ["run-2/solver-0"]
