"""Rewards of solver and generator."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envpool.contract import Failed, Scored, Unparsed
from training.rewards import NoReward, SolverReward, generator_reward, quality, solver_reward

share = st.floats(0, 1)
PARTS = ("validation", "quality", "novelty", "shaping", "total")


def test_shaping_stays_apart_from_the_verdict() -> None:
    assert solver_reward(Scored(0.5), 0.1) == SolverReward(0.5, 0.1)
    assert solver_reward(Unparsed("missing"), 0.1) == SolverReward(0.0, 0.0)


def test_a_failed_scoring_is_no_reward() -> None:
    with pytest.raises(NoReward):
        solver_reward(Failed("the sandbox is gone"))


def test_quality_is_highest_where_three_in_ten_succeed() -> None:
    assert quality(0.3) == 1.0
    assert quality(0.0) == pytest.approx(0.3247, abs=1e-4)
    assert quality(1.0) < 0.01


@given(share, share)
def test_a_generator_reward_lies_within_zero_and_one(rate: float, novelty: float) -> None:
    assert 0.2 <= generator_reward(True, rate, novelty).verdict <= 1.0


def test_what_is_not_valid_earns_nothing() -> None:
    assert generator_reward(False, 0.3, 1.0).parts() == dict.fromkeys(PARTS, 0.0)


def test_shaping_of_a_proposal_is_in_what_is_trained_on_and_not_in_the_verdict() -> None:
    reward = generator_reward(False, None, 0.0, shaping=-0.1)
    assert (reward.verdict, reward.parts()["total"]) == (0.0, -0.1)


def test_the_parts_of_a_reward_are_told_and_sum_up_to_it() -> None:
    parts = generator_reward(True, 0.3, 0.5).parts()
    assert parts == pytest.approx(
        {"validation": 0.2, "quality": 0.5, "novelty": 0.15, "shaping": 0.0, "total": 0.85}
    )


def test_what_was_not_calibrated_earns_validation_and_novelty() -> None:
    assert generator_reward(True, None, 1.0).verdict == pytest.approx(0.5)


def test_a_novelty_outside_its_range_is_refused() -> None:
    with pytest.raises(NoReward):
        generator_reward(True, 0.3, 1.5)
