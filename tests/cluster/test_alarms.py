"""Alarms stand exactly as long as what they are about, say numbers and what to do, and keep their beginning."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.alarms import Alarm, Facts, standing
from cluster.sections.operating import AlarmsConfig

NOW = 10_000.0
SETTINGS = AlarmsConfig()
CALM = Facts(
    working=True,
    answers=1000,
    faults=2,
    updated={"": NOW - 60},
    steps={"": 3},
    last_update={"": {"step": 3, "logprob_diff": 0.001, "grad_norm": 1.5, "skipped": 0.0}},
    lags={"0123456789ab": 0.05},
    makers=("composer", "generator"),
    admitted=NOW - 60,
    reported={"solver-0": NOW - 1},
    restarts={"sandbox-1": 2},
)


def only(facts: Facts, settings: AlarmsConfig = SETTINGS) -> Alarm:
    [alarm] = standing(facts, settings, NOW)
    return alarm


def test_a_healthy_run_has_none() -> None:
    assert standing(CALM, SETTINGS, NOW) == []
    assert standing(Facts(), SETTINGS, NOW) == []


def test_too_many_responses_without_verdict() -> None:
    alarm = only(replace(CALM, answers=90, faults=10))
    assert alarm.kind == "infrastructure"
    assert "10 of 100 recent responses (10%)" in alarm.text
    assert standing(replace(CALM, answers=2, faults=2), SETTINGS, NOW) == []  # too few to say


def test_a_stall_names_who_waits_for_whom_and_who_does_not() -> None:
    waits = {
        "learner": ("buffer", NOW - 700),
        "solver-0": ("sandbox", NOW - 690),
        "big.solver-0": ("big.buffer", NOW - 900),
        "composer-0": ("", NOW - 900),
        "curator": ("pool", NOW - 5),
    }
    alarm = only(replace(CALM, updated={"": NOW - 720}, waits=waits))
    assert alarm.kind == "stall"
    assert "no update for 12 min after step 3" in alarm.text
    assert "learner waits for buffer (12 min), solver-0 waits for sandbox (12 min)." in alarm.text
    assert "big" not in alarm.text and "composer" not in alarm.text and "curator" not in alarm.text


def test_a_stall_of_an_attached_policy_is_its_own() -> None:
    alarm = only(replace(CALM, updated={"": NOW - 60, "big": NOW - 3600}))
    assert (alarm.kind, alarm.subject) == ("stall", "big")
    assert alarm.text.startswith("big: no update for 60 min")
    assert "slow rather than stuck" in alarm.text


def test_nobody_expects_updates_or_admissions_of_a_run_that_is_paused_or_not_in_training() -> None:
    long_ago = replace(CALM, updated={"": 0.0}, admitted=0.0)
    assert {alarm.kind for alarm in standing(long_ago, SETTINGS, NOW)} == {"stall", "admissions"}
    assert standing(replace(long_ago, working=False), SETTINGS, NOW) == []


@pytest.mark.parametrize("difference", [0.21, float("nan"), float("inf")])
def test_trainer_and_sampler_that_disagree(difference: float) -> None:
    record = {"step": 4, "logprob_diff": difference, "grad_norm": 1.0}
    alarm = only(replace(CALM, last_update={"": record}))
    assert alarm.kind == "mismatch"
    assert "at step 4" in alarm.text and "learner.precision" in alarm.text


@pytest.mark.parametrize("record", [{"skipped": 1.0}, {"grad_norm": float("nan")}])
def test_an_update_without_a_gradient(record: dict[str, Any]) -> None:
    alarm = only(replace(CALM, last_update={"big": {"step": 4} | record}))
    assert (alarm.kind, alarm.subject) == ("skipped", "big")


def test_a_replica_that_lags_names_its_node() -> None:
    alarm = only(replace(CALM, lags={"0123456789ab": 0.05, "ba9876543210": 3.25}))
    assert (alarm.kind, alarm.subject) == ("replica", "ba9876543210")
    assert "3.2 s behind" in alarm.text


def test_a_map_that_is_nearly_full_names_whose_it_is_and_what_to_raise() -> None:
    alarm = only(replace(CALM, fills={"pool": 0.85, "follower-0123456789ab": 0.4}))
    assert (alarm.kind, alarm.subject) == ("map", "pool")
    assert "85%" in alarm.text and "pool.map_size_gib" in alarm.text


def test_no_admission_for_long_says_where_candidates_end() -> None:
    alarm = only(replace(CALM, admitted=NOW - 2400, refused={"L1": 2, "duplicate": 40}))
    assert alarm.kind == "admissions"
    assert "for 40 min" in alarm.text and "40 at duplicate, 2 at L1" in alarm.text
    assert "no candidate either" in only(replace(CALM, admitted=NOW - 2400)).text
    assert standing(replace(CALM, admitted=NOW - 2400, makers=()), SETTINGS, NOW) == []


def test_an_actor_that_is_silent() -> None:
    silent = replace(CALM, reported={"solver-0": NOW - 1, "sandbox-3": NOW - 45})
    alarm = only(silent)
    assert (alarm.kind, alarm.subject) == ("silent", "sandbox-3")
    assert "for 45 s" in alarm.text
    assert standing(replace(silent, ending=True), SETTINGS, NOW) == []


def test_an_actor_that_dies_again_and_again() -> None:
    alarm = only(replace(CALM, restarts={"sandbox-1": 6, "sandbox-2": 5}))
    assert (alarm.kind, alarm.subject) == ("restarts", "sandbox-1")


def test_a_sink_that_is_off_stands_for_as_long_as_it_is_off() -> None:
    alarm = only(replace(CALM, sinks_off={"wandb": "OSError: No space left on device"}))
    assert (alarm.kind, alarm.subject) == ("sink", "wandb")
    assert "No space left" in alarm.text


def test_a_model_that_cannot_be_asked_to_write_is_told_with_the_way_out() -> None:
    alarm = only(replace(CALM, troubles={"far.generator-0": "http://far/v1: APIConnectionError"}))
    assert (alarm.kind, alarm.subject) == ("writer", "far.generator-0")
    assert "http://far/v1: APIConnectionError" in alarm.text and "`envolve detach far`" in alarm.text
    assert "detach" not in only(replace(CALM, troubles={"generator-0": "the prompt does not fit"})).text


def test_bounds_are_those_of_the_settings() -> None:
    loose = AlarmsConfig(infrastructure_rate=0.5, report_seconds=100.0, replica_lag_seconds=10.0)
    facts = replace(CALM, answers=90, faults=10, reported={"a": NOW - 50}, lags={"n": 5.0})
    assert len(standing(facts, SETTINGS, NOW)) == 3
    assert standing(facts, loose, NOW) == []


def test_an_alarm_keeps_its_beginning_while_its_numbers_change_and_begins_anew_after_it_was_gone() -> None:
    def lagging(seconds: float) -> Facts:
        return replace(CALM, updated={}, admitted=None, reported={}, lags={"n": seconds})

    first = standing(lagging(3.0), SETTINGS, NOW)
    second = standing(lagging(4.0), SETTINGS, NOW + 10, first)
    assert [alarm.since for alarm in second] == [NOW]
    assert first[0].text != second[0].text
    gone = standing(lagging(0.1), SETTINGS, NOW + 20, second)
    assert gone == []
    [again] = standing(lagging(3.0), SETTINGS, NOW + 30, gone)
    assert again.since == NOW + 30


@given(lags=st.lists(st.dictionaries(st.sampled_from("abc"), st.floats(0, 4)), max_size=12))
def test_whatever_happens_an_alarm_stands_since_its_condition_last_became_true(
    lags: list[dict[str, float]],
) -> None:
    before: list[Alarm] = []
    began: dict[str, float] = {}
    for tick, now_lagging in enumerate(lags):
        before = standing(Facts(lags=now_lagging), SETTINGS, float(tick), before)
        over = {node for node, lag in now_lagging.items() if lag > SETTINGS.replica_lag_seconds}
        began = {node: began.get(node, float(tick)) for node in over}
        assert {alarm.subject: alarm.since for alarm in before} == began
