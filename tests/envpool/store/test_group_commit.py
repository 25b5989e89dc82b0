import threading
from pathlib import Path

import pytest

from envpool.members import Member, Origin, Program, Status
from envpool.store import PoolWriter, StoreError
from envpool.store.group_commit import GroupCommit


def program(text: str) -> Member:
    return Member(Program(text, "Name", "Rule.", "int", "int"), Origin.GRAMMAR)


@pytest.fixture
def pool(tmp_path: Path) -> PoolWriter:
    with PoolWriter.open(tmp_path, 64 << 20) as writer:
        yield writer


def test_many_producers_admit_everything_once_in_few_transactions(pool: PoolWriter) -> None:
    commits = GroupCommit(pool)
    before = pool._env.info()["last_txnid"]

    def produce() -> None:
        futures = [commits.submit(lambda p, n=n: p.admit(program(str(n)))) for n in range(200)]
        for future in futures:
            future.result()

    producers = [threading.Thread(target=produce) for _ in range(4)]
    for producer in producers:
        producer.start()
    for producer in producers:
        producer.join()
    commits.close()
    assert len(pool.ids()) == pool.last_sequence() == 200
    assert pool._env.info()["last_txnid"] - before < 400


def test_one_bad_operation_fails_alone(pool: PoolWriter) -> None:
    commits = GroupCommit(pool)
    hold = threading.Event()
    first = commits.submit(lambda p: hold.wait() and p.admit(program("a")))
    bad = commits.submit(lambda p: p.transition("nobody", Status.RETIRED, "unknown"))
    worse = commits.submit(lambda p: p.admit(program("half")) and 1 // 0)
    good = commits.submit(lambda p: p.admit(program("b")))
    hold.set()
    assert first.result() is True and good.result() is True
    with pytest.raises(StoreError, match="never admitted"):
        bad.result()
    with pytest.raises(ZeroDivisionError):
        worse.result()
    commits.close()
    assert sorted(pool.ids()) == sorted([program("a").id, program("b").id])


def test_closing_commits_what_was_submitted_and_takes_nothing_more(pool: PoolWriter) -> None:
    commits = GroupCommit(pool)
    futures = [commits.submit(lambda p, n=n: p.admit(program(str(n)))) for n in range(50)]
    commits.close()
    commits.close()
    assert all(future.result() for future in futures)
    with pytest.raises(StoreError, match="closed"):
        commits.submit(lambda p: None)
