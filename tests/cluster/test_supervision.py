"""Back-off and quarantine, on a clock of their own."""

from __future__ import annotations

from cluster.sections.operating import SupervisionConfig
from cluster.supervision import STEADY_SECONDS, WINDOW_SECONDS, Restarts

SETTINGS = SupervisionConfig(node_failures=3, quarantine_minutes=1, longest_pause_seconds=8)


def test_an_actor_that_keeps_dying_is_made_at_ever_longer_intervals() -> None:
    restarts, now, pauses = Restarts(SETTINGS), 0.0, []
    for _ in range(7):
        restarts.made("solver-0", now)
        now += 1
        pause = restarts.died("solver-0", "", now)
        assert restarts.may_make("solver-0", now) == (pause == 0)
        now += pause
        assert restarts.may_make("solver-0", now)
        pauses.append(pause)
    assert pauses == [0, 1, 2, 4, 8, 8, 8]


def test_an_actor_that_lived_for_a_while_is_made_again_at_once() -> None:
    restarts = Restarts(SETTINGS)
    for now in (1.0, 2.0, 3.0):
        restarts.died("solver-0", "", now)
    restarts.made("solver-0", 10.0)
    assert restarts.died("solver-0", "", 10.0 + STEADY_SECONDS) == 0


def test_one_actor_does_not_hold_up_another() -> None:
    restarts = Restarts(SETTINGS)
    for now in (1.0, 2.0, 3.0, 4.0):
        restarts.died("solver-0", "", now)
    assert not restarts.may_make("solver-0", 4.5) and restarts.may_make("solver-1", 4.5)


def test_a_node_where_many_die_is_left_alone_for_a_while() -> None:
    restarts = Restarts(SETTINGS)
    for now, name in enumerate(("a", "b", "c")):
        assert restarts.quarantined(float(now)) == set()
        restarts.died(name, "bad", float(now))
    restarts.died("a", "good", 3.0)
    assert restarts.quarantined(4.0) == {"bad"}
    assert restarts.quarantined(2.0 + 61.0) == set()


def test_deaths_of_long_ago_say_nothing_about_a_node() -> None:
    restarts = Restarts(SETTINGS)
    for name, now in (("a", 0.0), ("b", 1.0), ("c", 2.0 + WINDOW_SECONDS)):
        restarts.died(name, "node", now)
    assert restarts.quarantined(3.0 + WINDOW_SECONDS) == set()
