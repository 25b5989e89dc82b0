"""The real learner with its ranks on two nodes of a Ray cluster, on the model that a run of the local preset has."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray
from ray.cluster_utils import Cluster
from ray.util.placement_group import placement_group, placement_group_table

from tests.training.grpo.scripted import save_tiny_model, scripted_group
from training.grpo.learner import Learner
from training.grpo.settings import LearnerSettings
from training.policy.source import resolve_model

NAME = "envolve-nodes/learner-"
ROOT = str(Path(__file__).parents[3])


@pytest.fixture(scope="module", autouse=True)
def nodes() -> Iterator[Cluster]:
    """Two nodes of one CPU: a rank fills each."""
    ray.shutdown()  # other tests keep theirs for the whole session, and a process has one
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    environment = {"PYTHONPATH": os.pathsep.join([ROOT, os.environ.get("PYTHONPATH", "")])}
    try:
        cluster.add_node(num_cpus=1)
        ray.init(address=cluster.address, log_to_driver=False, runtime_env={"env_vars": environment})
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def standing() -> dict[str, list[str]]:
    """The nodes of each placement group's bundles."""
    return {
        facts["name"]: list(facts["bundles_to_node_id"].values())
        for facts in placement_group_table().values()
        if facts["state"] != "REMOVED"
    }


def two_ranks(model: Path) -> LearnerSettings:
    return LearnerSettings(
        model, ranks=2, ranks_per_node=1, threads=1, precision="fp32", lr=1e-5, micro_batch=4, name=NAME
    )


def test_ranks_on_two_nodes_train_one_model_of_135m_parameters(tmp_path: Path) -> None:
    learner = Learner(two_ranks(resolve_model("smollm2-135m")))
    learner.start()
    try:
        assert len({rank["pid"] for rank in learner.describe()}) == 2
        step = learner.update([scripted_group("g", [0.0, 1.0], random.Random(0))])
        assert step["version"] == 1 and step["grad_norm"] > 0 and step["skipped"] == 0
        assert learner.export(tmp_path / "weights.safetensors").stat().st_size > 200 * 2**20
    finally:
        learner.close()


def test_each_group_has_a_node_of_its_own_and_none_outlives_its_learner(tmp_path: Path) -> None:
    left_by_a_killed_learner = placement_group([{"CPU": 1}], name=f"{NAME}verl_group_1_1:0")
    assert left_by_a_killed_learner.wait(10)
    groups = [
        scripted_group(f"g{k}", [0.0, 1.0, 1.0], random.Random(k), model=save_tiny_model(tmp_path / "model"))
        for k in range(2)
    ]
    learner = Learner(two_ranks(tmp_path / "model"))
    learner.start()
    try:
        first = standing()
        assert sorted(first) == [f"{NAME}verl_group_1_1:0", f"{NAME}verl_group_1_1:1"]
        assert sorted(node for on in first.values() for node in on) == sorted(
            n["NodeID"] for n in ray.nodes()
        )
        learner.update(groups)
        learner.save(tmp_path / "checkpoints")
        onward = learner.update(groups)
        assert learner.restart(tmp_path / "checkpoints") is not None
        assert len(standing()) == 2
        assert learner.update(groups)["loss"] == pytest.approx(onward["loss"], rel=1e-3, abs=1e-6)
    finally:
        learner.close()
    assert standing() == {}
