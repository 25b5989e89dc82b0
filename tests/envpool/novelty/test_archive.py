"""The archive follows a real pool by its journal: nothing admitted is missing in it, whatever file it starts from."""

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from envpool.families import choose_parents, family_counts, family_of, state_key
from envpool.members import Composite, Member, Origin, Program, Status
from envpool.novelty.archive import Archive
from envpool.novelty.contamination import HeldOut
from envpool.novelty.embedding import DIMENSION, to_bytes
from envpool.store import PoolWriter


def near(topic: int, noise: int = 0, share: float = 0.3) -> bytes:
    """A unit vector of a topic; vectors of one topic are about 0.9 similar, those of two not at all."""
    base = np.random.default_rng(topic).normal(size=DIMENSION)
    other = np.random.default_rng(1000 + noise).normal(size=DIMENSION)
    mixed = base + share * other if noise else base
    return to_bytes(mixed / np.linalg.norm(mixed))


def member(name: str, embedding: bytes = b"", origin: Origin = Origin.POLICY, **facts: object) -> Member:
    return Member(Program(name, name, "Rule.", "int", "int"), origin, embedding=embedding, **facts)


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[PoolWriter]:
    with PoolWriter.open(tmp_path / "pool", 16 << 20) as writer:
        yield writer


def test_what_is_admitted_is_found_and_has_a_family(pool: PoolWriter) -> None:
    archive = Archive()
    first, second, third = member("a", near(1)), member("b", near(1, 1)), member("c", near(2))
    for each in (first, second, third, member("no embedding")):
        pool.admit(each)
    assert archive.follow(pool) == {first.id: first.id, second.id: first.id, third.id: third.id}
    assert archive.follow(pool) == {}
    assert archive.index.nearest(near(2))[0] == third.id
    assert len(archive) == 4 and len(archive.index) == 3 and archive.seen == 4


def test_retired_and_quarantined_members_stay(pool: PoolWriter) -> None:
    gone = member("a", near(1))
    pool.admit(gone)
    pool.transition(gone.id, Status.RETIRED, "old")
    pool.transition(gone.id, Status.QUARANTINED, "broken")
    archive = Archive()
    archive.follow(pool)
    assert archive.index.nearest(near(1))[0] == gone.id


def test_a_program_is_known_ahead_of_the_journal_and_once_only(pool: PoolWriter) -> None:
    archive, new = Archive(), member("a", near(1))
    archive.add(new.id, new.embedding)
    assert archive.index.nearest(near(1))[0] == new.id and archive.ahead == {new.id}
    pool.admit(new)
    archive.follow(pool)
    assert archive.ahead == set() and len(archive.index) == 1


def test_a_saved_archive_goes_on_where_it_was(pool: PoolWriter, tmp_path: Path) -> None:
    path = tmp_path / "novelty.npz"
    for number in range(6):
        pool.admit(member(f"m{number}", near(number % 3, number)))
    pool.admit(member("apart", near(9), origin=Origin.BRICK, held_out=True))
    archive = Archive.open(path, pool)
    archive.add("never admitted", near(50))
    archive.save(path, pool)
    pool.admit(member("late", near(1, 77)))
    again, anew = Archive.open(path, pool), Archive()
    anew.follow(pool)
    assert again.seen == anew.seen == pool.last_sequence()
    assert again.clusters.family == anew.clusters.family and len(again.clusters) == 4
    assert len(again.index) == len(anew.index) == 8
    assert again.index.nearest(near(2, 2)) == anew.index.nearest(near(2, 2))
    assert again.held_out.ids == anew.held_out.ids != set()
    assert "held-out" in again.held_out.copied_by(near(9))


def test_a_file_of_another_pool_another_history_or_none_is_built_anew(
    pool: PoolWriter, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "novelty.npz"
    pool.admit(member("a", near(1)))
    with PoolWriter.open(tmp_path / "other", 16 << 20) as other:
        other.admit(member("b", near(2)))
        other.admit(member("c", near(3)))
        Archive.open(path, other).save(path, other)
    assert len(Archive.open(path, pool)) == 1
    assert "another pool" in caplog.text
    mine = Archive.open(path, pool)
    mine.seen = 5
    mine.save(path, pool)
    assert Archive.open(path, pool).seen == 1, "the journal is shorter than what was followed"
    path.write_bytes(b"PK\x03\x04 broken")
    assert len(Archive.open(path, pool)) == 1
    archive = Archive.open(path, pool)
    archive.save(path, pool)
    assert Archive.open(path, pool, similarity=0.95).clusters.similarity == 0.95


def test_an_archive_that_lost_a_member_is_built_anew(pool: PoolWriter, tmp_path: Path) -> None:
    path = tmp_path / "novelty.npz"
    for name in "ab":
        pool.admit(member(name, near(ord(name))))
    broken = Archive()
    broken.follow(pool)
    broken._members.popitem()
    broken.save(path, pool)
    assert len(Archive.open(path, pool)) == 2


def test_a_copy_of_what_is_set_apart_is_contamination_by_embedding_behaviour_or_code() -> None:
    apart = member("apart", near(1), held_out=True, fingerprint="f" * 64, evidence={"normal": "n" * 64})
    held_out = HeldOut()
    held_out.take(apart)
    held_out.take(member("trained on", near(2), fingerprint="t" * 64))
    assert held_out.copied_by(near(1, 1)).startswith("contamination: rule and code are 0.9")
    assert (
        held_out.copied_by(fingerprint="f" * 64)
        == f"contamination: it answers every probe as the held-out {apart.id}"
    )
    assert held_out.copied_by(normal="n" * 64) == f"contamination: it has the code of the held-out {apart.id}"
    assert held_out.copied_by(near(2), "t" * 64, "m" * 64) == ""
    assert HeldOut().copied_by(near(1), "", "") == ""


def test_parents_are_seeds_by_the_floor_and_spread_over_families(pool: PoolWriter) -> None:
    seeds = [member(f"s{n}", near(n), Origin.SEED) for n in range(2)]
    crowd = [member(f"c{n}", near(5, n)) for n in range(30)]
    alone, old, apart = (
        member("alone", near(6)),
        member("old", near(7)),
        member("apart", near(8), held_out=True),
    )
    broken = member("broken", near(9))
    for each in (*seeds, *crowd, alone, old, apart, broken):
        pool.admit(each)
    pool.admit(Member(Composite("SEQUENTIAL", ((alone.id, old.id),), "int", "int"), Origin.COMPOSER))
    pool.transition(old.id, Status.RETIRED, "old")
    pool.transition(broken.id, Status.QUARANTINED, "broken")
    archive = Archive()
    for identity, family in archive.follow(pool).items():
        pool.put_state(state_key(identity), family)
    rng = random.Random(1)
    shown = [choose_parents(pool, rng, 3, seed_floor=0.5) for _ in range(300)]
    assert all(len({family_of(pool, each.id) for each in parents}) == 3 for parents in shown)
    names = [
        each.material.name for parents in shown for each in parents if isinstance(each.material, Program)
    ]
    assert sum(name.startswith("s") for name in names) > 0.4 * len(names)
    assert not {"apart", "broken"} & set(names)
    assert names.count("alone") > 2 * sum(name.startswith("c") for name in names), (
        "a small family comes first"
    )
    assert "old" in names, "retired ones serve as examples"
    assert choose_parents(pool, rng, 100, 0.2) != [] and len(choose_parents(pool, rng, 100)) == 34


def test_every_member_has_a_family_also_one_that_was_never_embedded(pool: PoolWriter) -> None:
    one, two = member("a", near(1)), member("b", near(1, 1))
    for each in (one, two, member("c", origin=Origin.BRICK)):
        pool.admit(each)
    pool.admit(Member(Composite("SEQUENTIAL", ((one.id, two.id),), "int", "int"), Origin.COMPOSER))
    archive = Archive()
    for identity, family in archive.follow(pool).items():
        pool.put_state(state_key(identity), family)
    pool.transition(two.id, Status.RETIRED, "old")
    assert family_counts(pool) == {one.id: 2, "brick:int -> int": 1, "SEQUENTIAL:2": 1}
    assert family_counts(pool, Status.RETIRED) == {one.id: 1}
    assert family_of(pool, "nobody") == ""
