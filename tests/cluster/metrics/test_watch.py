"""From reports, updates and statuses to the facts that alarms are made of."""

from __future__ import annotations

from typing import Any

from cluster.metrics.watch import WINDOW_SECONDS, Watch

EVERYBODY = {"solver-0", "solver-1", "composer-0", "learner", "supervisor"}


def report(name: str, pid: int = 1, waiting_for: str = "", **more: Any) -> dict[str, Any]:
    return {"name": name, "pid": pid, "waiting_for": waiting_for, "gauges": {}, **more}


def faults(name: str, count: float, pid: int = 1) -> dict[str, Any]:
    return report(name, pid, gauges={"infrastructure_failures": count})


def status(**changes: Any) -> dict[str, Any]:
    return {"phase": "training", "funnel": {"admitted": 70, "L1": 3}} | changes


def test_responses_without_verdict_count_from_the_first_report_on_and_over_restarts() -> None:
    watch = Watch([])
    watch.report(faults("solver-0", 40.0), 0.0)  # of before the metrics actor was made
    watch.report(faults("solver-0", 42.0), 1.0)
    watch.report(faults("solver-0", 3.0, pid=2), 2.0)  # made anew: its count began at nought
    watch.answered(16, 2.0)
    facts = watch.facts(status(), EVERYBODY, 3.0)
    assert (facts.answers, facts.faults) == (16, 5)
    later = watch.facts(status(), EVERYBODY, 3.0 + WINDOW_SECONDS)
    assert (later.answers, later.faults) == (0, 0)


def test_a_writers_trouble_is_a_fact_until_it_is_over_or_the_writer_is_gone() -> None:
    watch, everybody = Watch([]), EVERYBODY | {"far.generator-0"}
    watch.report(report("far.generator-0", trouble="away"), 0.0)
    assert watch.facts(status(), everybody, 1.0).troubles == {"far.generator-0": "away"}
    assert watch.facts(status(), EVERYBODY, 1.0).troubles == {}
    watch.report(report("far.generator-0", trouble=""), 2.0)
    assert watch.facts(status(), everybody, 3.0).troubles == {}


def test_a_wait_is_as_old_as_its_object() -> None:
    watch = Watch([])
    for second, whom in enumerate(("buffer", "buffer", "sandbox", "sandbox")):
        watch.report(report("solver-0", waiting_for=whom), float(second))
    assert watch.facts(status(), EVERYBODY, 9.0).waits["solver-0"] == ("sandbox", 2.0)


def test_updates_are_expected_from_when_the_run_goes_on() -> None:
    watch = Watch([])
    assert watch.facts(status(phase="baseline"), EVERYBODY, 0.0).working is False
    assert watch.facts(status(), EVERYBODY, 100.0).updated == {"": 100.0}
    watch.step({"step": 1, "version": 1}, 150.0)
    assert watch.facts(status(), EVERYBODY, 200.0).updated == {"": 150.0}
    assert watch.facts(status(paused=True), EVERYBODY, 300.0).working is False
    assert watch.facts(status(), EVERYBODY, 900.0).updated == {"": 900.0}


def test_each_policy_that_learns_is_watched() -> None:
    watch = Watch([])
    policies = [
        {"name": "main", "own": True, "trainable": True, "step": 7},
        {"name": "big", "own": False, "trainable": True, "step": 2},
        {"name": "far", "own": False, "trainable": False},
    ]
    watch.step({"step": 2, "version": 2, "policy": "big"}, 5.0)
    watch.step({"step": 9, "version": 9, "policy": "detached"}, 5.0)
    facts = watch.facts(status(policies=policies), EVERYBODY, 6.0)
    assert set(facts.updated) == {"", "big"}
    assert facts.steps == {"": 7, "big": 2}
    assert set(facts.last_update) == {"big"}


def test_a_policy_that_is_attached_again_is_not_blamed_for_the_time_that_it_was_away() -> None:
    watch = Watch([])
    both = [{"name": name, "own": name == "main", "trainable": True} for name in ("main", "big")]
    watch.facts(status(policies=both), EVERYBODY, 0.0)
    watch.step({"step": 2, "version": 2, "policy": "big"}, 5.0)
    assert set(watch.facts(status(policies=both[:1]), EVERYBODY, 6.0).updated) == {""}
    assert watch.facts(status(policies=both), EVERYBODY, 9000.0).updated["big"] == 9000.0


def test_admissions_and_refusals_are_counted_since_the_last_admission() -> None:
    watch = Watch(["composer", "generator"])
    watch.report(report("composer-0"), 0.0)
    watch.facts(status(), EVERYBODY, 0.0)
    facts = watch.facts(status(funnel={"admitted": 70, "L1": 5, "duplicate": 4}), EVERYBODY, 60.0)
    assert (facts.admitted, facts.refused) == (0.0, {"L1": 2, "duplicate": 4})
    assert facts.makers == ("composer",)
    facts = watch.facts(status(funnel={"admitted": 71, "L1": 5, "duplicate": 4}), EVERYBODY, 90.0)
    assert (facts.admitted, facts.refused) == (90.0, {})


def test_who_is_not_wanted_any_more_is_not_missed() -> None:
    watch = Watch([])
    watch.report(report("solver-0"), 0.0)
    watch.report(report("solver-7"), 0.0)
    assert watch.facts(status(), EVERYBODY, 60.0).reported == {"solver-0": 0.0}
    assert watch.silent_since(50.0) == {"solver-0", "solver-7"}
    watch.forget(["solver-7"])
    assert watch.silent_since(50.0) == {"solver-0"}


def test_restarts_are_told_by_process_ids_and_by_the_supervisor_and_counted_once() -> None:
    watch = Watch([])

    def overview(count: int) -> dict[str, Any]:
        return report("supervisor", overview={"restarts": {"solver-0": count}})

    watch.report(overview(3), 0.0)  # of before
    for second in range(1, 5):
        watch.report(report("solver-0", pid=second), float(second))
        watch.report(overview(3 + second), float(second))
    watch.report(report("composer-0", pid=1), 5.0)
    watch.report(report("composer-0", pid=2), 6.0)
    assert watch.facts(status(), EVERYBODY, 7.0).restarts == {"solver-0": 4, "composer-0": 1}
    assert watch.facts(status(), EVERYBODY, 700.0).restarts == {}


def test_an_actor_that_never_gets_to_report_is_counted_by_the_supervisor() -> None:
    watch = Watch([])
    watch.report(report("supervisor", overview={"restarts": {}}), 0.0)
    watch.report(report("supervisor", overview={"restarts": {"learner": 6}}), 1.0)
    assert watch.facts(status(), EVERYBODY, 2.0).restarts == {"learner": 6}


def test_lags_are_those_of_nodes_that_live() -> None:
    nodes = [
        {"id": "a" * 56, "alive": True, "replica_lag": 0.5},
        {"id": "b" * 56, "alive": False, "replica_lag": 99.0},
        {"id": "c" * 56, "alive": True, "replica_lag": None},
    ]
    assert Watch([]).facts(status(nodes=nodes), EVERYBODY, 0.0).lags == {"a" * 12: 0.5}


def test_how_full_a_map_is_is_known_of_who_is_wanted() -> None:
    watch = Watch([])
    for name, fill in (("learner", 0.2), ("learner", 0.3), ("gone", 0.9)):
        watch.report(report(name, gauges={"map_fill": fill}), 0.0)
    assert watch.facts(status(), EVERYBODY, 1.0).fills == {"learner": 0.3}
    watch.forget(["learner"])
    assert watch.facts(status(), EVERYBODY, 1.0).fills == {}
