"""The preset `races-paper`: the paper's values, each marked, and its controls, each an override of one run."""

from __future__ import annotations

from importlib import resources
from typing import Any

import pytest

from cluster.config import Config
from cluster.resolve import resolve
from envpool.curation import CurationSettings
from envpool.members import Origin
from envpool.seeds import read_seeds

KNOWN = {
    "run.steps": 300,
    "policy.model": "Qwen/Qwen3-14B",
    "policy.max_model_len": 32768,
    "learner.groups_per_step": 128,
    "learner.clip_high": 0.28,
    "generator.enabled": False,
    "grammar.enabled": False,
    "compose.mode": "composed",
    "compose.operators": ("SEQUENTIAL", "PARALLEL", "SORT", "SELECT"),
    "compose.size": (2, 3, 4, 5, 6),
    "compose.success": None,
    "bricks.subset": 300,
}
"""By `methods.md`, RACES, as far as they are keys."""
CONTROLS = {
    "compose.mode=single": "single",
    "compose.size=2": (2,),
    "compose.size=6": (6,),
    "bricks.subset=50": 50,
    "policy.model=Qwen/Qwen3-4B": "Qwen/Qwen3-4B",
}


def paper(*overrides: str) -> Config:
    return resolve("races-paper", overrides)


def value(config: Config, key: str) -> Any:
    section, name = key.split(".")
    return getattr(getattr(config, section), name)


def trained_on(config: Config) -> set[str]:
    return {each.name for each in config.programs() if not each.held_out}


def test_every_value_is_marked_as_the_papers_or_ours() -> None:
    text = resources.files("cluster.configs").joinpath("races-paper.yaml").read_text(encoding="utf-8")
    values = [line for line in text.splitlines() if line.startswith(" ") and not line.endswith(":")]
    assert len(values) > 50
    assert [line for line in values if not line.partition("  # ")[2].startswith(("paper", "ours"))] == []


@pytest.mark.parametrize("key", KNOWN)
def test_what_is_known_of_the_paper_is_so(key: str) -> None:
    assert value(paper(), key) == KNOWN[key]


def test_its_thirty_two_gpus_are_solvers_and_ranks() -> None:
    config = paper()
    assert config.solver.count * config.solver.gpus + config.learner.ranks * config.learner.gpus == 32


def test_the_base_set_are_300_bricks_and_the_seeds_are_set_apart() -> None:
    programs = paper().programs()
    assert len(trained_on(paper())) == 300
    assert {each.origin for each in programs if not each.held_out} == {Origin.BRICK}
    assert {each.name for each in programs if each.held_out} == {name for name, _ in read_seeds()}


def test_nobody_writes_and_nothing_rests_or_retires() -> None:
    config = paper()
    assert not config.policy_writes and config.composes
    limits = CurationSettings(**config.curation.model_dump(), mode=config.compose.mode)
    assert (limits.rest_hard, limits.rest_easy, limits.retire_epochs) == (0.0, 1.0, None)
    assert limits.groups == ("composites",)


@pytest.mark.parametrize("override", CONTROLS)
def test_a_control_is_one_override_and_changes_nothing_else(override: str) -> None:
    key = override.partition("=")[0]
    changed, whole = paper(override), paper()
    assert value(changed, key) == CONTROLS[override] != value(whole, key)
    section, name = key.split(".")
    plain = changed.model_dump()
    plain[section][name] = value(whole, key)
    assert plain == whole.model_dump()


def test_single_environments_are_those_that_composites_are_made_of() -> None:
    single = paper("compose.mode=single")
    assert single.programs() == paper().programs()
    assert not single.composes
    limits = CurationSettings(**single.curation.model_dump(), mode=single.compose.mode)
    assert "composites" not in limits.groups


def test_fifty_bricks_are_of_the_300_and_are_evaluated_on_the_same_programs_set_apart() -> None:
    few, many = paper("bricks.subset=50"), paper()
    assert len(trained_on(few)) == 50 and trained_on(few) < trained_on(many)
    apart = [[each.name for each in config.programs() if each.held_out] for config in (few, many)]
    assert apart[0] == apart[1] != []


def test_another_seed_draws_other_bricks() -> None:
    assert trained_on(paper("bricks.subset=50", "run.seed=1")) != trained_on(paper("bricks.subset=50"))
