"""The wanted state: what may be asked for, and what a resumed run keeps."""

from __future__ import annotations

import pytest

from cluster import wanted
from cluster.config import Config
from cluster.wanted import WantedError

CONFIG = Config.model_validate({"sandbox": {"count": 2}})
FIRST = wanted.first(CONFIG)
RIVAL = {"name": "rival", "model": "smollm2-135m"}


def test_a_kind_that_cannot_be_scaled_is_refused_with_the_nearest() -> None:
    with pytest.raises(WantedError, match="'sandboxes' cannot be scaled; did you mean 'sandbox'"):
        wanted.scaled(FIRST, {"sandboxes": 4})


@pytest.mark.parametrize("count", [0, -1, 5000])
def test_a_count_that_makes_no_sense_is_refused(count: int) -> None:
    with pytest.raises(WantedError, match=f"sandbox={count}"):
        wanted.scaled(FIRST, {"sandbox": count})


def test_a_resumed_run_keeps_what_it_was_scaled_to_unless_the_configuration_changed() -> None:
    scaled = wanted.scaled(FIRST, {"sandbox": 8, "solver": 3})
    assert wanted.begun(scaled, CONFIG).counts["sandbox"] == 8
    other = Config.model_validate({"sandbox": {"count": 4}})
    again = wanted.begun(scaled, other)
    assert again.counts["sandbox"] == 4 and again.counts["solver"] == 3
    assert wanted.begun(again, other) == again


def test_attaching_the_same_policy_twice_is_attaching_it_once() -> None:
    once = wanted.attached(FIRST, RIVAL, CONFIG)
    assert wanted.attached(once, RIVAL, CONFIG) == once
    assert once.counts["rival.solver"] == 1


def test_another_policy_of_the_same_name_is_refused() -> None:
    once = wanted.attached(FIRST, RIVAL, CONFIG)
    for name, model in (("rival", "another"), ("main", "another")):
        with pytest.raises(WantedError, match=f"there is a policy '{name}' already"):
            wanted.attached(once, {"name": name, "model": model}, CONFIG)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"name": "Rival One", "model": "m"}, "name"),
        ({"name": "rival"}, "model"),
        (
            {"name": "rival", "model": "m", "endpoint": "http://x/v1", "trainable": True},
            "neither trainable nor gpus",
        ),
        ({"name": "rival", "model": "m", "solvers": 0}, "solvers"),
        ({"name": "rival", "model": "m", "solvers": wanted.MOST + 1}, "solvers"),
        ({"name": "r" * 200, "model": "m"}, "name"),
    ],
)
def test_a_policy_that_cannot_be_is_refused_by_its_key(spec: dict[str, object], words: str) -> None:
    with pytest.raises(WantedError, match=words):
        wanted.attached(FIRST, spec, CONFIG)


def test_detaching_takes_its_counts_along_and_nothing_else() -> None:
    once = wanted.attached(FIRST, RIVAL, CONFIG)
    without = wanted.detached(once, "rival", CONFIG)
    assert (without.counts, without.policies) == (FIRST.counts, FIRST.policies)
    with pytest.raises(WantedError, match="no policy 'rivel' is attached; did you mean 'rival'"):
        wanted.detached(once, "rivel", CONFIG)
    with pytest.raises(WantedError, match="the run's own policy"):
        wanted.detached(once, "main", CONFIG)


def test_a_name_that_was_another_model_is_refused_since_statistics_would_mix() -> None:
    gone = wanted.detached(wanted.attached(FIRST, RIVAL, CONFIG), "rival", CONFIG)
    with pytest.raises(WantedError, match="'rival' was smollm2-135m: its statistics would be mixed"):
        wanted.attached(gone, RIVAL | {"model": "another"}, CONFIG)
    assert wanted.attached(gone, RIVAL, CONFIG).policies


def test_the_wanted_state_survives_the_pool() -> None:
    state = wanted.attached(FIRST, RIVAL, CONFIG)
    assert wanted.kept(state.model_dump(mode="json"), CONFIG) == state
    assert wanted.kept(None, CONFIG) == FIRST


def test_an_attached_policys_actors_see_their_own_model_and_folder() -> None:
    state = wanted.attached(FIRST, RIVAL | {"trainable": True}, CONFIG)
    config = wanted.for_policy(CONFIG, state.policies[0])
    assert config.own("weights") == "rival.weights" and CONFIG.own("weights") == "weights"
    assert config.policy.model == "smollm2-135m"
    assert config.policy_folder != CONFIG.policy_folder and config.run_folder == CONFIG.run_folder
