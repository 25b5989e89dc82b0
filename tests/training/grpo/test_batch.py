"""Groups become one batch: advantages, order, filling rows."""

from __future__ import annotations

import random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.training.grpo.scripted import scripted_group
from training.grpo.batch import EmptyBatch, Row, advantages, arrange, build_batch
from training.trajectory import Group, Sample, Trajectory


def test_advantages_are_centred_within_each_group() -> None:
    rng = random.Random(0)
    values = advantages([scripted_group("a", [0, 0, 1, 1], rng), scripted_group("b", [0, 0, 0, 1], rng)], 1.0)
    assert values[0] == pytest.approx([-0.866, -0.866, 0.866, 0.866], abs=1e-3)
    assert sum(values[1]) == pytest.approx(0.0, abs=1e-5) and values[1][3] == pytest.approx(1.5, abs=1e-3)


def test_a_generator_group_weighs_three_tenths_in_the_same_batch() -> None:
    rng = random.Random(0)
    solver, generator = (scripted_group(role, [0, 1], rng, role) for role in ("solver", "generator"))
    ours, theirs = advantages([solver, generator], 0.3)
    assert theirs == pytest.approx([0.3 * value for value in ours])


def test_shaping_is_trained_on() -> None:
    sample = Sample("", [1], [2], [-1.0], 0, 0, True)
    group = Group(
        "g",
        "solver",
        "main",
        {},
        (Trajectory(sample, 0, False, True, 0.1), Trajectory(sample, 0, False, False)),
    )
    assert advantages([group], 1.0)[0][0] > 0


def test_no_group_is_no_batch() -> None:
    with pytest.raises(EmptyBatch):
        build_batch([], ranks=1, micro_batch=8, temperature=1.0, generator_scale=0.3)


def test_responses_without_a_token_are_no_batch() -> None:
    empty = Trajectory(Sample("", [1], [], [], 0, 0, True), 0.0, False, False)
    with pytest.raises(EmptyBatch):
        build_batch([Group("g", "solver", "main", {}, (empty,))], ranks=1, micro_batch=8, temperature=1.0,
                    generator_scale=0.3)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=8), st.integers(1, 3), st.integers(1, 9))
def test_every_sample_is_placed_once_and_fillers_weigh_nothing(
    sizes: list[int], ranks: int, micro_batch: int
) -> None:
    groups = [
        [Row(Sample(f"{g}/{k}", [1] * (g + 1), [2], [-1.0], 0, 0, True), 1.0) for k in range(size)]
        for g, size in enumerate(sizes)
    ]
    rows, size = arrange(groups, ranks, micro_batch)
    real = sorted(row.sample.text for row in rows if row.weight)
    assert real == sorted(row.sample.text for group in groups for row in group)
    assert len(rows) % (ranks * size) == 0 and size <= micro_batch
    assert len(rows) - len(real) < ranks * micro_batch


def test_ranks_see_micro_batches_of_like_length_at_the_same_time() -> None:
    groups = [[Row(Sample("", [1] * n, [2], [-1.0], 0, 0, True), 1.0)] * 2 for n in (5, 40, 6, 41)]
    rows, size = arrange(groups, ranks=2, micro_batch=2)
    lengths = [len(row.sample.prompt_ids) for row in rows]
    assert size == 2 and lengths == [41, 41, 6, 6, 40, 40, 5, 5]


def test_the_mask_counts_response_tokens_only() -> None:
    groups = [scripted_group(f"g{k}", [0, 1, 0], random.Random(k)) for k in range(3)]
    batch = build_batch(groups, ranks=2, micro_batch=2, temperature=1.0, generator_scale=0.3)
    tokens = sum(len(t.sample.token_ids) for group in groups for t in group.trajectories)
    assert batch["loss_mask"].values().sum() == tokens
    assert torch.equal(batch["prompts"].offsets().diff() + batch["responses"].offsets().diff(),
                       batch["input_ids"].offsets().diff())  # fmt: skip
