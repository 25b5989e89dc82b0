"""Predicted success of chains, from what programs and composites have shown, and a search that aims by it."""

import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envpool.answer_counts import AnswerCount
from envpool.composition.composer import Composer, ComposerSettings
from envpool.curation import Curator
from envpool.curation.prediction import Aim, Prediction
from envpool.curation.shown import Answered, Showing, Shown
from envpool.curation.tracks import Recent
from envpool.members import Composite, Member, OperatorName, Origin, Program
from envpool.store import PoolWriter
from tests.envpool.composition.simulated import (
    AddOne,
    Double,
    LastDigit,
    SimulatedExecutor,
    Square,
    Triple,
    member,
)


def recent(weight: float, rate: float) -> Recent:
    return Recent(64.0, weight, weight * rate, weight)


def answered(operator: OperatorName, steps: Sequence[str], weight: float, rate: float) -> Answered:
    return Answered(operator, tuple(steps), recent(weight, rate))


def test_what_nobody_was_asked_is_even() -> None:
    prediction = Prediction(Shown())
    assert prediction.step("a") == 0.5
    assert prediction.chain("SEQUENTIAL", "ab") == 0.25


def test_a_chain_succeeds_as_often_as_all_of_its_steps_together() -> None:
    prediction = Prediction(Shown({"a": recent(500, 0.9), "b": recent(500, 0.5)}))
    assert prediction.chain("SEQUENTIAL", "ab") == pytest.approx(0.45, abs=0.01)
    assert prediction.chain("SEQUENTIAL", "aab") == pytest.approx(0.405, abs=0.01)
    assert 0.6 < prediction.step("new") < 0.8, "as the others, on the whole"


def test_a_kind_that_is_harder_than_its_steps_promise_is_predicted_so_and_no_other_kind() -> None:
    programs = {name: recent(500, 0.8) for name in "abc"}
    prediction = Prediction(Shown(programs, (answered("SORT", "abc", 400, 0.8**3 / 2),)))
    assert prediction.chain("SORT", "cab") == pytest.approx(0.8**3 / 2, rel=0.05)
    assert prediction.chain("SORT", "ab") == pytest.approx(0.8**2, rel=0.05)
    assert prediction.chain("SEQUENTIAL", "abc") == pytest.approx(0.8**3, rel=0.05)


def test_where_only_composites_are_asked_they_tell_what_their_steps_are_worth() -> None:
    rates = dict(zip("abcdef", (0.95, 0.9, 0.9, 0.6, 0.5, 0.9), strict=True))
    rng = random.Random(2)
    chains = [rng.sample(list(rates), 3) for _ in range(60)]
    shown = Shown({}, tuple(answered("SEQUENTIAL", c, 60, math.prod(map(rates.get, c))) for c in chains))
    prediction = Prediction(shown)
    assert sorted(rates, key=prediction.step)[:2] == ["e", "d"]
    assert all(0.6 < prediction.step(name) < 0.95 for name in rates)


@given(
    programs=st.dictionaries(st.sampled_from("abcd"), st.tuples(st.floats(0, 1e4), st.floats(0, 1))),
    composites=st.lists(
        st.tuples(
            st.sampled_from(["SEQUENTIAL", "PARALLEL", "SORT", "SELECT"]),
            st.text("abcde", min_size=2, max_size=6), st.floats(0, 1e4), st.floats(0, 1),
        ),
        max_size=8,
    ),
    steps=st.text("abcdef", min_size=2, max_size=12),
)  # fmt: skip
def test_a_prediction_is_a_rate_whatever_was_answered(
    programs: dict[str, tuple[float, float]],
    composites: list[tuple[OperatorName, str, float, float]],
    steps: str,
) -> None:
    shown = Shown(
        {name: recent(*sums) for name, sums in programs.items()},
        tuple(answered(*each) for each in composites),
    )
    prediction = Prediction(shown)
    aim = Aim(prediction, 0.3, (2, 6))
    for operator in ("SEQUENTIAL", "PARALLEL", "SORT", "SELECT"):
        assert 0 < prediction.chain(operator, steps) < 1
        assert 0 <= aim.nearness(operator, steps) <= 1
    assert all(0 < aim.weight(step) <= 1 for step in steps)


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[PoolWriter]:
    with PoolWriter.open(tmp_path / "pool", 64 << 20) as writer:
        yield writer


def program(text: str) -> Member:
    return Member(Program(text, "Name", "Rule.", "int", "int"), Origin.BRICK)


def test_what_was_shown_is_read_from_where_the_curator_keeps_it(pool: PoolWriter) -> None:
    a, b, c = (program(text) for text in "abc")
    chosen = Member(Composite("SELECT", ((a.id, b.id),), "int", "int", (c.id,)), Origin.COMPOSER)
    curator, showing = Curator(), Showing("curator", level=0)
    for each in (a, b, c, chosen):
        pool.admit(each)
    curator.follow(pool.journal(), pool)
    assert showing.read(pool) == Shown()
    curator.record(AnswerCount(a.id, "main", 0, 8, 6, 8))
    curator.record(AnswerCount(b.id, "main", 1, 8, 6, 8))
    curator.record(AnswerCount(chosen.id, "main", 0, 8, 2, 8))
    pool.put_state("curator", curator.state_dict())
    shown = showing.read(pool)
    assert {name: each.rate for name, each in shown.programs.items()} == {a.id: 0.75}, (
        "b's are of another level"
    )
    (composite,) = shown.composites
    assert (composite.operator, composite.steps, composite.recent.rate) == ("SELECT", (a.id, b.id), 0.25)
    assert set(Showing("curator", level=1).read(pool).programs) == {b.id}


async def test_a_guided_search_makes_chains_nearer_to_the_success_that_is_sought() -> None:
    classes = {Double: 0.98, AddOne: 0.97, Triple: 0.9, Square: 0.35, LastDigit: 0.05}
    bricks = [member(each) for each in classes]
    rates = {member(each).id: rate for each, rate in classes.items()}
    aim = Aim(Prediction(Shown({id: recent(200, rate) for id, rate in rates.items()})), 0.3, (2,))

    async def distance(guide: Aim | None) -> float:
        """Mean difference of a chain's true success from what is sought."""
        made: list[Member] = []
        for seed in range(20):
            composer = Composer(
                SimulatedExecutor(), bricks, ComposerSettings(("SEQUENTIAL",), level=1), seed=seed
            )
            composer.use(bricks, guide)
            made += await composer.propose(1, [2])
        truths = [math.prod(rates[step] for step in each.material.parts) for each in made]
        return sum(abs(truth - 0.3) for truth in truths) / len(truths)

    assert await distance(aim) < 0.5 * await distance(None)
