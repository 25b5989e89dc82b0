"""Answers that a request brought are counted once, however often it comes and whoever was killed meanwhile."""

from pathlib import Path

import pytest

from envpool.answer_counts import AnswerCount
from envpool.members import Member, Origin, Program
from envpool.store import PoolReader, PoolWriter, StoreError, writing

MEMBER = Member(Program("text", "Name", "Rule.", "int", "int"), Origin.GRAMMAR)
COUNT = AnswerCount(MEMBER.id, "trainer", 0, 8, 2, 8)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with PoolWriter.open(tmp_path, 64 << 20) as pool:
        pool.admit(MEMBER)
    return tmp_path


def attempts(pool: PoolReader | PoolWriter) -> int:
    counts = pool.stats(MEMBER.id, "trainer").get(0)
    return counts.attempts if counts else 0


def test_a_request_is_counted_once_also_by_another_life_of_the_writer(folder: Path) -> None:
    for first in (True, False):
        with PoolWriter.open(folder) as pool:
            assert pool.record_once("client\nrequest", [COUNT]) is first
            assert pool.record_once("client\nrequest", [COUNT]) is False
    with PoolReader.open(folder) as reader:
        assert attempts(reader) == 8


def test_another_request_is_counted_whatever_its_name_is_made_of(folder: Path) -> None:
    with PoolWriter.open(folder) as pool:
        for name in ("client\nother", "\ud800", "x" * 10_000, ""):
            assert pool.record_once(name, [COUNT])
        assert attempts(pool) == 32


def test_a_request_whose_answers_are_refused_may_come_again(folder: Path) -> None:
    with PoolWriter.open(folder) as pool:
        with pytest.raises(StoreError):
            pool.record_once("r", [AnswerCount(MEMBER.id, "trainer", 0, attempts=1, successes=2)])
        assert pool.record_once("r", [COUNT])


def test_the_last_names_are_remembered_all_of_them_and_no_more(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "REQUESTS_KEPT", 8)
    with PoolWriter.open(folder) as pool:
        assert all(pool.record_once(str(index), [COUNT]) for index in range(40))
        names = pool.group_keys(f"{writing.REQUESTS}name/")
    with PoolWriter.open(folder) as pool:
        assert not any(pool.record_once(str(index), [COUNT]) for index in range(32, 40))
        assert len(names) == 8 and pool.group_keys(f"{writing.REQUESTS}name/") == names
        assert pool.record_once("31", [COUNT])  # too old to be known
        assert len(pool.group_keys(writing.REQUESTS)) == 2 * 8 + 1
