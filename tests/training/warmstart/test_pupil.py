"""The learner told by example: verl's supervised loss on a tiny model, under Ray."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray

from tests.training.grpo.scripted import response_logprobs, save_tiny_model
from training.grpo.batch import EmptyBatch, Row
from training.grpo.settings import LearnerSettings
from training.trajectory import Sample
from training.warmstart.pupil import Pupil, supervised_batch

ROOT = Path(__file__).parents[3]


def row(prompt: list[int], reply: list[int], weight: float = 1.0) -> Row:
    return Row(Sample("", prompt, reply, [0.0] * len(reply), 0, 0, True), 0.0, weight)


LESSONS = [
    row([1, 2, 3, 4], [10, 11, 12]),
    row([1, 2, 3, 4], [10, 20, 21, 22]),
    row([1, 5], [30], 6.0),
]


@pytest.fixture(scope="module")
def pupil(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pupil]:
    environment = {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    ray.shutdown()  # the actors' tests keep theirs for the whole session, and a process has one
    ray.init(
        address="local", num_cpus=2, include_dashboard=False, log_to_driver=False,
        runtime_env={"env_vars": environment},
    )  # fmt: skip
    model = save_tiny_model(tmp_path_factory.mktemp("model"))
    made = Pupil(
        LearnerSettings(model, threads=1, lr=1e-2, weight_decay=0.0, precision="fp32", micro_batch=3)
    )
    made.start()
    yield made
    made.close()
    ray.shutdown()


def mean_nll(folder: Path) -> float:
    """What a plain forward pass says of the lessons: the mean over reply tokens, by their weights."""
    sums = [(each.weight, response_logprobs(folder, each.sample)) for each in LESSONS]
    return -sum(weight * sum(logs) for weight, logs in sums) / sum(
        weight * len(logs) for weight, logs in sums
    )


def test_the_loss_is_the_weighted_mean_over_reply_tokens_and_falls(pupil: Pupil) -> None:
    first = pupil.imitate(LESSONS, lr=1e-2)
    assert first["loss"] == pytest.approx(mean_nll(pupil.settings.model_path), rel=1e-4)
    assert first["tokens"] == 8 and first["grad_norm"] > 0
    later = [pupil.imitate(LESSONS, lr=1e-2)["loss"] for _ in range(8)]
    assert later[-1] < 0.8 * first["loss"]


def test_a_rate_of_zero_changes_nothing_and_the_rate_is_each_steps_own(pupil: Pupil) -> None:
    before = pupil.imitate(LESSONS, lr=0.0)["loss"]
    assert pupil.imitate(LESSONS, lr=0.0)["loss"] == pytest.approx(before, abs=1e-6)
    pupil.imitate(LESSONS, lr=1e-2)
    assert pupil.imitate(LESSONS, lr=0.0)["loss"] < before


def test_rows_that_fill_a_micro_batch_weigh_nothing(pupil: Pupil) -> None:
    batch = supervised_batch(LESSONS, ranks=1, micro_batch=2)
    assert len(batch) == 4
    weights = [float(mask.sum()) for mask in batch["loss_mask"].unbind()]
    assert sorted(weights) == [0.0, 3.0, 4.0, 6.0]
    lengths = batch["input_ids"].offsets().diff().tolist()
    assert batch["loss_mask"].offsets().diff().tolist() == lengths


def test_lessons_without_a_token_are_no_batch() -> None:
    with pytest.raises(EmptyBatch):
        supervised_batch([row([1], [])], ranks=1, micro_batch=2)
