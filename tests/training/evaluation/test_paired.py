"""Paired gains."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.evaluation.paired import UnpairedScores, paired_gain

scores = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60)


def test_a_clear_gain_lies_above_zero() -> None:
    gain = paired_gain([False] * 90 + [True] * 10, [False] * 60 + [True] * 40)
    assert (gain.count, gain.before, gain.after) == (100, 0.1, 0.4)
    assert gain.gain == pytest.approx(0.3)
    assert gain.certain


def test_no_change_is_no_proof_of_no_change() -> None:
    gain = paired_gain([0.0] * 50, [0.0] * 50)
    assert gain.low < 0 < gain.high and not gain.certain


def test_lists_of_different_questions_are_refused() -> None:
    for before, after in (([1.0], [1.0, 0.0]), ([], [])):
        with pytest.raises(UnpairedScores):
            paired_gain(before, after)


@given(scores)
def test_the_interval_turns_round_with_the_lists(pairs: list[tuple[bool, bool]]) -> None:
    there, back = (paired_gain([p[i] for p in pairs], [p[1 - i] for p in pairs]) for i in (0, 1))
    assert (there.low, there.high) == (pytest.approx(-back.high), pytest.approx(-back.low))
    assert there.low < there.high


def test_the_interval_covers_the_truth_about_nineteen_times_in_twenty() -> None:
    rng, covered = random.Random(0), 0
    for _ in range(400):
        before = [rng.random() < 0.06 for _ in range(100)]
        after = [rng.random() < 0.16 for _ in range(100)]
        gain = paired_gain(before, after)
        covered += gain.low <= 0.1 <= gain.high
    assert covered / 400 > 0.92
