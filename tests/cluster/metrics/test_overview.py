"""Nodes and policies of the status, from what actors report and what is wanted."""

from __future__ import annotations

from typing import Any

from cluster.config import Config
from cluster.metrics import names, overview, points
from cluster.wanted import attached, first
from tests.cluster.sample import status_of

NODE = "0123456789abcdef" * 3
REPORTS: dict[str, Any] = {
    "supervisor": {
        "overview": {
            "nodes": [
                {"id": "f" * 56, "address": "10.0.0.1", "alive": True, "head": True, "quarantined": False,
                 "actors": ["pool", "metrics"]},
                {"id": NODE, "address": "10.0.0.2", "alive": True, "quarantined": True, "actors": ["sandbox-0"]},
            ],
            "restarts": {"sandbox-0": 3},
        }
    },
    f"follower-{NODE[:12]}": {"gauges": {"lag_ms_p99": 140.0}},
}  # fmt: skip


def test_a_name_says_whose_the_actor_is_and_of_which_kind() -> None:
    assert names.parse("big.solver-11") == names.ActorName("big", "solver", "11")
    assert names.parse("buffer") == names.ActorName("", "buffer", "")
    assert names.parse("follower-0123456789ab").group == "follower"
    assert names.parse("my-policy_2.solver-0").group == "my-policy_2.solver"


def test_nodes_carry_the_lag_of_their_replica_and_how_many_actors_they_have() -> None:
    head, worker = overview.nodes(REPORTS)
    assert (head["head"], head["actors"], head["replica_lag"]) == (True, 2, None)
    assert (worker["quarantined"], worker["actors"], worker["replica_lag"]) == (True, 1, 0.14)
    assert overview.restarts(REPORTS) == {"sandbox-0": 3}


def test_before_the_supervisors_first_report_there_are_no_nodes() -> None:
    assert overview.nodes({}) == overview.nodes({"supervisor": {"overview": None}}) == []
    assert overview.restarts({}) == {}


def test_policies_are_the_runs_own_and_then_the_attached_ones_with_their_progress() -> None:
    config = Config()
    wanted = first(config)
    for spec in ({"name": "big", "model": "/m", "trainable": True, "solvers": 3},
                 {"name": "far", "model": "m", "endpoint": "http://e/v1"}):  # fmt: skip
        wanted = attached(wanted, spec, config)
    state = {
        "progress": {"step": 9, "version": 10},
        "checkpoint": {"step": 5},
        "big.progress": {"step": 2, "version": 2},
    }
    success = {"solver": {"success": 0.5, "answers": 64.0}, "solver far": {"success": 0.75, "answers": 16.0}}
    own, big, far = overview.policies({"name": "main", "model": "m"}, wanted, success, state.get)
    assert (own["own"], own["step"], own["version"], own["saved"], own["success"]) == (True, 9, 10, 5, 0.5)
    assert (big["solvers"], big["step"], big["saved"], big["success"]) == (3, 2, 0, None)
    assert (far["endpoint"], far["step"], far["success"], far["answers"]) == ("http://e/v1", None, 0.75, 16.0)


def test_every_point_has_a_name_and_the_labels_that_it_is_declared_with() -> None:
    status = status_of(
        "demo",
        nodes=overview.nodes(REPORTS),
        policies=[{"name": "main", "own": True, "step": 3, "version": 4, "saved": 2, "trainable": True}],
        active_alarms=[{"kind": "stall", "text": "", "since": 1.0}],
    )
    status["actors"]["buffer"] = {"waiting_for": "", "failures": 0, "gauges": {"ready": 4.0}, "at": 5.0}
    status["actors"]["big.solver-0"] = status["actors"]["solver-0"]
    found = list(points.points(status, "main", now=7.0))
    for point in found:
        assert len(point.labels) == len(points.GAUGES[point.name][1]) - 1
    values = {(point.name, *point.labels): point.value for point in found}
    assert values["envolve_step", "main"] == 3
    assert values["envolve_success", "main", "solver"] == 0.25
    assert values["envolve_solver_tokens_per_second", "big", "solver", "big.solver-0"] == 210.0
    assert values["envolve_buffer_groups", "main", "ready"] == 4.0
    assert values["envolve_actor_report_age_seconds", "main", "buffer", "buffer"] == 2.0
    assert values["envolve_actors_waiting", "main", "solver", "buffer"] == 1
    assert values["envolve_replica_lag_seconds", NODE] == 0.14
    assert values["envolve_alarm_active", "stall"] == 1.0
    assert values["envolve_alarm_active", "infrastructure"] == 0.0


def test_an_updates_points_are_labelled_with_its_policy() -> None:
    record = {"step": 1, "loss": 0.5, "kl": 0.01, "policy": "big", "pool": {"active": 3}}
    found = {point.name: (point.labels, point.value) for point in points.step_points(record, "main")}
    assert found == {"envolve_loss": (("big",), 0.5), "envolve_kl": (("big",), 0.01)}
