"""The real learner: verl's worker group under Ray, on a tiny model."""

from __future__ import annotations

import os
import random
import shutil
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import ray
from safetensors import safe_open

from tests.training.grpo.scripted import response_logprobs, save_tiny_model, scripted_group
from training.grpo.learner import Learner, LearnerError, LearnerRankLost
from training.grpo.settings import LearnerSettings
from training.trajectory import Group


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    root = str(Path(__file__).parents[3])
    environment = {"PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
    ray.shutdown()  # the actors' tests keep theirs for the whole session, and a process has one
    ray.init(
        address="local",  # not a cluster that happens to be up on this machine
        num_cpus=4,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": environment},
    )
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> LearnerSettings:
    model = save_tiny_model(tmp_path_factory.mktemp("model"))
    return LearnerSettings(model, threads=1, lr=3e-3, weight_decay=0.0, precision="fp32", micro_batch=4)


@pytest.fixture(scope="module")
def groups(settings: LearnerSettings) -> list[Group]:
    rng = random.Random(0)
    roles = ("solver", "solver", "generator")
    return [
        scripted_group(f"g{k}", [0.0, 1.0, 0.0, 1.0], rng, role, settings.model_path)  # type: ignore[arg-type]
        for k, role in enumerate(roles)
    ]


@pytest.fixture(scope="module")
def learner(settings: LearnerSettings) -> Iterator[Learner]:
    made = Learner(settings)
    made.start()
    yield made
    made.close()


@pytest.fixture(scope="module")
def first_step(learner: Learner, groups: list[Group]) -> dict[str, float]:
    return learner.update(groups)


def test_trainer_and_sampler_agree_where_both_have_the_same_weights(first_step: dict[str, float]) -> None:
    assert first_step["ratio_min"] == pytest.approx(1.0, abs=1e-4)
    assert first_step["ratio_max"] == pytest.approx(1.0, abs=1e-4)
    assert first_step["logprob_diff"] < 1e-4 and 0 <= first_step["kl"] < 1e-6
    assert first_step["clip_fraction"] == 0.0 and first_step["skipped"] == 0.0
    assert (first_step["version"], first_step["groups"], first_step["generator_groups"]) == (1, 3, 1)


def test_rewarded_responses_become_likelier_and_others_less_so(
    first_step: dict[str, float], learner: Learner, groups: list[Group], tmp_path: Path
) -> None:
    for _ in range(3):
        metrics = learner.update(groups)
    assert metrics["ratio_min"] < 1.0 < metrics["ratio_max"]
    shutil.copytree(learner.settings.model_path, tmp_path, dirs_exist_ok=True)
    learner.export(tmp_path / "model.safetensors")
    moved = {0.0: 0.0, 1.0: 0.0}
    for trajectory in (t for group in groups for t in group.trajectories):
        now = response_logprobs(tmp_path, trajectory.sample)
        moved[trajectory.reward] += sum(now) - sum(trajectory.sample.logprobs)
    assert moved[1.0] > 0 > moved[0.0]


def test_exported_tensors_have_the_names_and_shapes_of_the_model(learner: Learner, tmp_path: Path) -> None:
    made = learner.export(tmp_path / "weights.safetensors")
    with (
        safe_open(made, "pt") as ours,
        safe_open(learner.settings.model_path / "model.safetensors", "pt") as theirs,
    ):
        assert set(ours.keys()) == set(theirs.keys())
        assert all(ours.get_slice(k).get_shape() == theirs.get_slice(k).get_shape() for k in ours.keys())  # noqa: SIM118
    assert [path.name for path in tmp_path.iterdir()] == ["weights.safetensors"]


def test_training_goes_on_from_a_checkpoint_as_if_nothing_had_happened(
    learner: Learner, groups: list[Group], tmp_path: Path
) -> None:
    learner.update(groups)
    learner.save(tmp_path, {"step": 5})
    version, onward = learner.version, learner.update(groups)
    found = learner.load(tmp_path)
    assert found is not None and (found.version, found.extra) == (version, {"step": 5})
    again = learner.update(groups)
    names = ("loss", "grad_norm", "ratio_mean", "kl", "version")
    assert {name: again[name] for name in names} == pytest.approx({name: onward[name] for name in names})


def test_the_version_can_be_named_by_the_caller(learner: Learner, groups: list[Group]) -> None:
    metrics = learner.update(groups, version=100)
    assert (metrics["version"], metrics["staleness_max"]) == (100, 99)


def test_a_learner_that_is_not_started_says_so(settings: LearnerSettings, groups: list[Group]) -> None:
    with pytest.raises(LearnerError, match="not started"):
        Learner(settings).update(groups)


@ray.remote(num_cpus=0)
class Elsewhere:
    """A learner of two ranks that lives inside an actor, as in a run."""

    def start(self, settings: LearnerSettings) -> None:
        self.learner = Learner(settings)
        self.learner.start()

    def update(self, groups: list[Group]) -> dict[str, float]:
        return self.learner.update(groups)

    def save(self, root: Path) -> None:
        self.learner.save(root)

    def lose_a_rank(self, groups: list[Group]) -> str:
        os.kill(self.learner.describe()[1]["pid"], signal.SIGKILL)
        try:
            self.learner.update(groups)
        except LearnerRankLost:
            return "rank lost"
        return "nothing noticed"

    def restart(self, root: Path) -> int:
        self.learner.restart(root)
        return self.learner.version

    def close(self) -> None:
        self.learner.close()


def held_placement_groups() -> list[dict[str, Any]]:
    table = ray.util.placement_group_table().values()
    return [entry for entry in table if entry["state"] != "REMOVED"]


def test_a_group_that_loses_a_rank_is_rebuilt_whole_from_its_checkpoint(
    settings: LearnerSettings, groups: list[Group], first_step: dict[str, float], tmp_path: Path
) -> None:
    held = len(held_placement_groups())
    actor = Elsewhere.remote()
    ray.get(actor.start.remote(replace(settings, ranks=2)))
    one = ray.get(actor.update.remote(groups))
    for name in ("loss", "grad_norm", "ratio_mean"):
        assert one[name] == pytest.approx(first_step[name], rel=1e-3, abs=1e-6)
    ray.get(actor.save.remote(tmp_path))
    two = ray.get(actor.update.remote(groups))
    assert ray.get(actor.lose_a_rank.remote(groups)) == "rank lost"
    assert ray.get(actor.restart.remote(tmp_path)) == 1
    assert ray.get(actor.update.remote(groups))["loss"] == pytest.approx(two["loss"], rel=1e-3, abs=1e-6)
    ray.get(actor.close.remote())
    assert len(held_placement_groups()) == held
