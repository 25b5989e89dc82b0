"""What a policy earns for scripted proposals, and that such groups join the learner's batches."""

import math
from typing import Any

import pytest

from training.proposals import ProposalRewards, proposal_group
from training.trajectory import Group, Sample


def sample(text: str = "class A: ...") -> Sample:
    return Sample(text, [1, 2], [3, 4], [-0.1, -0.2], 5, 5, True)


def verdict(gate: str = "", **evidence: Any) -> dict[str, Any]:
    valid = gate in ("", "calibration")
    return {"gate": gate, "valid": valid, "admitted": gate == "", "evidence": evidence}


def group(*verdicts: dict[str, Any], penalty: float = 0.0) -> Group:
    return proposal_group(
        "g", "main", [sample() for _ in verdicts], verdicts, ProposalRewards(penalty=penalty)
    )


def rewards(*verdicts: dict[str, Any]) -> list[float]:
    return [trajectory.reward for trajectory in group(*verdicts).trajectories]


def test_an_admitted_new_environment_of_the_sought_difficulty_earns_everything() -> None:
    assert rewards(verdict(success_rate=0.3, similarity=0.2)) == [pytest.approx(1.0)]


def test_a_program_that_falls_at_an_early_gate_earns_nothing_by_default() -> None:
    (trajectory,) = group(verdict("L2")).trajectories
    assert (trajectory.reward, trajectory.shaping, trajectory.success) == (0.0, 0.0, False)


def test_a_penalty_is_shaping_and_never_enters_the_reward() -> None:
    early, late = group(verdict("L3"), verdict("calibration", success_rate=0.0), penalty=-0.1).trajectories
    assert (early.reward, early.shaping) == (0.0, -0.1)
    assert late.shaping == 0.0


def test_too_hard_an_environment_still_earns_validation_and_some_quality() -> None:
    (reward,) = rewards(verdict("calibration", success_rate=0.0, similarity=0.9))
    assert reward == pytest.approx(0.2 + 0.5 * math.exp(-(0.3**2) / (2 * 0.2**2)))


def test_a_copy_earns_no_novelty() -> None:
    near, far = rewards(verdict(success_rate=0.3, similarity=0.7), verdict(success_rate=0.3, similarity=0.4))
    assert far - near == pytest.approx(0.3)


def test_proposals_that_differ_give_the_group_variance_and_those_that_all_fail_do_not() -> None:
    assert group(verdict("L1"), verdict(success_rate=0.4, similarity=0.5)).has_variance
    assert not group(verdict("L1"), verdict("size")).has_variance


@pytest.mark.parametrize("gate", ["reply", "size", "L1"])
def test_a_reply_without_a_program_counts_as_unreadable(gate: str) -> None:
    unreadable, readable = group(verdict(gate), verdict("L4")).trajectories
    assert (unreadable.parsed, readable.parsed) == (False, True)


def test_a_group_carries_the_parts_of_each_reward_to_the_learner_and_back() -> None:
    made = group(verdict(success_rate=0.3, similarity=0.55), verdict("reply"), penalty=-0.05)
    first, second = Group.from_dict(made.to_dict()).trajectories
    assert first.parts == pytest.approx(
        {"validation": 0.2, "quality": 0.5, "novelty": 0.15, "shaping": 0.0, "total": 0.85}
    )
    assert second.parts == pytest.approx(
        {"validation": 0.0, "quality": 0.0, "novelty": 0.0, "shaping": -0.05, "total": -0.05}
    )
    assert [each.value for each in (first, second)] == [each.parts["total"] for each in (first, second)]
