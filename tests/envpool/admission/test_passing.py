"""Shares past each gate: counted by hand once, and what must hold for any counts."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from envpool.admission.passing import STAGES, Share, change, passing
from envpool.admission.verdict import GATES

ENDED = st.dictionaries(st.sampled_from((*GATES, "", "a gate of another version")), st.integers(0, 50))


def test_a_funnel_counted_by_hand() -> None:
    found = passing({"reply": 1, "imports": 1, "duplicate": 2, "L2": 1, "L4": 1, "calibration": 1, "": 3})
    assert found.candidates == 10
    of_all = {stage: share.passed for stage, share in found.of_all.items()}
    assert of_all | {"behaviour": 4} == of_all
    assert [of_all[stage] for stage in ("L1", "no_copy", "L2", "L3", "L4", "L5")] == [8, 6, 5, 5, 4, 4]
    assert of_all["calibration"] == 3
    came = found.of_those_that_came
    assert (came["no_copy"], came["L2"], came["calibration"]) == (Share(6, 8), Share(5, 6), Share(3, 4))


@given(ENDED)
def test_shares_never_rise_from_stage_to_stage_and_the_last_one_is_what_was_admitted(
    ended: dict[str, int],
) -> None:
    found = passing(ended)
    left = [found.of_all[stage].passed for stage in STAGES]
    assert left == sorted(left, reverse=True)
    assert left[-1] == ended.get("", 0)
    assert all(share.of == found.candidates == sum(ended.values()) for share in found.of_all.values())


@given(ENDED)
def test_both_readings_are_of_the_same_candidates(ended: dict[str, int]) -> None:
    found, before = passing(ended), sum(ended.values())
    for stage in STAGES:
        came = found.of_those_that_came[stage]
        assert came.of == before
        assert came.passed == found.of_all[stage].passed
        before = came.passed


def test_a_gate_that_is_not_known_makes_no_share_higher() -> None:
    assert passing(Counter({"": 1, "tomorrow's gate": 1})).of_all["L1"] == Share(1, 2)


def test_the_change_of_two_shares_is_that_of_newcombe() -> None:
    """His table II, row (a): 56 of 70 and 48 of 80, difference 0.2, interval 0.0524 to 0.3339."""
    found = change(Share(48, 80), Share(56, 70))
    assert (round(found.low, 4), round(found.high, 4)) == (0.0524, 0.3339)


@given(*(st.tuples(st.integers(0, 60), st.integers(0, 60)) for _ in range(2)))
def test_a_change_lies_within_its_interval_and_turned_round_it_is_its_opposite(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    before, after = Share(min(one), max(one)), Share(min(other), max(other))
    found, back = change(before, after), change(after, before)
    assert -1 <= found.low <= (after.rate or 0.0) - (before.rate or 0.0) <= found.high <= 1
    assert abs(found.low + back.high) < 1e-9 and abs(found.high + back.low) < 1e-9
