"""A run for a trainer elsewhere: what it is made of, what is asked of whom, and what a configuration may say of it."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import typer

from actors import roster
from cluster import wanted
from cluster.cli import serve_run
from cluster.config import Config
from cluster.driver import _stopped
from cluster.inspect.live import line, render
from cluster.metrics.watch import Watch
from cluster.placement import demand
from cluster.resolve import ConfigError, dump, resolve
from tests.cluster.sample import status_of

run_command = sys.modules["cluster.cli.run"]  # the name in its package is the command itself
ENDPOINT = "http://127.0.0.1:8000/v1"
WITHOUT = {"learner", "buffer", "evaluator"}


def served(*overrides: str) -> Config:
    return resolve("serve", ["run.name=s", *overrides])


def with_endpoint(*overrides: str) -> Config:
    return served(f"policy.endpoint={ENDPOINT}", "policy.model=m", *overrides)


def names(config: Config) -> set[str]:
    return roster.names(config, wanted.first(config))


def test_a_served_run_has_a_server_in_the_learners_place_and_all_that_makes_the_pool_grow() -> None:
    there = names(with_endpoint())
    assert not there & WITHOUT
    assert {"pool", "curator", "server", "solver-0", "validator", "novelty", "composer-0", "generator-0"} <= there
    assert names(resolve("local")) >= WITHOUT and "server" not in names(resolve("local"))


def test_the_trainers_own_endpoint_answers_for_its_policy() -> None:
    config = with_endpoint()
    solver = next(post for post in roster.posts(config) if post.name == "solver-0")
    assert solver.load(config).__name__ == "EndpointActor"
    assert config.policy_writes and config.reviews and not config.trains_on_proposals


def test_without_an_endpoint_the_policy_is_asked_for_nothing_and_the_pool_grows_without_it() -> None:
    config = served()
    assert not (config.policy_writes or config.reviews or config.asks_policy)
    assert "solver-0" not in names(config) and {"generator-0", "composer-0", "server"} <= names(config)
    with pytest.raises(wanted.WantedError, match="'solver' cannot be scaled"):
        wanted.scaled(wanted.first(config), {"solver": 2})
    assert served("writer.endpoint=http://w/v1", "writer.model=w", "review.by=judge").reviews


def test_an_endpoint_that_comes_or_goes_with_a_resume_is_asked_or_not() -> None:
    without, within = served(), with_endpoint()
    assert wanted.begun(wanted.first(without), within).counts["solver"] == 1
    assert "solver" not in wanted.begun(wanted.first(within), without).counts


def test_nothing_is_reserved_for_a_learner() -> None:
    assert not demand(with_endpoint("solver.gpus=1", "learner.ranks=8", "learner.gpus=1")).gangs


def test_an_attached_policy_has_not_the_trainers_endpoint() -> None:
    config = with_endpoint("policy.key_env=KEY")
    now = wanted.attached(wanted.first(config), {"name": "young", "model": "x", "trainable": True}, config)
    own = wanted.for_policy(config, now.policy("young"))
    assert (own.policy.endpoint, own.policy.key_env) == ("", "")
    assert {"young.learner", "young.buffer", "young.curator"} <= roster.names(config, now)
    assert own.trains_on_proposals == config.generator.train


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["serve.enabled=false", f"policy.endpoint={ENDPOINT}"], "set serve.enabled=true"),
        (["serve.host=0.0.0.0"], "serve.token_env=ENVOLVE_TOKEN"),
        (["serve.port=70000"], "serve.port"),
        (["policy.endpoint=localhost:8000"], "http://HOST:8000/v1"),
    ],
)
def test_what_cannot_be_served_is_refused_with_the_way_out(overrides: list[str], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        served(*overrides)


def test_a_served_run_that_is_stopped_says_what_is_kept() -> None:
    said = _stopped({"phase": "training", "checkpoint": 0, "served": True})
    assert "the pool and the statistics of its answers are kept" in str(said) and said.resumes


def status(**serving: Any) -> dict[str, Any]:
    policies = [{"name": "trainer", "model": "m", "own": True, "trainable": False}]
    return status_of("s", policies=policies, serving=serving)


def test_the_status_shows_who_is_served_instead_of_updates() -> None:
    row = {"sampled": 12, "scored": 40, "failed": 1, "seen": 5.0}
    told = line(status(url="http://127.0.0.1:8321", clients={"prime": row, "verl": row}))
    assert "serving 2 clients at http://127.0.0.1:8321, 80 answers judged" in told and "step" not in told
    assert "the server has not reported" in line(status())
    render(status(url="u", clients={"prime": row}))


def test_no_update_is_missed_where_nobody_learns_here() -> None:
    watch = Watch([])
    for now in (0.0, 10_000.0):
        facts = watch.facts(status(url="u", clients={}), set(), now)
    assert facts.working and not facts.updated


def test_the_command_is_a_run_of_the_preset_and_says_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    said: dict[str, Any] = {}
    monkeypatch.setattr(serve_run, "run", lambda overrides, **rest: said.update(rest, overrides=overrides))
    monkeypatch.setenv("ENVOLVE_TOKEN", "very secret")
    serve_run.serve_run(["sandbox.count=3"], endpoint=ENDPOINT, model="m", host="0.0.0.0", port=0, detach=True)
    config = resolve(said["config"], said["overrides"])
    assert (config.policy.endpoint, config.policy.model, config.sandbox.count) == (ENDPOINT, "m", 3)
    assert (config.serve.enabled, config.serve.host, config.serve.port) == (True, "0.0.0.0", 0)
    assert config.serve.token_env == "ENVOLVE_TOKEN" and "very secret" not in dump(config)
    assert said["detach"] and not said["plain"]


def test_without_the_extra_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run_command, "find_spec", lambda name: None)
    with pytest.raises(typer.Exit) as end:
        serve_run.serve_run([])
    assert end.value.exit_code == 2 and "pip install 'envolve[serve]'" in capsys.readouterr().err
