"""Operators and sizes: drawn and made by the variance of success, however many composites there are of each."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envpool.answer_counts import AnswerCount, Counts
from envpool.curation import CurationSettings, Curator, Mode, Standing
from envpool.curation.kinds import choose_kinds, evened
from envpool.curation.shown import Answered, Shown
from envpool.curation.tracks import Recent

SIZES = (2, 3, 4, 5, 6)
GROUP = 8


def composite(size: int, number: int = 0, **facts: object) -> Standing:
    return Standing(f"c{size}-{number}", "composites", f"SEQUENTIAL-{size}", size=size, **facts)


def recent(weight: float, rate: float) -> Recent:
    return Recent(64.0, weight, weight * rate, weight)


def drawn_sizes(curator: Curator, n: int = 1000) -> Counter[int]:
    return Counter(int(recipe.member[1]) for recipe in curator.choose(n))


@given(
    st.dictionaries(
        st.text(max_size=3), st.tuples(st.floats(1e-6, 1), st.sampled_from("abc")), min_size=1, max_size=20
    )
)
def test_a_kind_weighs_the_mean_of_its_members_and_all_together_weigh_what_they_did(
    members: dict[str, tuple[float, str]],
) -> None:
    signals = {member: signal for member, (signal, _) in members.items()}
    kinds = {member: kind for member, (_, kind) in members.items()}
    weights = evened(signals, kinds)
    assert sum(weights.values()) == pytest.approx(sum(signals.values()))
    ratios = []
    for kind in set(kinds.values()):
        of_kind = [member for member in members if kinds[member] == kind]
        mean = sum(signals[member] for member in of_kind) / len(of_kind)
        ratios.append(sum(weights[member] for member in of_kind) / mean)
    assert ratios == pytest.approx([ratios[0]] * len(ratios))


def test_thirty_composites_of_a_size_are_drawn_no_more_than_five_of_another() -> None:
    curator = Curator()
    for size, members in ((2, 30), (5, 5)):
        for number in range(members):
            curator.take(composite(size, number))
    drawn = drawn_sizes(curator)
    assert 0.75 < drawn[2] / drawn[5] < 1.5, drawn


@pytest.mark.parametrize(("ability", "sought", "left"), [(0.6, 2, 6), (0.97, 6, 2)])
def test_the_size_moves_to_where_this_solver_sometimes_succeeds(
    ability: float, sought: int, left: int
) -> None:
    rng, curator = random.Random(1), Curator(CurationSettings(rest_hard=0.0, rest_easy=1.0, promote_at=1.0))
    for size in SIZES:
        for number in range(10):
            curator.take(composite(size, number))
    for recipe in (recipe for _ in range(60) for recipe in curator.choose(10)):
        solved = sum(rng.random() < ability ** int(recipe.member[1]) for _ in range(GROUP))
        curator.record(AnswerCount(recipe.member, "main", 0, GROUP, solved, GROUP))
    drawn = drawn_sizes(curator)
    assert drawn[sought] == max(drawn.values()) and drawn[sought] > 2 * drawn[left], drawn
    assert all(drawn[size] > 10 for size in SIZES), "none starves"
    assert abs(curator.metrics()["composite_size"] - sought) < abs(curator.metrics()["composite_size"] - left)


def test_what_is_made_next_has_operators_alike_and_sizes_by_their_variance() -> None:
    shown = Shown({}, tuple(
        Answered("SEQUENTIAL", tuple("abcdef"[:size]), recent(60, rate))
        for size, rate in ((2, 0.98), (4, 0.5), (6, 0.0))
        for _ in range(4)
    ))  # fmt: skip
    chosen = Counter(choose_kinds(random.Random(0), ("SEQUENTIAL", "SORT"), (2, 4, 6), shown, 4000))
    assert sum(chosen["SORT", size] for size in (2, 4, 6)) == pytest.approx(2000, abs=150)
    assert chosen["SORT", 2] == pytest.approx(chosen["SORT", 6], abs=120), "nothing is known of them"
    assert chosen["SEQUENTIAL", 4] > 3 * max(chosen["SEQUENTIAL", 2], chosen["SEQUENTIAL", 6])
    assert min(chosen.values()) > 60, "what was hopeless is tried again"


def test_one_size_leaves_no_choice() -> None:
    chosen = choose_kinds(random.Random(0), ("SELECT",), (5,), Shown(), 3)
    assert chosen == [("SELECT", 5)] * 3


@pytest.mark.parametrize(
    ("mode", "drawn"), [("single", {"s", "b"}), ("composed", {"c2-0"}), ("mixed", {"s", "b", "c2-0"})]
)
def test_the_mode_says_what_is_drawn(mode: Mode, drawn: set[str]) -> None:
    curator = Curator(CurationSettings(mode=mode))
    for standing in (Standing("s", "seeds", "seed"), Standing("b", "others", "brick"), composite(2)):
        curator.take(standing)
    assert {recipe.member for recipe in curator.choose(100)} == drawn


def test_before_there_is_a_composite_a_composed_run_draws_nothing() -> None:
    curator = Curator(CurationSettings(mode="composed"))
    curator.take(Standing("b", "others", "brick", counts=Counts(8, 4, 8)))
    assert curator.choose(5) == []
    assert curator.record(AnswerCount("b", "main", 0, 8, 8, 8)) == []
    curator.take(composite(3))
    assert [recipe.member for recipe in curator.choose(2)] == ["c3-0"] * 2


def test_a_run_resumed_in_another_mode_goes_on_with_what_that_mode_draws() -> None:
    mixed, composed = Curator(), Curator(CurationSettings(mode="composed"))
    for standing in (Standing("s", "seeds", "seed"), composite(2)):
        mixed.take(standing)
        composed.take(standing)
    mixed.choose(10)
    composed.load_state_dict(mixed.state_dict())
    assert {recipe.member for recipe in composed.choose(10)} == {"c2-0"}
