"""The preset `evoenv-paper`: the paper's values, each marked, and its ablations, each one override."""

from __future__ import annotations

from importlib import resources
from typing import Any

import pytest

from actors.generator import rewards_of
from actors.validator import settings_of
from cluster.config import Config
from cluster.resolve import resolve
from envpool.members import Origin
from envpool.seeds import read_seeds
from envpool.shipped import shipped
from training.proposals import proposal_group
from training.trajectory import Sample, Trajectory

KNOWN = {
    "run.steps": 100,
    "learner.generator_advantage": 0.3,
    "generator.seed_floor": 0.2,
    "generator.train": True,
    "grammar.enabled": False,
    "compose.mode": "single",
    "admission.calibrate": True,
    "admission.calibration_instances": 8,
    "review.enabled": True,
    "review.by": "",
    "review.count": 3,
    "novelty.near_duplicate": 0.80,
    "novelty.bonus_low": 0.45,
    "novelty.bonus_high": 0.65,
    "reward.quality_centre": 0.3,
    "curation.seed_floor": 0.2,
    "pool.bricks": "none",
}
"""By `methods.md`, EvoEnv, as far as they are keys."""


def paper(*overrides: str) -> Config:
    return resolve("evoenv-paper", overrides)


def test_every_value_is_marked_as_the_papers_or_ours() -> None:
    text = resources.files("cluster.configs").joinpath("evoenv-paper.yaml").read_text(encoding="utf-8")
    values = [line for line in text.splitlines() if line.startswith(" ") and not line.endswith(":")]
    assert len(values) > 100
    assert [line for line in values if not line.partition("  # ")[2].startswith(("paper", "ours"))] == []


@pytest.mark.parametrize("key", KNOWN)
def test_what_is_known_of_the_paper_is_so(key: str) -> None:
    section, name = key.split(".")
    assert getattr(getattr(paper(), section), name) == KNOWN[key]


def test_ten_seeds_are_the_pool_and_fifty_other_programs_the_evaluation() -> None:
    pool = paper().pool
    programs = shipped(pool.seeds, pool.bricks, pool.held_out)
    assert [each.name for each in programs if not each.held_out] == [name for name, _ in read_seeds()]
    assert sum(each.held_out for each in programs) == 50


def test_what_fails_l1_to_l4_is_punished_and_what_falls_later_is_not() -> None:
    assert [earned(paper(), gate=gate).shaping < 0 for gate in ("L1", "L2", "L3", "L4", "L5", "review")] == [
        True, True, True, True, False, False,
    ]  # fmt: skip


def earned(config: Config, gate: str = "", rate: float = 0.3, similarity: float = 0.2) -> Trajectory:
    """What a proposal earns in a run of this configuration."""
    verdict: dict[str, Any] = {
        "gate": gate,
        "valid": gate in ("", "review"),
        "admitted": not gate,
        "evidence": {"success_rate": rate, "similarity": similarity},
    }
    sample = Sample("class A: ...", [1], [2], [-0.1], 0, 0, True)
    return proposal_group("g", "main", [sample], [verdict], rewards_of(config)).trajectories[0]


def rewards(config: Config) -> list[float]:
    """Of three proposals: of the sought difficulty and new; too hard and new; of the sought difficulty and a copy."""
    cases = ({}, {"rate": 0.99}, {"similarity": 0.79})
    return [earned(config, **case).reward for case in cases]  # type: ignore[arg-type]


def test_a_reward_is_made_of_all_three_parts() -> None:
    full, hard, copy = rewards(paper())
    assert full == pytest.approx(1.0) and hard < full and copy < full


def test_without_quality_difficulty_earns_nothing_and_the_other_parts_stay() -> None:
    full, hard, copy = rewards(paper("reward.quality=0"))
    assert full == hard == pytest.approx(0.75)
    assert full - copy == pytest.approx(rewards(paper())[0] - rewards(paper())[2])
    assert settings_of(paper("reward.quality=0")) == settings_of(paper()), "the gates are the same"


def test_without_novelty_a_near_copy_earns_as_much_and_no_gate_stops_it() -> None:
    bare = paper("novelty.enabled=false")
    full, hard, copy = rewards(bare)
    assert full == copy == pytest.approx(0.5)
    assert full - hard == pytest.approx(rewards(paper())[0] - rewards(paper())[1])
    assert (settings_of(bare).near_duplicate, settings_of(paper()).near_duplicate) == (None, 0.80)


def test_with_a_fixed_pool_nobody_makes_members() -> None:
    fixed = paper("generator.enabled=false")
    assert paper().policy_writes
    assert not (fixed.policy_writes or fixed.grammar.enabled or fixed.composes)
    assert {each.origin for each in shipped(fixed.pool.seeds, fixed.pool.bricks)} == {Origin.SEED}


@pytest.mark.parametrize("override", ["reward.quality=0", "novelty.enabled=false", "generator.enabled=false"])
def test_an_ablation_changes_nothing_else(override: str) -> None:
    changed, whole = paper(override).model_dump(), paper().model_dump()
    section, name = override.partition("=")[0].split(".")
    assert changed[section][name] != whole[section][name]
    changed[section][name] = whole[section][name]
    assert changed == whole
