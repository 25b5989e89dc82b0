"""The terminal view: everything the issue of the day is read from must stand in it."""

import io

from rich.console import Console

from cluster.inspect.live import LiveView, line, render
from tests.cluster.sample import status_of


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
    assert "saved at 0" in drawn(empty)
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
