"""The change stream: what a follower is given, and when it is told that only a snapshot helps."""

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envpool.members import Member, Origin, Program, Status
from envpool.store import Changes, PoolWriter, Position, StoreError
from envpool.store.changes import ChangeLog, Transaction, pack_operations, unpack_operations

MAP_SIZE = 64 << 20
START = Position(5, b"start---")


def program(text: str) -> Member:
    return Member(Program(text, "Name", "Rule.", "int", "int"), Origin.GRAMMAR)


def transactions(count: int, size: int = 10) -> list[Transaction]:
    marks = [START.mark, *(b"mark%04d" % number for number in range(count))]
    return [
        Transaction(START.change + 1 + k, marks[k], marks[k + 1], float(k), k, bytes(size))
        for k in range(count)
    ]


@pytest.fixture
def pool(tmp_path: Path) -> PoolWriter:
    with PoolWriter.open(tmp_path, MAP_SIZE) as writer:
        yield writer


def test_each_transaction_that_changed_something_has_the_next_number(pool: PoolWriter) -> None:
    start = pool.position()
    pool.admit(program("a"))
    assert pool.admit(program("a")) is False
    pool.transition(program("a").id, Status.ACTIVE, "it is")
    assert pool.delete_state("nothing") is False
    with pool.batch():
        pool.admit(program("b"))
        pool.put_state("x", 1)
    with pytest.raises(StoreError), pool.batch():
        pool.admit(program("c"))
        pool.transition("nobody", Status.RETIRED, "")
    changes = pool.changes(*start)
    assert [each.number for each in changes.transactions] == [start.change + 1, start.change + 2]
    assert [each.sequence for each in changes.transactions] == [1, 2]
    assert changes.transactions[-1].position == pool.position()
    assert 0 < changes.transactions[0].at <= changes.transactions[1].at


def test_groups_are_kept_and_dropped_without_a_number(pool: PoolWriter) -> None:
    start = pool.position()
    for key in ("main\0b", "main\0a", "other\0a"):
        pool.put_group(key, key.encode() * 3)
    assert pool.group_keys() == ["main\0a", "main\0b", "other\0a"]
    assert pool.group_keys("main\0") == ["main\0a", "main\0b"]
    assert pool.group("main\0a") == b"main\0a" * 3
    assert pool.drop_groups(["main\0a", "main\0unknown"]) == 1
    assert pool.group("main\0a") is None
    assert pool.position() == start
    assert pool.changes(*start).transactions == ()
    for key in ("", "x" * 500):
        with pytest.raises(StoreError, match="group key"):
            pool.put_group(key, b"")


def test_who_is_up_to_date_stays_so_when_the_writer_is_opened_anew(tmp_path: Path) -> None:
    with PoolWriter.open(tmp_path, MAP_SIZE) as pool:
        old = pool.position()
        pool.admit(program("a"))
        position = pool.position()
    with PoolWriter.open(tmp_path, MAP_SIZE) as pool:
        assert pool.changes(*position) == Changes((), position.change, 1)
        assert pool.changes(*old) is None, "the log of the former writer is gone"
        pool.admit(program("b"))
        assert len(pool.changes(*position).transactions) == 1


def test_another_history_of_the_pool_is_told_by_its_mark(pool: PoolWriter) -> None:
    pool.admit(program("a"))
    change, mark = pool.position()
    assert pool.changes(change, mark) is not None
    assert pool.changes(change, b"another!") is None
    assert pool.changes(change + 1, mark) is None
    assert pool.changes(0, b"") is None


def test_the_log_is_bounded_in_bytes(tmp_path: Path) -> None:
    with PoolWriter.open(tmp_path, MAP_SIZE, log_bytes=10_000) as pool:
        first = pool.position()
        for k in range(50):
            pool.put_state("x", bytes(500) + bytes([k]))
            if k == 44:
                late = pool.position()
        assert pool.changes(*first) is None
        assert [each.number for each in pool.changes(*late).transactions] == [46, 47, 48, 49, 50]
        pool.put_state("x", bytes(20_000))
        assert pool.changes(*late) is None, "one transaction was more than the log holds"
        assert pool.changes(*pool.position()).transactions == ()


@given(count=st.integers(0, 12), after=st.integers(0, 20), limit=st.integers(0, 80), kept=st.integers(1, 12))
def test_what_is_given_follows_without_gaps_within_its_limit(
    count: int, after: int, limit: int, kept: int
) -> None:
    log, every = ChangeLog(START, 0, max_count=kept), transactions(count)
    for transaction in every:
        log.append(transaction)
    positions = {START.change: START.mark, **{each.number: each.mark for each in every}}
    found = log.since(Position(after, positions.get(after, b"")), limit)
    oldest = START.change + max(0, count - kept)
    if not oldest <= after <= START.change + count:
        assert found is None
        return
    given = found.transactions
    assert list(given) == every[after - START.change :][: len(given)]
    assert len(given) == min(max(1, limit // 10), START.change + count - after)
    assert Changes.unpack(found.pack()) == found
    assert (found.newest, log.newest.change) == (START.change + count, START.change + count)


@given(st.lists(st.tuples(st.sampled_from(["members", "meta"]), st.binary(), st.none() | st.binary())))
def test_operations_are_unpacked_as_they_were_packed(operations: list) -> None:
    assert unpack_operations(pack_operations(operations)) == operations


def test_who_waits_is_woken_by_the_next_change_and_no_other(pool: PoolWriter) -> None:
    heard: list[int] = []
    pool.log.on_append(lambda: heard.append(pool.log.newest.change))
    now = pool.position().change
    assert pool.wait_for_change(now, 0.01) is False
    assert pool.wait_for_change(now - 1, 0) is True
    waiting = threading.Thread(target=lambda: heard.append(-1) if pool.wait_for_change(now, 60) else None)
    waiting.start()
    pool.put_group("main\0a", b"")
    assert waiting.is_alive()
    pool.put_state("x", 1)
    waiting.join()
    assert sorted(heard) == [-1, now + 1]


def test_threads_that_commit_at_once_leave_a_log_in_the_order_of_the_disk(pool: PoolWriter) -> None:
    start = pool.position()

    def commit(name: str) -> None:
        for k in range(50):
            pool.put_state(name, k)

    threads = [threading.Thread(target=commit, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = pool.changes(*start).transactions
    assert [each.number for each in found] == list(range(start.change + 1, start.change + 201))
    assert [each.before for each in found[1:]] == [each.mark for each in found[:-1]]
