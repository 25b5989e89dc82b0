import multiprocessing
import os
from pathlib import Path

import lmdb
import pytest

from envpool.answer_counts import AnswerCount, Counts
from envpool.members import Composite, Member, Origin, Program, Status
from envpool.store import PoolReader, PoolWriter, StoreError

MAP_SIZE = 64 << 20


def program(text: str, **facts: object) -> Member:
    return Member(Program(text, "Name", "Rule.", "int", "int"), Origin.GRAMMAR, **facts)


@pytest.fixture
def pool(tmp_path: Path) -> PoolWriter:
    with PoolWriter.open(tmp_path / "pool", MAP_SIZE) as writer:
        yield writer


def test_a_second_writer_is_refused_and_told_who_holds_the_pool(pool: PoolWriter) -> None:
    with pytest.raises(StoreError, match=f"has a writer already.*{os.getpid()}"):
        PoolWriter.open(pool.path, MAP_SIZE)
    pool.close()
    PoolWriter.open(pool.path, MAP_SIZE).close()


def test_an_unknown_schema_is_refused_by_number(pool: PoolWriter) -> None:
    path = pool.path
    pool.close()
    with lmdb.open(str(path), max_dbs=2) as env, env.begin(write=True) as txn:
        txn.put(b"schema", b"7", db=env.open_db(b"meta", txn=txn))
    for kind in (PoolReader, PoolWriter):
        with pytest.raises(StoreError, match="schema 7"):
            kind.open(path)


def test_a_reader_needs_a_pool(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no pool"):
        PoolReader.open(tmp_path)
    with lmdb.open(str(tmp_path)):
        pass
    with pytest.raises(StoreError):
        PoolReader.open(tmp_path)


def test_a_full_map_loses_nothing_and_says_what_to_do(tmp_path: Path) -> None:
    with PoolWriter.open(tmp_path, 1 << 20) as pool:
        assert pool.admit(program("small"))
        with pytest.raises(StoreError, match="map_size_gib"):
            pool.admit(program("x" * (2 << 20)))
        assert pool.ids() == [program("small").id]
        assert pool.last_sequence() == 1
    with PoolWriter.open(tmp_path, MAP_SIZE) as pool:
        assert pool.admit(program("x" * (2 << 20)))


def test_how_full_the_map_is_can_be_asked_at_any_time(tmp_path: Path) -> None:
    pool = PoolWriter.open(tmp_path, 1 << 22)
    empty = pool.map_fill()
    pool.admit(program("x" * (2 << 20)))
    assert empty < 0.1 < 0.5 < pool.map_fill() < 1
    pool.close()
    assert pool.map_fill() == 0.0


def test_a_handle_is_refused_after_a_fork(pool: PoolWriter) -> None:
    def use() -> None:
        try:
            pool.ids()
        except StoreError as error:
            os._exit(0 if "does not survive a fork" in str(error) else 2)
        os._exit(1)

    child = multiprocessing.get_context("fork").Process(target=use)
    child.start()
    child.join()
    assert child.exitcode == 0
    assert pool.admit(program("the parent's handle still works"))


def test_nothing_is_built_on_what_is_held_out_or_unknown(pool: PoolWriter) -> None:
    held_out = program("held out", held_out=True)
    pool.admit(held_out)
    chain = Composite("SEQUENTIAL", ((held_out.id,),), "int", "int")
    with pytest.raises(StoreError, match="held out"):
        pool.admit(Member(chain, Origin.COMPOSER))
    with pytest.raises(StoreError, match="held out"):
        pool.admit(program("child", parents=(held_out.id,)))
    assert pool.admit(Member(chain, Origin.COMPOSER, held_out=True))
    with pytest.raises(StoreError, match="never admitted"):
        pool.admit(program("orphan", parents=("pnobody",)))


def test_a_rejected_candidate_may_be_admitted_later_and_the_journal_shows_both(pool: PoolWriter) -> None:
    member = program("hard at first")
    pool.reject(member.id, Origin.POLICY, "calibration", "0 of 8", {"a": 0.0}, source="hard at first", step=3)
    assert pool.rejection(member.id).evidence == {"a": 0.0}
    assert pool.admit(member, reason="3 of 8", step=9)
    assert pool.rejection(member.id) is None
    assert [(entry.kind, entry.frm, entry.to, entry.step) for entry in pool.journal()] == [
        ("reject", "", "rejected", 3),
        ("admit", "rejected", "active", 9),
    ]
    assert pool.funnel() == {"calibration": 1, "admitted": 1}
    assert pool.funnel(Origin.POLICY) == {"calibration": 1}
    assert {origin for origin, n in pool.origins().items() if n} == {Origin.GRAMMAR}


def test_levels_and_stats_are_kept_per_policy(pool: PoolWriter) -> None:
    member = program("a")
    pool.admit(member)
    pool.record([AnswerCount(member.id, "main", 0, 8, 2, 7, 1), AnswerCount(member.id, "other", 0, 4, 4, 4)])
    assert pool.stats(member.id, "main") == {0: Counts(8, 2, 7, 1)}
    assert pool.set_level(member.id, "main", 1, "8 of 8") is True
    assert pool.set_level(member.id, "main", 1, "again") is False
    assert (pool.level(member.id, "main"), pool.level(member.id, "other")) == (1, 0)
    assert [entry.kind for entry in pool.journal(after=1)] == ["answers", "level"]


def test_contradicting_answers_are_refused_whole(pool: PoolWriter) -> None:
    good, bad = AnswerCount("a", "main", 0, 8, 2, 8), AnswerCount("a", "main", 0, 1, 2, 1)
    with pytest.raises(StoreError):
        pool.record([good, bad])
    for policy in ("", "a\0b", "x" * 500):
        with pytest.raises(StoreError, match="policy"):
            pool.record([AnswerCount("a", policy, 0)])
    assert pool.all_stats("main") == {} and pool.last_sequence() == 0


def test_run_state_is_kept_and_what_cannot_be_kept_is_refused(pool: PoolWriter) -> None:
    pool.put_state("curator", {"draws": 3, "members": {"p": [1, None, 0.5]}})
    assert pool.state("curator") == {"draws": 3, "members": {"p": [1, None, 0.5]}}
    assert pool.delete_state("curator") is True
    assert pool.delete_state("curator") is False
    assert pool.state("curator") is None
    for value in (object(), 1 << 64):
        with pytest.raises(StoreError, match="cannot be stored"):
            pool.put_state("curator", value)
    with pytest.raises(StoreError, match="state key"):
        pool.put_state("", 1)


def test_an_overlong_or_empty_id_names_nothing(pool: PoolWriter) -> None:
    assert pool.get("") is None and pool.get("x" * 1000) is None and pool.status("") is None


def test_the_journal_is_read_in_pages(pool: PoolWriter) -> None:
    for number in range(5):
        pool.admit(program(str(number)))
    assert [entry.seq for entry in pool.journal(after=1, limit=2)] == [2, 3]
    assert pool.journal(after=5) == [] and pool.journal(limit=0) == []


def test_a_batch_is_read_by_its_thread_and_forgotten_on_an_error(pool: PoolWriter) -> None:
    with pytest.raises(KeyError), pool.batch():
        pool.admit(program("a"))
        assert pool.ids() == [program("a").id]
        raise KeyError
    assert pool.ids() == [] and pool.last_sequence() == 0
    with pool.snapshot(), pytest.raises(StoreError, match="inside"):
        pool.admit(program("a"))


def test_what_is_composed_of_a_quarantined_member_is_quarantined_with_it(pool: PoolWriter) -> None:
    part, other, written = (
        program("part"),
        program("other"),
        program("written", parents=(program("part").id,)),
    )
    pair = Member(Composite("PARALLEL", ((part.id,), (other.id,)), "int", "int"), Origin.COMPOSER)
    for member in (part, other, written, pair):
        assert pool.admit(member)
    assert pool.transition(part.id, Status.QUARANTINED, "it hangs", step=3)
    assert [pool.status(member.id) for member in (part, pair)] == [Status.QUARANTINED] * 2
    assert [pool.status(member.id) for member in (other, written)] == [Status.ACTIVE] * 2, (
        "it only learnt from it"
    )
    assert pool.journal()[-1].reason == f"its part {part.id}: it hangs"
    late = Member(Composite("SEQUENTIAL", ((other.id, part.id),), "int", "int"), Origin.COMPOSER)
    with pytest.raises(StoreError, match="quarantined"):
        pool.admit(late)
