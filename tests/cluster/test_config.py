"""The configuration's models: their defaults, their agreements, and that every key has an effect."""

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from cluster.config import Config
from cluster.resolve import known_keys

ROOT = Path(__file__).parents[2]
READ_WHOLE = {"curation"}
"""Sections that are handed on as they are."""


def test_the_defaults_are_a_valid_configuration() -> None:
    assert Config().run.steps > 0


@pytest.mark.parametrize("name", ["..", ".hidden", "a/b", "-x", "a b", "ä"])
def test_a_run_name_cannot_leave_the_folder_of_runs(name: str) -> None:
    with pytest.raises(ValidationError):
        Config.model_validate({"run": {"name": name}})


def test_the_run_folder_is_absolute_and_ends_in_the_runs_name(tmp_path: Path) -> None:
    config = Config.model_validate({"run": {"name": "a-1", "folder": str(tmp_path)}})
    assert config.run_folder == tmp_path / "a-1"
    assert Config.model_validate({"run": {"name": "a"}}).run_folder.is_absolute()


@pytest.mark.parametrize(
    ("tree", "word"),
    [
        ({"compose": {"mode": "composed"}, "composer": {"enabled": False}}, "composer.enabled=false makes none"),
        ({"compose": {"level": 3}}, "(admission.levels=3 tries 0 to 2)"),
        ({"bricks": {"subset": 5}, "pool": {"bricks": "none"}}, "bricks.subset=5 is drawn from pool.bricks"),
        ({"learner": {"ranks": 12, "ranks_per_node": 8}}, "set learner.ranks_per_node=6"),
        ({"curation": {"seed_floor": 0.7, "composite_share": 0.4}}, "all draws together"),
        ({"curation": {"window": 8}}, "window"),
        ({"policy": {"max_model_len": 600, "max_tokens": 600}}, "policy.max_tokens=600"),
        ({"policy": {"max_model_len": 500}}, "generator.max_tokens=512"),
        ({"novelty": {"bonus_low": 0.7}}, "novelty.bonus_high=0.65"),
        ({"admission": {"distinct_answers": 16}}, "admission.distinct_answers=16 is more than all 15 draws"),
        ({"reward": {"novelty": 0.4}}, "reward.validation, reward.quality and reward.novelty are 1.1 together"),
        ({"review": {"max_tokens": 2000}}, "review.max_tokens=2000 leaves no room for a prompt"),
        ({"pool": {"seeds": "none", "bricks": []}}, "nothing to train on"),
        ({"writer": {"endpoint": "http://x/v1"}}, "needs writer.model"),
        ({"writer": {"model": "m"}}, "needs writer.endpoint"),
        ({"writer": {"endpoint": "x", "model": "m"}}, "write it as http://HOST:8000/v1"),
        ({"writer": {"endpoint": "http://x/v1", "model": "m"}, "policy": {"name": "writer"}}, "choose another"),
        ({"sandbox": {"rung": "unsafe"}}, "sandbox.allow_unsafe=true"),
        ({"sandbox": {"rung": "wasm"}}, "wasm is not offered"),
    ],
)
def test_sections_that_contradict_each_other_are_refused(tree: dict[str, object], word: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(word)):
        Config.model_validate(tree)


@pytest.mark.parametrize("key", sorted(known_keys()))
def test_every_key_is_read_somewhere(key: str) -> None:
    section, name = key.split(".")
    files = [*(ROOT / "actors").rglob("*.py"), *(ROOT / "cluster").rglob("*.py")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    wanted = rf"\.{section}\.model_dump\(" if section in READ_WHOLE else rf"\b\w+\.{name}\b"
    assert re.search(wanted, text), f"{key} has no effect"


def test_a_review_may_be_longer_where_another_policy_reviews_or_nobody_does() -> None:
    for review in ({"by": "critic"}, {"enabled": False}):
        assert Config.model_validate({"review": {"max_tokens": 2000, **review}}).review.max_tokens == 2000
