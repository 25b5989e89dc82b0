"""The key of a writer: everything that decides what is in the folder decides its name."""

from dataclasses import fields, replace
from pathlib import Path

import pytest

from training.policy import source
from training.policy.source import PACKAGED, ModelUnavailable, resolve_model
from training.warmstart import plan as planning
from training.warmstart.plan import WarmStart

PLAN = WarmStart()


@pytest.mark.parametrize("name", [field.name for field in fields(WarmStart) if field.name != "base"])
def test_every_value_of_a_plan_is_in_its_key(name: str) -> None:
    other = replace(PLAN, **{name: getattr(PLAN, name) + 1})
    assert other.key("weights") != PLAN.key("weights")


def test_other_base_weights_and_another_recipe_make_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    key = PLAN.key("weights")
    assert PLAN.key("other") != key == PLAN.key("weights")
    monkeypatch.setattr(planning, "RECIPE", planning.RECIPE + 1)
    assert PLAN.key("weights") != key


def test_the_name_of_a_writer_finds_its_folder_and_says_how_to_make_a_missing_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(ModelUnavailable, match="envolve warmstart"):
        resolve_model("smollm2-135m-writer")
    folder = PLAN.folder(source.models_folder(), PACKAGED["smollm2-135m"].weights_sha256)
    folder.mkdir(parents=True)
    assert resolve_model("smollm2-135m-writer") == folder


def test_a_folder_that_ends_like_a_writer_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "mine-writer").mkdir()
    assert resolve_model(str(tmp_path / "mine-writer")) == tmp_path / "mine-writer"
