"""The wanted state: what may be asked for, and what a resumed run keeps."""

from __future__ import annotations

import pytest

from actors import roster
from cluster import wanted
from cluster.config import Config
from cluster.wanted import PolicySpec, WantedError

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
        ({"name": "far", "model": "m", "endpoint": "localhost:8000"}, "write it as http://HOST:8000/v1"),
        ({"name": "far", "model": "m", "endpoint": "http://x/v1/chat/completions"}, "give the base URL"),
        ({"name": "far", "model": "m", "endpoint": "http://x/v1", "key_env": "sk-1234"}, "key_env"),
        ({"name": "rival", "model": "m", "solves": False}, "nothing to do"),
        ({"name": "rival", "model": "m", "solves": False, "writes": True, "trainable": True}, "cannot only write"),
        ({"name": "rival", "model": "m", "writes": True, "max_tokens": 4096}, "policy.max_model_len=1024"),
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


FAR = {"name": "far", "model": "m", "endpoint": "http://x/v1", "solves": False, "writes": True}


def test_a_policy_that_only_writes_has_a_generator_that_can_be_scaled_and_no_calibrator() -> None:
    state = wanted.attached(FIRST, FAR, CONFIG)
    assert state.counts["far.generator"] == state.counts["far.solver"] == 1
    kinds = {post.kind for post in roster.posts(CONFIG, wanted.scaled(state, {"far.generator": 2}))}
    assert {kind for kind in kinds if kind.startswith("far.")} == {"far.solver", "far.generator"}
    assert wanted.detached(state, "far", CONFIG).counts == FIRST.counts


def test_a_writer_behind_an_endpoint_may_write_long_replies_earns_no_gradient_and_has_no_grammar() -> None:
    config = Config.model_validate(wanted.for_policy(CONFIG, PolicySpec.model_validate(FAR)).model_dump())
    assert config.policy_writes and not config.generator.train and not config.grammar.enabled
    assert config.generator.max_tokens == wanted.REPLY_TOKENS > config.policy.max_model_len
    solver = Config.model_validate(wanted.for_policy(CONFIG, PolicySpec.model_validate(RIVAL)).model_dump())
    assert not solver.policy_writes


def test_a_trained_policy_that_writes_learns_from_what_it_writes() -> None:
    spec = PolicySpec.model_validate(RIVAL | {"trainable": True, "writes": True})
    assert wanted.for_policy(CONFIG, spec).generator.train


def configured(url: str) -> Config:
    return Config.model_validate({"writer": {"endpoint": url, "model": "m"} if url else {}})


def test_a_configured_writer_writes_in_the_policys_place() -> None:
    config = configured("http://x/v1")
    state = wanted.first(config)
    assert (state.policies[0].name, state.policies[0].solves, state.policies[0].writes) == ("writer", False, True)
    assert not config.policy_writes and CONFIG.policy_writes
    kinds = {post.kind for post in roster.posts(config, state)}
    assert {"writer.solver", "writer.generator", "generator"} <= kinds and "writer.calibrator" not in kinds
    off = Config.model_validate({"writer": {"endpoint": "http://x/v1", "model": "m"}, "generator": {"enabled": False}})
    assert wanted.first(off).policies == ()


def test_a_resumed_run_has_the_writer_of_its_configuration_unless_that_was_detached() -> None:
    one, other = configured("http://x/v1"), configured("http://y/v1")
    begun = wanted.begun(FIRST, one)
    assert [spec.endpoint for spec in begun.policies] == ["http://x/v1"]
    gone = wanted.detached(begun, "writer", one)
    assert wanted.begun(gone, one).policies == ()
    assert [spec.endpoint for spec in wanted.begun(gone, other).policies] == ["http://y/v1"]
    assert [spec.endpoint for spec in wanted.begun(begun, other).policies] == ["http://y/v1"]
    assert wanted.begun(begun, CONFIG).policies == () and "writer.solver" not in wanted.begun(begun, CONFIG).counts


def test_the_configured_writers_name_is_its_own() -> None:
    with pytest.raises(WantedError, match="choose another name"):
        wanted.attached(FIRST, FAR | {"name": "writer"}, CONFIG)
