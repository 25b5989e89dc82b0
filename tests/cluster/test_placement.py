"""What a configuration needs of a cluster, whether it fits, and where the next actor goes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.config import Config
from cluster.packing import Group, Room, pack
from cluster.placement import (
    Demand,
    Gang,
    Node,
    avoidable,
    choose,
    demand,
    missing,
    nodes_from,
    placed,
    rebalance,
    tightest,
)
from cluster.resolve import resolve
from cluster.wanted import attached, first, scaled
from training.grpo.settings import rank_groups


def node(id: str, gpus: float = 0, cpus: float = 64, *, head: bool = False, alive: bool = True) -> Node:
    return Node(id, f"10.0.0.{id}", alive, head, cpus, gpus)


def cluster(*gpus: float, cpus: float = 64) -> list[Node]:
    """A head without GPUs and a node for each number of GPUs."""
    return [node("head", cpus=4, head=True), *(node(f"n{at}", held, cpus) for at, held in enumerate(gpus))]


def needs(**sections: dict[str, object]) -> Demand:
    return demand(Config.model_validate(sections))


def test_nodes_are_read_from_what_ray_says_of_them() -> None:
    said = [
        {"NodeID": "b", "Alive": False, "NodeManagerAddress": "10.0.0.2"},
        {
            "NodeID": "a", "Alive": True, "NodeManagerAddress": "10.0.0.1", "Labels": {"zone": "x"},
            "Resources": {"CPU": 8.0, "GPU": 2.0, "memory": 1e9, "node:__internal_head__": 1.0},
        },
    ]  # fmt: skip
    assert [free.free_cpus for free in nodes_from(said, {"a": {"CPU": 3.0}})] == [3.0, 0.0]
    assert nodes_from(said) == [
        Node("a", "10.0.0.1", True, True, 8.0, 2.0, {"zone": "x"}),
        Node("b", "10.0.0.2", False, False, 0.0, 0.0, {}),
    ]


def test_the_presets_fit_the_machines_they_are_named_after() -> None:
    assert (demand(resolve("a100-node")).gpus, demand(resolve("a100-node")).cpus) == (8, 28)
    assert demand(resolve("evoenv-paper")) == demand(resolve("a100-node"))
    assert demand(resolve("races-paper")) == demand(resolve("a100-cluster"))
    assert (demand(resolve("a100-cluster")).gpus, demand(resolve("a100-cluster")).cpus) == (32, 112)
    assert missing(demand(resolve("a100-node")), cluster(8)) == []
    assert missing(demand(resolve("a100-cluster")), cluster(8, 8, 8, 8)) == []
    assert missing(demand(resolve("local")), [node("head", cpus=2, head=True)]) == []


def test_a_preset_is_refused_on_one_gpu_less() -> None:
    assert missing(demand(resolve("a100-node")), cluster(7)) == [
        "needs 8 GPUs (4 for solvers, 4 for learner ranks); the cluster has 7: "
        "lower solver.count or learner.ranks, or add nodes"
    ]
    assert missing(demand(resolve("a100-cluster")), cluster(8, 8, 8, 7)) == [
        "needs 32 GPUs (16 for solvers, 16 for learner ranks); the cluster has 31: "
        "lower solver.count or learner.ranks, or add nodes"
    ]


def test_a_group_larger_than_every_node_is_refused() -> None:
    tensor_parallel = needs(solver={"count": 2, "gpus": 1, "tensor_parallel": 4})
    assert missing(tensor_parallel, cluster(2, 2, 2, 2)) == [
        "needs 8 GPUs in groups of 4 (2 solvers of 4 GPUs); the largest node has 2: "
        "lower solver.tensor_parallel, or add nodes"
    ]


def test_ranks_on_cores_lie_on_one_node_together() -> None:
    assert missing(needs(learner={"ranks": 3}), [node("a", cpus=2, head=True), node("b", cpus=2)]) == [
        "needs 3 CPUs in one group (3 learner ranks); the largest node has 2: "
        "lower learner.ranks_per_node, or add nodes"
    ]


def test_groups_that_fit_one_by_one_and_in_sum_but_not_side_by_side_are_refused() -> None:
    groups = needs(
        solver={"count": 2, "gpus": 1, "tensor_parallel": 4}, learner={"ranks": 4, "gpus": 1, "threads": 1}
    )
    assert missing(groups, cluster(6, 6)) == [
        "needs 2 solvers of 4 GPUs, 1 group of 4 learner ranks, each on one node; "
        "1 node of 4 CPUs, 2 nodes of 6 GPUs and 64 CPUs have no room for that: "
        "lower solver.tensor_parallel or learner.ranks_per_node, or add nodes"
    ]


def test_gpus_and_cpus_are_wanted_on_the_same_node() -> None:
    ranks = needs(learner={"ranks": 4, "gpus": 1})
    assert missing(ranks, [node("a", gpus=0, cpus=64, head=True), node("b", gpus=8, cpus=2)]) == [
        "needs 4 GPUs and 4 CPUs on one node (4 learner ranks); no node has both: "
        "lower learner.ranks_per_node, or add nodes"
    ]


def test_more_than_one_gpu_is_a_whole_number_of_them() -> None:
    assert missing(needs(solver={"gpus": 0.75, "tensor_parallel": 2}), cluster(8)) == [
        "needs 1 solver of 1.5 GPUs, and Ray gives above one GPU whole ones only: change solver.tensor_parallel"
    ]


def test_a_gpu_is_shared_by_solvers_that_fit_on_it_whole() -> None:
    assert missing(needs(solver={"count": 4, "gpus": 0.5}), cluster(2)) == []
    assert missing(needs(solver={"count": 10, "gpus": 0.1}), cluster(1)) == []
    [lack] = missing(needs(solver={"count": 3, "gpus": 0.6}), cluster(2))
    assert lack.startswith("needs 3 solvers of 0.6 GPUs, ") and "lower solver.gpus" in lack


def test_attached_policies_and_other_counts_are_wanted_too() -> None:
    config = resolve("a100-node")
    spec = {"name": "critic", "model": "m", "gpus": 2, "solvers": 2, "trainable": True}
    wanted = attached(scaled(first(config), {"solver": 6}), spec, config)
    assert missing(demand(config, wanted), cluster(8, 8, 8)) == []
    assert missing(demand(config, wanted), cluster(8, 8)) == [
        "needs 18 GPUs (6 for solvers, 4 for learner ranks, 4 for critic solvers, 4 for critic learner ranks); "
        "the cluster has 16: lower solver.count or learner.ranks or solvers of policy critic, or add nodes"
    ]
    behind = attached(first(config), {"name": "far", "model": "m", "endpoint": "http://far/v1"}, config)
    assert demand(config, behind) == demand(config)


def test_dead_nodes_hold_nothing() -> None:
    assert missing(needs(), []) == missing(needs(), [node("a", head=True, alive=False)])
    assert "ray start --head" in missing(needs(), [])[0]
    assert missing(needs(solver={"gpus": 1}), [*cluster(), node("n", gpus=8, alive=False)]) == [
        "needs 1 GPU (1 for solvers); no node has one: "
        "take the preset local, or start Ray where it sees the GPUs"
    ]


def test_a_cluster_without_a_head_is_refused() -> None:
    [lack] = missing(needs(), [node("a")])
    assert "node:__internal_head__" in lack and "ray start --head" in lack


def test_ranks_are_divided_into_equal_groups() -> None:
    assert rank_groups(16, 8) == [8, 8]
    assert rank_groups(4, 8) == [4]
    assert rank_groups(12) == [12]
    assert rank_groups(2, 1) == [1, 1]
    with pytest.raises(ValueError, match=r"learner.ranks=12 .* learner.ranks_per_node=8: .*ranks_per_node=6"):
        rank_groups(12, 8)


@given(st.integers(1, 200), st.integers(1, 16))
def test_rank_groups_are_equal_and_hold_all_ranks_or_the_way_out_works(ranks: int, per_node: int) -> None:
    try:
        groups = rank_groups(ranks, per_node)
    except ValueError as refused:
        per_node = int(str(refused).partition("set learner.ranks_per_node=")[2].partition(",")[0])
        groups = rank_groups(ranks, per_node)
    assert sum(groups) == ranks and len(set(groups)) == 1 and groups[0] <= per_node


SIZES = st.sampled_from([(0.0, 1.0), (0.25, 0.0), (0.6, 1.0), (1.0, 0.0), (1.0, 1.0), (2.0, 0.0), (2.0, 3.0)])
ROOMS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=3)


def holds(room: tuple[int, int], sizes: list[tuple[float, float]]) -> bool:
    """Whether one node takes all these groups: written anew, each way to share its GPUs tried."""
    gpus, cpus = room
    parts = [round(size * 100) for size, _ in sizes if 0 < size < 1]
    whole = sum(int(size) for size, _ in sizes if size >= 1)
    if sum(cpu for _, cpu in sizes) > cpus or whole > gpus:
        return False
    ways = product(range(gpus - whole), repeat=len(parts)) if parts else [()]
    return any(
        all(
            sum(part for part, at in zip(parts, way, strict=True) if at == gpu) <= 100
            for gpu in range(gpus - whole)
        )
        for way in ways
    )


@given(st.lists(SIZES, max_size=5), ROOMS)
def test_a_packing_is_found_exactly_where_there_is_one(
    sizes: list[tuple[float, float]], rooms: list[tuple[int, int]]
) -> None:
    groups = [Group(f"g{at}", gpus, cpus) for at, (gpus, cpus) in enumerate(sizes)]
    found = pack(groups, [Room.of(str(at), gpus, cpus) for at, (gpus, cpus) in enumerate(rooms)])

    def valid(nodes: tuple[int, ...]) -> bool:
        return all(
            holds(room, [size for size, at in zip(sizes, nodes, strict=True) if at == index])
            for index, room in enumerate(rooms)
        )

    if found is not None:
        assert valid(tuple(int(found[group.name]) for group in groups))
    else:
        assert not any(valid(nodes) for nodes in product(range(len(rooms)), repeat=len(sizes)))


GANGS = st.lists(
    st.builds(
        Gang,
        noun=st.just("solver"),
        count=st.integers(1, 4),
        gpus=st.integers(0, 3),
        cpus=st.integers(0, 3),
    ),
    max_size=2,
)


@given(GANGS, ROOMS)
def test_nothing_is_missing_exactly_where_the_groups_can_be_placed(
    gangs: list[Gang], rooms: list[tuple[int, int]]
) -> None:
    wanted = Demand(tuple(gang for gang in gangs if gang.gpus or gang.cpus))
    nodes = [node(f"n{at}", gpus, cpus, head=at == 0) for at, (gpus, cpus) in enumerate(rooms)]
    found = placed(wanted, nodes)
    assert (missing(wanted, nodes) == []) == (found is not None)
    for held in nodes if found else ():
        here = [gang for gang, at in found or () if at == held.id]
        assert sum(gang.gpus for gang in here) <= held.gpus and sum(gang.cpus for gang in here) <= held.cpus


def test_the_next_actor_goes_where_the_fewest_are() -> None:
    nodes = [node("a"), node("b"), node("c", alive=False)]
    assert choose({"a": 1, "b": 2}, nodes) == "a"
    assert choose({}, nodes) == "a"
    assert choose({"b": 5}, nodes, avoid={"a"}) == "b"


def test_an_avoided_node_is_better_than_none_and_a_dead_one_is_not() -> None:
    assert choose({"a": 9}, [node("a"), node("b", alive=False)], avoid={"a"}) == "a"
    assert choose({}, [node("a", alive=False)]) is None


def test_a_small_group_fills_up_what_is_begun_and_leaves_whole_nodes_whole() -> None:
    nodes = cluster(8, 8, 8)
    assert tightest(1, nodes, {"n1": 3}) == "n1"
    assert tightest(1, nodes, {}) == "n0"
    assert tightest(1, nodes, {"n0": 8, "n1": 7.5, "n2": 7}) == "n2"
    assert tightest(0.5, nodes, {"n0": 8, "n1": 7.5, "n2": 7}, avoid={"n1"}) == "n2"
    assert tightest(2, nodes, {"n0": 8, "n1": 7, "n2": 7}) is None


def test_an_avoided_node_is_emptied_before_anything_is_balanced() -> None:
    nodes = [node("a"), node("b"), node("c")]
    assert rebalance({"a": 5, "b": 1, "c": 1}, nodes, avoid={"b"}) == "b"
    assert rebalance({"a": 1, "b": 1}, nodes, avoid={"a", "b", "c"}) is None


LOADS = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 6))
SOME = st.sets(st.sampled_from("abcd"))
FREE = st.fixed_dictionaries({id: st.sampled_from([0.0, 1.0, 2.0, 99.0]) for id in "abcd"})


@given(LOADS, SOME, SOME, FREE, st.sampled_from([0.0, 1.0]))
def test_moving_one_actor_at_a_time_ends_and_is_as_balanced_as_there_is_room(
    load: dict[str, int], avoid: set[str], dead: set[str], free: dict[str, float], cpus: float
) -> None:
    left, most, free = Counter(load), sum(load.values()), dict(free)

    def now() -> list[Node]:
        return [replace(node(id, alive=id not in dead), free_cpus=free[id]) for id in "abcd"]

    for _ in range(most + 1):
        if (source := rebalance(left, now(), avoid, cpus)) is None:
            break
        left[source] -= 1
        free[source] += cpus
        target = choose(left, now(), avoid, cpus)
        assert target is not None and target != source and free[target] >= cpus
        left[target] += 1
        free[target] -= cpus
    assert rebalance(left, now(), avoid, cpus) is None
    allowed = [id for id in "abcd" if id not in dead | avoid]
    roomy = [left[id] for id in allowed if free[id] >= cpus]
    assert sum(left.values()) == most
    assert not roomy or max(left[id] for id in allowed) - min(roomy) <= 1


def test_a_node_without_a_free_core_gets_an_actor_only_where_all_are_full() -> None:
    full, roomy = replace(node("a"), free_cpus=0.5), replace(node("b"), free_cpus=1.0)
    assert choose({"b": 7}, [full, roomy], cpus=1) == "b"
    assert choose({"b": 7}, [full, roomy], cpus=2) == "a"
    assert rebalance({"b": 7}, [full, roomy], cpus=1) is None


def test_nodes_are_avoided_only_while_another_is_large_enough() -> None:
    nodes = cluster(4, 4, 1)
    assert avoidable(4, nodes, {"n0"}) == {"n0"}
    assert not avoidable(4, nodes, {"n0", "n1"}), "the third is too small"
    assert avoidable(1, nodes, {"n0", "n1"}) == {"n0", "n1"}
    assert not avoidable(4, [node("n0", 4), node("n1", 4, alive=False)], {"n0"})
