"""What may be composed: anything admitted, from when it is active, and until it is retired or quarantined."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from envpool.curation.parts import bricks_in, quarantined_parts
from envpool.members import Composite, Member, Origin, Program, Status
from envpool.store import PoolWriter, StoreError


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[PoolWriter]:
    with PoolWriter.open(tmp_path / "pool", 64 << 20) as writer:
        yield writer


def program(text: str, origin: Origin = Origin.POLICY, **facts: object) -> Member:
    return Member(Program(text, "Name", "Rule.", "int", "int"), origin, **facts)


def composed(operator: str, *steps: Member, distractors: tuple[Member, ...] = ()) -> Member:
    chain, beside = tuple(each.id for each in steps), tuple(each.id for each in distractors)
    return Member(Composite(operator, (chain,), "int", "int", beside), Origin.COMPOSER)


def bricks(pool: PoolWriter) -> set[str]:
    return {member.id for member in bricks_in(pool)}


@pytest.mark.parametrize("origin", [each for each in Origin if each is not Origin.COMPOSER])
def test_whoever_wrote_it_a_program_is_a_brick_the_moment_it_is_active(
    pool: PoolWriter, origin: Origin
) -> None:
    written = program("written", origin)
    assert bricks(pool) == set()
    pool.admit(written)
    assert bricks(pool) == {written.id}


def test_one_that_rests_stays_a_brick_and_one_that_retires_leaves(pool: PoolWriter) -> None:
    easy, old = program("easy"), program("old")
    for each in (easy, old):
        pool.admit(each)
    pool.transition(easy.id, Status.RESTING, "too easy")
    pool.transition(old.id, Status.RETIRED, "too old")
    assert bricks(pool) == {easy.id}


def test_composites_and_what_is_set_apart_are_no_bricks(pool: PoolWriter) -> None:
    a, b, apart = program("a"), program("b"), program("apart", held_out=True)
    for each in (a, b, apart, composed("SEQUENTIAL", a, b)):
        pool.admit(each)
    assert bricks(pool) == {a.id, b.id}


def test_a_quarantined_program_leaves_and_takes_along_what_shows_it_also_as_a_distractor(
    pool: PoolWriter,
) -> None:
    a, b, lying = (program(text) for text in ("a", "b", "lying"))
    as_step, beside = composed("SORT", lying, a), composed("SELECT", a, b, distractors=(lying,))
    without = composed("SEQUENTIAL", a, b)
    for each in (a, b, lying, as_step, beside, without):
        pool.admit(each)
    pool.transition(beside.id, Status.RESTING, "too hard")
    pool.transition(lying.id, Status.QUARANTINED, "it was killed")
    assert bricks(pool) == {a.id, b.id}
    told = {each.id: pool.status(each.id) for each in (as_step, beside, without)}
    assert list(told.values()) == [Status.QUARANTINED, Status.QUARANTINED, Status.ACTIVE]
    moves = {
        entry.id: entry.reason
        for entry in pool.journal()
        if entry.kind == "move" and entry.to == "quarantined"
    }
    assert moves[as_step.id] == moves[beside.id] == f"its part {lying.id}: it was killed"


def test_what_was_composed_while_its_part_was_quarantined_is_told_apart_from_trouble(
    pool: PoolWriter,
) -> None:
    a, b = program("a"), program("b")
    late = composed("SEQUENTIAL", a, b)
    for each in (a, b):
        pool.admit(each)
    assert quarantined_parts(pool, late) == []
    pool.transition(b.id, Status.QUARANTINED, "it was killed")
    with pytest.raises(StoreError):
        pool.admit(late)
    assert quarantined_parts(pool, late) == [b.id]
