from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envpool.answer_counts import AnswerCount, Counts
from envpool.curation import CurationError, CurationSettings, Curator, Promote, Rest, Retire, Standing, Wake
from envpool.curation.draws import shares
from envpool.curation.standings import standing_in
from envpool.members import Composite, Member, Origin, Program, Status
from envpool.store import PoolWriter


def curator_of(*standings: Standing, **limits: object) -> Curator:
    curator = Curator(CurationSettings(**limits))
    for standing in standings:
        curator.take(standing)
    return curator


def seed(name: str, **facts: object) -> Standing:
    return Standing(name, "seeds", "seed:int -> int", **facts)


def brick(name: str, family: str = "brick:int -> int", **facts: object) -> Standing:
    return Standing(name, "others", family, **facts)


def composite(name: str, **facts: object) -> Standing:
    return Standing(name, "composites", "SEQUENTIAL:2", **facts)


def answers(member: str, attempts: int, successes: int, level: int = 0) -> AnswerCount:
    return AnswerCount(member, "main", level, attempts, successes, attempts, 0)


def drawn(curator: Curator, n: int) -> Counter[str]:
    return Counter(recipe.member for recipe in curator.choose(n))


@given(
    seeds=st.integers(1, 3),
    bricks=st.integers(0, 30),
    composites=st.integers(0, 30),
    solved=st.lists(st.tuples(st.integers(0, 62), st.integers(0, 8)), max_size=20),
    batch=st.integers(1, 40),
    floor=st.sampled_from([0.0, 0.2, 0.5]),
    share=st.sampled_from([None, 0.0, 0.4]),
)
@settings(deadline=None, max_examples=60)
def test_the_seed_floor_holds_after_every_draw_whatever_the_answers(
    seeds: int,
    bricks: int,
    composites: int,
    solved: list[tuple[int, int]],
    batch: int,
    floor: float,
    share: float | None,
) -> None:
    members = [seed(f"s{i}") for i in range(seeds)]
    members += [brick(f"b{i}") for i in range(bricks)] + [composite(f"c{i}") for i in range(composites)]
    curator = curator_of(*members, seed_floor=floor, composite_share=share, rest_draws=50)
    total = of_seeds = 0
    for which, successes in [*solved, (0, 0)]:
        for recipe in curator.choose(batch):
            total += 1
            of_seeds += recipe.member.startswith("s")
            assert of_seeds >= floor * total - 3
        curator.record(answers(members[which % len(members)].member, 8, successes))


def test_seeds_keep_their_floor_though_nobody_solves_them() -> None:
    curator = curator_of(seed("s"), *(brick(f"b{i}", counts=Counts(32, 16, 32)) for i in range(50)))
    for _ in range(20):
        assert curator.record(answers("s", 8, 0)) == []
    assert drawn(curator, 1000)["s"] >= 195


def test_every_member_is_drawn_again_however_hopeless() -> None:
    hopeless = [brick(f"b{i}", counts=Counts(60, 0, 60)) for i in range(40)]
    curator = curator_of(*hopeless, brick("good", family="good", counts=Counts(60, 30, 60)))
    for _ in range(3):
        assert set(drawn(curator, 1000)) == {f"b{i}" for i in range(40)} | {"good"}


def test_members_with_variance_of_success_are_favoured_over_solved_and_unsolved_ones() -> None:
    curator = curator_of(
        brick("never", family="a", counts=Counts(48, 0, 48)),
        brick("sometimes", family="b", counts=Counts(48, 20, 48)),
        brick("always", family="c", counts=Counts(48, 48, 48)),
        brick("new", family="d"),
    )
    weights = curator.weights()
    assert weights["sometimes"] > weights["new"] > 3 * max(weights["never"], weights["always"])
    assert sum(weights.values()) == pytest.approx(1)


def test_a_new_member_is_tried_according_to_the_success_of_its_family() -> None:
    tried = [brick(f"b{i}", family="hopeless", counts=Counts(48, 0, 48)) for i in range(10)]
    curator = curator_of(*tried, brick("kin", family="hopeless"), brick("stranger", family="fresh"))
    assert curator.weights()["stranger"] > 20 * curator.weights()["kin"]


def test_the_composite_share_is_what_was_configured() -> None:
    members = [seed("s"), brick("b"), composite("c")]
    assert drawn(curator_of(*members, composite_share=0.4), 1000)["c"] == pytest.approx(400, abs=3)
    assert drawn(curator_of(*members, composite_share=0.0), 1000)["c"] == 0
    assert shares({"composites": 3.0}, CurationSettings(composite_share=0.4)) == {"composites": 1.0}


def test_a_level_rises_only_when_the_caller_says_so() -> None:
    curator = curator_of(brick("b"))
    assert curator.record(answers("b", 32, 32)) == [], "so few may all be luck"
    (promotion,) = curator.record(answers("b", 8, 8))
    assert isinstance(promotion, Promote) and promotion.level == 1
    assert "success 1.00 at level 0, with 95 % confidence between 0.91 and 1.00" in promotion.reason
    assert curator.level("b") == 0
    assert curator.record(answers("b", 8, 8)) == [], "asked only once while the answer is open"
    curator.promoted("b", 1)
    curator.promoted("b", 1)
    assert curator.choose(1)[0].level == 1
    assert curator.record(answers("b", 64, 64, level=0)) == [], (
        "answers at the old level say nothing of the new"
    )
    with pytest.raises(CurationError, match="asked for"):
        curator.promoted("b", 2)


def test_a_promotion_that_could_not_be_checked_is_decided_again() -> None:
    curator = curator_of(brick("b"))
    assert isinstance(curator.record(answers("b", 40, 40))[0], Promote)
    curator.postpone("b")
    assert isinstance(curator.record(answers("b", 8, 8))[0], Promote)


def test_success_that_may_be_below_ninety_percent_does_not_ask_for_a_level() -> None:
    assert curator_of(brick("b")).record(answers("b", 64, 60)) == []
    assert curator_of(brick("b"), adaptive_levels=False).record(answers("b", 64, 64)) == []


def test_a_refused_level_is_the_last_and_the_always_solved_member_rests() -> None:
    curator = curator_of(brick("b"), brick("other"))
    assert isinstance(curator.record(answers("b", 40, 40))[0], Promote)
    curator.cap("b")
    assert curator.level("b") == 0
    assert curator.record(answers("b", 16, 16)) == []
    (rest,) = curator.record(answers("b", 40, 40))
    assert isinstance(rest, Rest) and "too easy" in rest.reason
    assert set(drawn(curator, 100)) == {"other"}


def test_a_never_solved_member_rests_and_wakes_later_for_longer_rests_each_time() -> None:
    curator = curator_of(brick("b"), brick("other"), rest_draws=10)
    lengths = []
    for _ in range(3):
        (rest,) = [each for _ in range(12) for each in curator.record(answers("b", 8, 0))]
        assert isinstance(rest, Rest) and "never solved" in rest.reason
        assert curator.resting() == ["b"]
        length = 0
        while not (decisions := curator.record(answers("other", 2, 1))):
            assert set(drawn(curator, 1)) == {"other"}
            length += 1
        assert decisions == [Wake("b", "rested long enough, and is judged anew")]
        lengths.append(length)
    assert lengths == [10, 20, 40]


def rest_and_wake(curator: Curator, member: str) -> list[object]:
    """Never solved until something follows, then time passes; what followed, and at the end of it."""
    found: list[object] = []
    while not found:
        found = [*curator.record(answers(member, 8, 0))]
    while curator.resting():
        curator.choose(1)
        found += curator.record(answers("other", 2, 1))
    return found


def test_what_is_too_hard_still_after_its_rests_retires_but_a_brick_only_rests() -> None:
    curator = curator_of(
        brick("policy's", retires=True),
        brick("brick"),
        brick("other"),
        rest_draws=5,
        rests=2,
        retire_epochs=None,
    )
    kinds = [[type(each) for each in rest_and_wake(curator, "policy's")] for _ in range(2)]
    assert kinds == [[Rest, Wake]] * 2
    (retired,) = curator.record(answers("policy's", 80, 0))
    assert isinstance(retired, Retire) and "still after 2 rests" in retired.reason
    assert set(drawn(curator, 50)) == {"brick", "other"}
    assert [[type(each) for each in rest_and_wake(curator, "brick")] for _ in range(5)] == [[Rest, Wake]] * 5


def test_rests_count_anew_at_a_new_level() -> None:
    curator = curator_of(brick("b", retires=True), brick("other"), rest_draws=1, rests=1, retire_epochs=None)
    assert isinstance(rest_and_wake(curator, "b")[0], Rest)
    curator.record(answers("b", 64, 64))
    curator.promoted("b", 1)
    assert isinstance(curator.record(answers("b", 80, 0, level=1))[0], Rest)


def test_what_is_written_while_a_run_goes_retires_at_its_age_and_a_seed_or_brick_never() -> None:
    members = [seed("s"), brick("b"), brick("old", retires=True)]
    curator = curator_of(*members, retire_epochs=10)
    curator.choose(25)
    curator.take(brick("young", retires=True))
    curator.choose(8)
    decisions = [each for name in ("s", "b", "old", "young") for each in curator.record(answers(name, 8, 4))]
    (retired,) = decisions
    assert isinstance(retired, Retire) and retired.member == "old"
    assert retired.reason == "too old: 10.3 epochs in the pool, 10 are its time"
    assert set(drawn(curator, 50)) == {"s", "b", "young"}


def test_a_member_whose_time_runs_out_while_it_rests_retires_instead_of_waking() -> None:
    curator = curator_of(brick("b", retires=True), brick("other"), rest_draws=30, retire_epochs=20)
    assert isinstance(curator.record(answers("b", 80, 0))[0], Rest)
    curator.choose(30)
    (retired,) = curator.record(answers("other", 8, 4))
    assert isinstance(retired, Retire) and "too old" in retired.reason
    assert curator.size == 1


def written_and_composed(mode: str, **limits: object) -> Curator:
    """A curator of written programs, one of them held out, of a brick, and of composites."""
    written = [brick("old", retires=True), brick("apart", retires=True, held_out=True), brick("shipped")]
    return curator_of(*written, composite("c"), composite("d"), mode=mode, **limits)


def test_a_program_that_only_stands_in_composites_retires_at_its_age_all_the_same() -> None:
    curator = written_and_composed("composed", retire_epochs=10)
    curator.choose(16)
    curator.take(brick("young", retires=True))
    assert curator.record(answers("c", 8, 4)) == []
    curator.choose(8)
    (retired,) = curator.record(answers("c", 8, 4))
    assert retired == Retire("old", "too old: 12.0 epochs in the pool, 10 are its time")
    assert curator.record(answers("c", 8, 4)) == [], "it is said once"
    curator.take(brick("young", status=Status.QUARANTINED))
    curator.choose(40)
    assert curator.record(answers("c", 8, 4)) == [], "gone for another reason"
    assert set(drawn(curator, 50)) == {"c", "d"}


@pytest.mark.parametrize(
    ("before", "after"), [("composed", "composed"), ("mixed", "composed"), ("composed", "mixed")]
)
def test_the_age_of_a_program_goes_on_where_a_run_is_resumed_whatever_the_mode(
    before: str, after: str
) -> None:
    first, second = (written_and_composed(mode, retire_epochs=10) for mode in (before, after))
    first.choose(100)
    second.load_state_dict(first.state_dict())
    count = "old" if after == "mixed" else "c"
    assert [each.member for each in second.record(answers(count, 8, 4))] == ["old"]


def test_one_that_is_new_at_a_resume_begins_its_age_there() -> None:
    first, second = (written_and_composed("composed", retire_epochs=10) for _ in range(2))
    first.choose(15)
    second.take(brick("new", retires=True))
    state = first.state_dict()
    del state["aside"]  # as it was before ages were kept
    second.load_state_dict(state)
    assert second.record(answers("c", 8, 4)) == []
    second.choose(20)
    assert {each.member for each in second.record(answers("c", 8, 4))} == {"old", "new"}


def test_what_is_not_asked_grows_uncertain_and_so_more_likely_to_be_asked() -> None:
    solved = [brick(f"b{i}", family=f"f{i}", counts=Counts(64, 64, 64)) for i in range(20)]
    curator = curator_of(*solved, brick("busy", family="busy", counts=Counts(64, 32, 64)))
    before = curator.weights()["b0"]
    curator.choose(400)
    longest = max(curator.waits(), key=curator.waits().__getitem__)
    assert curator.waits()[longest] > 21
    assert curator.weights()[longest] > before


@given(
    bricks=st.integers(1, 40),
    composites=st.integers(0, 20),
    solved=st.lists(st.integers(0, 8), min_size=1, max_size=30),
)
@settings(deadline=None, max_examples=12)
def test_nobody_starves_whatever_the_answers(bricks: int, composites: int, solved: list[int]) -> None:
    members = [
        seed("s"),
        *(brick(f"b{i}") for i in range(bricks)),
        *(composite(f"c{i}") for i in range(composites)),
    ]
    curator = curator_of(*members, rest_hard=0.0, rest_easy=1.0)
    for turn in range(30 * len(members)):
        for recipe in curator.choose(1):
            curator.record(
                answers(recipe.member, 8, solved[int(recipe.member[1:] or 0) % len(solved)], recipe.level)
            )
        assert turn < 60 or curator.metrics()["starving"] == 0
    assert curator.metrics()["longest_wait"] <= 60 * len(members)


def test_a_state_of_the_version_before_is_read() -> None:
    old = {
        "version": 1, "policy": "main", "draws": 50, "next_seed": 50, "credits": {"seeds": 0.0},
        "families": {"brick:int -> int": [16, 8]}, "waiting": {"others": ["b"]},
        "members": {"b": {"level": 0, "portions": [[8, 8]] * 4, "capped": False, "rests": 1, "wakes_at": None}},
    }  # fmt: skip
    curator = curator_of(brick("b"))
    curator.load_state_dict(old)
    assert curator.metrics()["draws"] == 50
    assert isinstance(curator.record(answers("b", 8, 8))[0], Promote)


def test_when_everything_rests_everything_wakes_rather_than_nothing_being_drawn() -> None:
    curator = curator_of(brick("a"), brick("b"))
    for name in "ab":
        assert curator.record(answers(name, 80, 0))
    assert set(drawn(curator, 100)) == {"a", "b"}
    assert {each.member for each in curator.record(answers("a", 1, 0))} == {"a", "b"}


def test_a_member_that_was_quarantined_since_it_woke_is_not_woken_in_the_pool() -> None:
    curator = curator_of(brick("a", status=Status.RESTING), brick("b", status=Status.RESTING))
    curator.choose(1)
    curator.take(brick("a", status=Status.QUARANTINED))
    assert [decision.member for decision in curator.record(answers("b", 8, 4))] == ["b"]


def test_held_out_retired_and_quarantined_members_are_never_drawn() -> None:
    curator = curator_of(seed("h", held_out=True), brick("r", status=Status.RETIRED), brick("q"))
    assert set(drawn(curator, 50)) == {"q"}
    curator.take(brick("q", status=Status.QUARANTINED))
    assert curator.record(answers("q", 8, 8)) == []
    curator.promoted("q", 1)
    curator.cap("q")
    assert curator.size == 0 and curator.choose(1) == []


def test_no_seed_is_given_twice_even_across_a_resume() -> None:
    members = [seed("s"), brick("b"), composite("c")]
    first = curator_of(*members)
    kept = first.choose(50)
    state = first.state_dict()
    kept += first.choose(50)
    second = curator_of(*members)
    second.load_state_dict(state)
    recipes = kept + second.choose(50) + Curator(seed=1).choose(1)
    assert len({recipe.seed for recipe in recipes}) == 150


@given(steps=st.lists(st.tuples(st.integers(0, 11), st.integers(0, 8), st.integers(1, 5)), max_size=40))
@settings(deadline=None, max_examples=60)
def test_a_restored_curator_goes_on_as_the_first_would_have(steps: list[tuple[int, int, int]]) -> None:
    members = [seed(f"s{i}") for i in range(3)] + [brick(f"b{i}", family=f"f{i % 2}") for i in range(9)]
    first = curator_of(*members, rest_hard=0.3, rest_draws=20)
    for which, successes, n in steps:
        first.choose(n)
        for decision in first.record(answers(members[which].member, 8, successes)):
            if isinstance(decision, Promote):
                first.cap(decision.member)
    resting = set(first.resting())
    second = Curator(first.settings)
    for each in members:
        second.take(replace(each, status=Status.RESTING) if each.member in resting else each)
    second.load_state_dict(first.state_dict())
    assert second.state_dict() | {"next_seed": 0} == first.state_dict() | {"next_seed": 0}
    assert drawn(second, 60) == drawn(first, 60)
    assert second.weights() == first.weights()


def test_a_foreign_state_is_refused() -> None:
    curator = curator_of(brick("b"))
    state = curator.state_dict()
    for broken in (state | {"version": 99}, state | {"policy": "other"}, state | {"extra": 1}, {}):
        with pytest.raises(CurationError, match="does not fit"):
            curator.load_state_dict(broken)
    with pytest.raises(CurationError, match="given to the curator of"):
        curator.record(AnswerCount("b", "other", 0, 1, 1, 1))


def test_the_pool_is_right_where_it_moved_on_after_the_state_was_kept() -> None:
    first = curator_of(brick("b"), brick("gone"))
    first.record(answers("b", 39, 39))
    second = curator_of(brick("b", level=1), brick("new"))
    second.load_state_dict(first.state_dict())
    assert second.level("b") == 1
    assert second.record(answers("b", 30, 30, level=1)) == [], "answers at level 0 do not count for level 1"
    assert set(drawn(second, 50)) == {"b", "new"}


def test_the_curator_follows_the_pool_by_its_journal(tmp_path: Path) -> None:
    one, two = (Member(Program(text, text, "Rule.", "int", "int"), Origin.GRAMMAR) for text in "ab")
    curator = Curator(CurationSettings(retire_epochs=None))
    with PoolWriter.open(tmp_path, 16 << 20) as pool:
        pool.admit(one)
        pool.admit(two)
        pool.admit(Member(Program("c", "c", "Rule.", "int", "int"), Origin.BRICK, held_out=True))
        pool.record([AnswerCount(one.id, "main", 2, 32, 32, 32)])
        pool.set_level(one.id, "main", 2, "8 of 8")
        curator.follow(pool.journal(), pool)
        assert set(drawn(curator, 50)) == {one.id, two.id} and curator.level(one.id) == 2
        assert isinstance(curator.record(answers(one.id, 8, 8, level=2))[0], Promote), "40 answers at level 2"
        seen = pool.last_sequence()
        pool.transition(one.id, Status.RESTING, "too easy")
        curator.follow(pool.journal(seen), pool)
        assert curator.resting() == [one.id]
        pool.transition(one.id, Status.ACTIVE, "woken by hand")
        pool.transition(two.id, Status.QUARANTINED, "broken")
        curator.follow(pool.journal(seen), pool)
        assert set(drawn(curator, 50)) == {one.id}


def test_a_composite_is_asked_where_it_was_measured_whatever_the_policy(tmp_path: Path) -> None:
    double = Member(Program("a", "Double", "Double it.", "int", "int"), Origin.BRICK, evidence={"level": 1})
    chain = Composite("SEQUENTIAL", ((double.id,),), "int", "int")
    fused = Member(chain, Origin.COMPOSER, evidence={"level": 2})
    with PoolWriter.open(tmp_path, 16 << 20) as pool:
        pool.admit(double)
        pool.admit(fused)
        for policy in ("main", "guest"):
            assert standing_in(pool, fused.id, policy).level == 2
        assert standing_in(pool, double.id, "guest").level == 0
        pool.set_level(fused.id, "main", 3, "for a test")
        assert standing_in(pool, fused.id, "main").level == 3


def test_families_are_told_apart_by_origin_types_operator_and_size() -> None:
    double = Program("a", "Double", "Double it.", "int", "int")
    chain = Composite("SEQUENTIAL", (("pa", "pb"),), "int", "int")
    assert Standing.of(Member(double, Origin.SEED)).group == "seeds"
    assert Standing.of(Member(double, Origin.GRAMMAR)).family == "grammar:int -> int"
    assert Standing.of(Member(double, Origin.GRAMMAR, family="mine")).family == "mine"
    assert Standing.of(Member(chain, Origin.COMPOSER)).family == "SEQUENTIAL:2"


@pytest.mark.parametrize(
    "wrong", [{"seed_floor": 1.2}, {"seed_floor": 0.7, "composite_share": 0.5}, {"window": 8}]
)
def test_settings_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="curation"):
        CurationSettings(**wrong)
