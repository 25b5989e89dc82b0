"""Which shipped programs a pool begins with: by name, by number, and what is set apart in any case."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envpool.members import Origin
from envpool.shipped import TooFewBricks, shipped

APART = ("lists/total", "subset_sum")
CHOSEN = [each.name for each in shipped("none", ["strings/*", "lists/*", "numbers/*"])]
BRICKS = set(CHOSEN) - set(APART)


def drawn(subset: int, draw: int, chosen: list[str] = CHOSEN) -> set[str]:
    return {each.name for each in shipped("none", chosen, APART, subset, draw) if not each.held_out}


@given(sizes=st.tuples(st.integers(1, len(BRICKS)), st.integers(1, len(BRICKS))), draw=st.integers())
def test_a_smaller_subset_is_a_part_of_a_larger_one_of_the_same_draw(
    sizes: tuple[int, int], draw: int
) -> None:
    few, many = (drawn(size, draw) for size in sorted(sizes))
    assert few <= many <= BRICKS
    assert [len(few), len(many)] == sorted(sizes)


def test_the_same_draw_takes_the_same_bricks_and_another_one_others() -> None:
    assert drawn(20, 1) == drawn(20, 1) != drawn(20, 2)


def test_what_is_drawn_of_a_topic_stays_when_other_topics_are_chosen_too() -> None:
    strings = [name for name in CHOSEN if name.startswith("strings/")]
    of_all = {name for name in drawn(len(BRICKS) // 2, 0) if name in strings}
    assert drawn(len(of_all), 0, strings) == of_all


def test_seeds_and_what_is_set_apart_are_beside_the_subset() -> None:
    programs = shipped("all", CHOSEN, APART, 5, 0)
    assert sum(each.origin is Origin.SEED for each in programs) == 10
    assert {each.name for each in programs if each.held_out} == set(APART)
    assert sum(each.origin is Origin.BRICK and not each.held_out for each in programs) == 5


def test_a_pattern_sets_apart_all_that_it_matches() -> None:
    apart = {each.name for each in shipped("none", CHOSEN, ("strings/*", "subset_*")) if each.held_out}
    assert apart == {name for name in CHOSEN if name.startswith("strings/")} | {"subset_sum"}


def test_more_than_there_are_is_refused_with_their_number() -> None:
    assert drawn(len(BRICKS), 0) == BRICKS
    with pytest.raises(TooFewBricks, match=f"at most {len(BRICKS)} here"):
        shipped("none", CHOSEN, APART, len(BRICKS) + 1)
