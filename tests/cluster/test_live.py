"""The terminal view: everything the issue of the day is read from must stand in it."""

import io

import pytest
from rich.console import Console

from cluster.inspect import live
from cluster.inspect.live import LiveView, line, render
from tests.cluster.sample import NODES, POLICIES, status_of


def drawn(status: dict[str, object], width: int = 160) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(render(status))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_status_shows_step_success_pool_funnel_speed_and_who_waits_for_whom() -> None:
    picture = drawn(status_of("demo"))
    for words in (
        "step 3 of 24",
        "0.250",
        "active",
        "grammar",
        "duplicate",
        "210 tokens/s",
        "buffer",
        "20.5",
    ):
        assert words in picture


def test_gates_stand_in_the_order_candidates_meet_them() -> None:
    picture = drawn(status_of("demo"))
    assert picture.index("L1") < picture.index("duplicate") < picture.rindex("admitted")


def test_what_recent_proposals_earned_is_told_by_parts_beside_the_gates() -> None:
    written = {"passing": {"generator far": {"L1": 0.5}}, "earned": {"generator far": {"quality": 0.125}}}
    picture = drawn(status_of("demo", **written))
    assert "generator far" in picture and "50%" in picture
    assert "reward: quality" in picture and "0.125" in picture


def test_brackets_in_reasons_are_text() -> None:
    picture = drawn(status_of("demo"))
    assert "member of list[int] [/red]" in picture
    assert "SolverLost: engine [/away] is gone" in picture


def test_on_a_narrow_terminal_figures_give_way_and_actors_keep_their_names() -> None:
    gauges = {f"a_rather_long_figure_{number}": 1e5 for number in range(5)}
    report = {"waiting_for": "buffer", "failures": 0, "gauges": gauges}
    picture = drawn(status_of("demo", actors={"supervisor": report}), width=80)
    assert "supervisor" in picture
    assert "failures" in picture
    assert max(map(len, picture.splitlines())) <= 80


def test_escape_sequences_in_alarms_do_not_reach_the_terminal() -> None:
    alarm = {"kind": "infrastructure", "text": "\x1b[2J gone", "at": 1.0}
    picture = drawn(status_of("demo", alarms=[alarm]))
    assert "\\x1b[2J gone" in picture
    assert "\x1b" not in picture


def test_draining_is_said() -> None:
    assert "draining" in drawn(status_of("demo", draining=True))


def test_before_the_first_status_the_view_says_what_it_waits_for() -> None:
    assert "starting the actors" in drawn({})
    assert line({}) == "starting the actors"


def test_without_a_terminal_a_line_is_printed_for_each_new_step_or_phase() -> None:
    console = Console(file=io.StringIO(), width=80)
    with LiveView(console, plain=True) as view:
        for status in (
            {},
            {},
            status_of("a"),
            status_of("a"),
            status_of("a", progress={"step": 4, "version": 4}),
        ):
            view.show(status)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert len(lines) == 3
    assert lines[1] == (
        "training: step 3/24; success 0.250, well-formed 0.50; 71 active, 6 rejected; 210 tokens/s"
    )


def test_a_run_that_has_not_answered_yet_can_be_drawn() -> None:
    empty = status_of("demo", success={}, last_steps=[], actors={}, alarms=[], checkpoint=None, funnel={})
    assert "nothing saved yet" in drawn(empty)
    assert "saved at 2" in drawn(empty | {"checkpoint": {"step": 2}})
    assert line(empty).startswith("training: step 3/24; 71 active")


def test_actors_of_one_kind_share_a_row() -> None:
    reports = {
        f"sandbox-{number}": {"waiting_for": "", "failures": 0, "gauges": {"jobs": 100.0}}
        for number in range(64)
    }
    reports["sandbox-3"] = {"waiting_for": "zygote", "failures": 2, "gauges": {"jobs": 50.0}}
    [row] = [row for row in drawn(status_of("demo", actors=reports)).splitlines() if "sandbox" in row]
    assert "sandbox x 64" in row
    assert "zygote (1)" in row
    assert "jobs 6350" in row


def test_what_runs_in_the_sandboxes_is_shown_with_since_when_the_longest_first() -> None:
    gauges = {"queue": 17, "runs_per_second": 812.4, "p50_seconds": 0.00031, "p99_seconds": 0.0421}
    job = {"program": "p" + "0" * 20, "mode": "verify", "calls": 3, "replica": 0, "since": 995.0}
    hung = {"program": "p" + "f" * 20, "mode": "validate", "calls": 1, "replica": 1, "since": 880.0}
    report = {"waiting_for": "", "failures": 0, "gauges": gauges, "running": [job]}
    actors = {"sandbox-0": report, "sandbox-1": {**report, "running": [hung]}, "sandbox-2": {**report, "running": []}}
    rows = [row for row in drawn(status_of("demo", actors=actors, at=1000.0)).splitlines() if "zygote" in row]
    assert [row.split()[1][:2] for row in rows] == ["pf", "p0"]
    for part in ("validate", "2 min", "sandbox-1, zygote 1", "17", "812", "0.31 ms", "42.1 ms"):
        assert part in rows[0], part
    assert "verify" in rows[1] and "5 s" in rows[1]
    many = {"sandbox-0": {**report, "running": [job] * 9}}
    assert "and 3 more" in drawn(status_of("demo", actors=many))
    assert "Running now" not in drawn(status_of("demo"))


def test_attached_policies_and_followers_have_rows_of_their_own() -> None:
    report = {"waiting_for": "", "failures": 0, "gauges": {"tokens_per_second": 100.0}}
    names = ("solver-0", "solver-1", "big.solver-0", "big.solver-1", "big.learner")
    followers = (f"follower-{'a' * 12}", f"follower-{'b' * 12}")
    picture = drawn(status_of("demo", actors=dict.fromkeys((*names, *followers), report)))
    for row in ("solver x 2", "big.solver x 2", "big.learner", "follower x 2"):
        assert row in picture
    assert "400 tokens/s" in picture  # of solvers, whosever they are


def test_alarms_that_stand_come_first_with_how_long_they_do() -> None:
    alarm = {
        "kind": "stall",
        "subject": "",
        "text": "no update for 12 min: learner waits for [b]",
        "since": 1000.0,
    }
    status = status_of("demo", active_alarms=[alarm], at=1000.0 + 720)
    picture = drawn(status)
    assert picture.index("no update for 12 min: learner waits for [b]") < picture.index("step 3 of 24")
    assert "12 min" in picture.split("no update")[0]
    assert "alarms: stall" in line(status)
    assert "Standing alarms" not in drawn(status_of("demo"))


def test_several_nodes_are_shown_with_quarantine_and_replica_lag() -> None:
    gone = {"id": "c" * 56, "address": "10.0.0.3", "alive": False, "actors": 0}
    rows = drawn(status_of("demo", nodes=[*NODES, gone])).splitlines()
    [head] = [row for row in rows if "10.0.0.1" in row]
    [worker] = [row for row in rows if "10.0.0.2" in row]
    assert "head" in head and "aaaaaaaaaaaa" in head
    assert "quarantined" in worker and "140 ms" in worker
    assert not any("10.0.0.3" in row for row in rows)
    assert "10.0.0.1" not in drawn(status_of("demo"))  # one node needs no table


def test_several_policies_are_shown_with_model_endpoint_and_success() -> None:
    rows = drawn(status_of("demo", policies=POLICIES)).splitlines()
    [far] = [row for row in rows if "http://e/v1" in row]
    assert "qwen at http://e/v1" in far and "no" in far
    [own] = [row for row in rows if "smollm2-135m" in row]
    assert "yes" in own and "0.25" in own and "96" in own
    assert "smollm2-135m" not in drawn(status_of("demo"))


def test_a_paused_run_says_so() -> None:
    paused = status_of("demo", paused=True)
    assert "training, paused" in drawn(paused)
    assert line(paused).startswith("training, paused: step 3/24")


def test_a_status_of_a_run_without_nodes_policies_and_alarms_can_be_drawn() -> None:
    status = status_of("demo")
    for key in ("active_alarms", "paused", "nodes", "policies", "restarts"):
        del status[key]
    assert "step 3 of 24" in drawn(status)
    assert line(status).startswith("training: step 3/24")


STARTING = {"phase": "starting", "pool": {}, "success": {}, "last_steps": [], "alarms": [], "funnel": {}}


def test_a_run_that_starts_says_for_whom_it_waits_and_nothing_empty() -> None:
    awaited = [f"sandbox-{number}" for number in range(8)]
    starts = status_of("demo", **STARTING, awaited=awaited)
    assert line(starts).endswith("step 3/24; 210 tokens/s; waiting for " + ", ".join(awaited[:6]) + " and 2 more")
    assert "waiting for sandbox-0" in drawn(starts)
    assert line({"awaited": ["pool"]}) == "starting the actors; waiting for pool"
    assert "; ;" not in line(starts)


def test_when_every_actor_has_answered_the_supervisor_says_for_whom_it_waits() -> None:
    supervisor = {"waiting_for": "validator", "failures": 0, "gauges": {}}
    starts = status_of("demo", **STARTING, actors={"supervisor": supervisor})
    assert "every actor has answered" not in line(starts), "nobody has said that"
    assert line(starts | {"awaited": []}).endswith("every actor has answered; the supervisor waits for validator")
    assert "every actor" not in line(starts | {"awaited": [], "phase": "training"})


def test_a_run_that_starts_prints_a_line_once_in_a_while_also_where_nothing_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [100.0]
    monkeypatch.setattr(live.time, "monotonic", lambda: clock[0])
    console = Console(file=io.StringIO(), width=80)
    with LiveView(console, plain=True) as view:
        for status in (status_of("a", **STARTING), status_of("a")):
            for _ in range(60):
                clock[0] += 1.0
                view.show(status)
    assert isinstance(console.file, io.StringIO)
    begins = [row.partition(":")[0] for row in console.file.getvalue().splitlines()]
    assert begins == ["starting", "starting", "training"]
