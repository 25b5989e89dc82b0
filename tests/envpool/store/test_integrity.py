"""The check of a pool: nothing is found in a whole one, and each kind of damage is, by its database and key."""

import os
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import lmdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envpool.answer_counts import AnswerCount
from envpool.members import Composite, Member, Origin, Program, Status
from envpool.store import NoPool, OlderSchema, PoolReader, PoolWriter, StoreError, encoding
from envpool.store.apart import check_at
from envpool.store.environment import DATABASES
from envpool.store.integrity import check
from tests.envpool.store.schema_one import make_schema_one

MAP_SIZE = 64 << 20
ONE = Member(Program("one", "One", "Rule.", "int", "str"), Origin.GRAMMAR, evidence={"guess": 0.5})
TWO = Member(Program("two", "Two", "Rule.", "str", "int"), Origin.POLICY, parents=(ONE.id,))
HELD = Member(Program("held", "Held", "Rule.", "int", "int"), Origin.SEED, held_out=True)
CHAIN = Member(Composite("SEQUENTIAL", ((ONE.id, TWO.id),), "int", "int"), Origin.COMPOSER, (ONE.id, TWO.id))
FALLEN = "p0000000000000000000f"
SIGNATURE = encoding.type_key("int") + encoding.type_key("str")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    fill(tmp_path)
    return tmp_path


def fill(path: Path) -> None:
    """A pool with a row of every kind."""
    with PoolWriter.open(path, MAP_SIZE) as pool:
        for member in (ONE, TWO, HELD, CHAIN):
            pool.admit(member, step=1)
        pool.reject(FALLEN, Origin.POLICY, "L4", "too easy", {"rate": 1.0}, source="pass", step=2)
        pool.reject(ONE.id, Origin.POLICY, "duplicate", "known", step=2)
        pool.transition(TWO.id, Status.RESTING, "solved", step=3)
        pool.record([AnswerCount(id, "main", 2, 8, 4, 6) for id in (ONE.id, CHAIN.id)], step=3)
        pool.record([AnswerCount(ONE.id, "main", 2, 8, 8, 8)], step=4)
        pool.set_level(ONE.id, "main", 2, "it rose", step=4)
        pool.set_level(TWO.id, "main", 1, "it rose", step=4)
        pool.set_level(TWO.id, "main", 0, "it fell", step=5)
        pool.put_state("progress", {"step": 5})
        pool.put_group("main\0g", b"opaque")


Damage = Callable[[Any, Any], None]
"""Of a transaction, with the database given."""


def damaged(path: Path, database: str, damage: Damage) -> list[tuple[str, str]]:
    """What is found, as database and key, after the damage."""
    with lmdb.open(str(path), max_dbs=len(DATABASES)) as env, env.begin(write=True) as txn:
        damage(txn, env.open_db(database.encode(), txn=txn))
    with PoolReader.open(path) as pool:
        return [(finding.database, finding.key) for finding in check(pool)]


def put(key: bytes, value: bytes = b"") -> Damage:
    return lambda txn, db: txn.put(key, value, db=db)


def drop(key: bytes) -> Damage:
    def one(txn: Any, db: Any) -> None:
        assert txn.delete(key, db=db)

    return one


def test_nothing_is_found_in_a_whole_pool_also_while_it_is_written(path: Path) -> None:
    with PoolWriter.open(path, MAP_SIZE) as pool:
        assert check(pool) == []
    with PoolReader.open(path) as reader:
        assert check(reader) == []


KEY = ONE.id.encode()
CASES: dict[str, tuple[str, Damage, str, str]] = {
    "a member is gone": ("members", drop(KEY), "status", ONE.id),
    "a member's bytes are noise": ("members", put(KEY, b"\xc1"), "members", ONE.id),
    "a member's bytes are cut off": ("members", put(KEY, encoding.pack_member(ONE)[:-9]), "members", ONE.id),
    "another member's record": ("members", put(KEY, encoding.pack_member(HELD)), "members", ONE.id),
    "a changed source": (
        "members",
        put(KEY, encoding.pack_member(replace(ONE, material=replace(ONE.material, source="onE")))),
        "members",
        ONE.id,
    ),
    "a member nobody admitted": (
        "members",
        put(b"p" + b"9" * 20, encoding.pack_member(ONE)),
        "members",
        "p" + "9" * 20,
    ),
    "a status is gone": ("status", drop(KEY), "status", ONE.id),
    "a status is noise": ("status", put(KEY, b"asleep\0grammar\0000"), "status", ONE.id),
    "another status": ("status", put(KEY, b"retired\0grammar\x000"), "journal", ONE.id),
    "another maker": ("status", put(KEY, b"active\0user\x000"), "status", ONE.id),
    "not held out any more": ("status", put(HELD.id.encode(), b"active\0seed\x000"), "status", HELD.id),
    "a rejected member": ("status", put(KEY, b"rejected\0grammar\x000"), "status", ONE.id),
    "missing by status": (
        "by_status",
        drop(encoding.joined("active", "grammar", ONE.id)),
        "by_status",
        ONE.id,
    ),
    "twice by status": (
        "by_status",
        put(encoding.joined("retired", "grammar", ONE.id)),
        "by_status",
        f"retired\0grammar\0{ONE.id}",
    ),
    "noise by status": ("by_status", put(b"\xff"), "by_status", "\\xff"),
    "missing by signature": ("by_signature", drop(SIGNATURE + KEY), "by_signature", ONE.id),
    "a wrong signature": ("by_signature", put(bytes(24) + KEY), "by_signature", ONE.id),
    "a child is gone": (
        "children",
        drop(encoding.joined(ONE.id, CHAIN.id)),
        "children",
        f"{ONE.id}\0{CHAIN.id}",
    ),
    "a child too many": (
        "children",
        put(encoding.joined(CHAIN.id, ONE.id)),
        "children",
        f"{CHAIN.id}\0{ONE.id}",
    ),
    "answers are gone": (
        "answers",
        drop(encoding.policy_key("main", ONE.id, "") + encoding.level_bytes(2)),
        "answers",
        f"main\0{ONE.id}",
    ),
    "answers nobody gave": (
        "answers",
        put(encoding.policy_key("main", "pnobody", "") + encoding.level_bytes(0), bytes(32)),
        "answers",
        "main\0pnobody",
    ),
    "answers are cut off": (
        "answers",
        put(encoding.policy_key("main", ONE.id, "") + encoding.level_bytes(2), bytes(31)),
        "answers",
        encoding.policy_key("main", ONE.id, "").decode() + "\0\0\0\2",
    ),
    "answers that contradict themselves": (
        "answers",
        put(
            encoding.policy_key("main", ONE.id, "") + encoding.level_bytes(2),
            b"".join(n.to_bytes(8) for n in (1, 2, 3, 4)),
        ),
        "answers",
        encoding.policy_key("main", ONE.id, "").decode() + "\0\0\0\2",
    ),
    "a level is gone": ("levels", drop(encoding.policy_key("main", ONE.id)), "levels", f"main\0{ONE.id}"),
    "another level": (
        "levels",
        put(encoding.policy_key("main", ONE.id), encoding.level_bytes(7)),
        "levels",
        f"main\0{ONE.id}",
    ),
    "a level of nobody": (
        "levels",
        put(encoding.policy_key("main", "pnobody"), encoding.level_bytes(1)),
        "levels",
        "main\0pnobody",
    ),
    "a gap in the journal": ("journal", drop(encoding.sequence(3)), "journal", "4"),
    "the newest entry is gone": ("journal", drop(encoding.sequence(12)), "levels", f"main\0{TWO.id}"),
    "a journal entry is noise": ("journal", put(encoding.sequence(2), b"\x93"), "journal", "\0" * 7 + "\2"),
    "an entry too many": (
        "journal",
        put(
            encoding.sequence(13),
            encoding.pack_entry(encoding.JournalEntry(13, 0.0, 0, "move", ONE.id, "", "active", "retired")),
        ),
        "journal",
        ONE.id,
    ),
    "an unknown kind of entry": (
        "journal",
        put(encoding.sequence(13), encoding.pack_entry(encoding.JournalEntry(13, 0.0, 0, "dream"))),
        "journal",
        "13",
    ),
    "a rejection is gone": ("rejections", drop(FALLEN.encode()), "rejections", FALLEN),
    "a rejection is noise": ("rejections", put(FALLEN.encode(), b"\x90"), "rejections", FALLEN),
    "a rejection of a member": (
        "rejections",
        put(KEY, encoding.pack_rejection(encoding.Rejection(ONE.id, Origin.USER, "", "", {}, "", 0, 0.0))),
        "rejections",
        ONE.id,
    ),
    "a counter is wrong": (
        "counters",
        put(b"status\0active", encoding.sequence(9)),
        "counters",
        "status\0active",
    ),
    "a counter is gone": ("counters", drop(b"status\0resting"), "counters", "status\0resting"),
    "a gate's counter is gone": ("counters", drop(b"funnel\0L4\0policy"), "counters", "funnel\0L4\0policy"),
    "a counter of nothing": (
        "counters",
        put(b"funnel\0L9\0policy", encoding.sequence(1)),
        "counters",
        "funnel\0L9\0policy",
    ),
    "state is noise": ("state", put(b"progress", b"\x81"), "state", "progress"),
    "a group's key is noise": ("groups", put(b"\xff\xfe"), "groups", "\\xff\\xfe"),
    "the pool has no identity": ("meta", drop(b"pool"), "meta", "pool"),
    "the place has no mark": ("meta", put(b"mark", b"short"), "meta", "mark"),
    "the place has no number": ("meta", drop(b"change"), "meta", "change"),
}


@pytest.mark.parametrize("case", CASES)
def test_each_kind_of_damage_is_found_by_database_and_key(path: Path, case: str) -> None:
    database, damage, found_in, key = CASES[case]
    assert (found_in, key) in damaged(path, database, damage)


@settings(max_examples=60, deadline=None)
@given(choose=st.randoms(use_true_random=False))
def test_no_row_can_go_unnoticed_but_of_state_and_groups(
    tmp_path_factory: pytest.TempPathFactory, choose: random.Random
) -> None:
    whole = tmp_path_factory.mktemp("pool")
    fill(whole)
    rows: list[tuple[str, bytes]] = []
    with PoolReader.open(whole) as pool:
        for name in DATABASES:
            if name not in ("state", "groups"):
                rows += [(name, key) for _, key, _ in pool.rows((name,)) if key != b"schema"]
    database, key = choose.choice(rows)
    assert damaged(whole, database, drop(key)), (database, key)


def test_a_file_that_was_cut_off_is_found_and_kills_nobody(path: Path) -> None:
    with PoolWriter.open(path, MAP_SIZE) as pool:
        for k in range(300):
            pool.admit(Member(Program(f"{k}" + "x" * 3000, "Name", "Rule.", "int", "int"), Origin.GRAMMAR))
    os.truncate(path / "data.mdb", (path / "data.mdb").stat().st_size // 2 // 4096 * 4096)
    (found,) = check_at(path)
    assert (found.database, found.key) == ("file", "data.mdb")
    assert "cut off" in found.text


def test_noise_in_place_of_pages_is_a_finding_or_a_refusal(path: Path) -> None:
    size = (path / "data.mdb").stat().st_size
    with (path / "data.mdb").open("r+b") as file:
        file.seek(2 * 4096)
        file.write(random.Random(1).randbytes(size - 2 * 4096))
    with suppress(StoreError):
        assert check_at(path)


def test_what_cannot_be_opened_is_said_as_opening_says_it(tmp_path: Path) -> None:
    with pytest.raises(NoPool):
        check_at(tmp_path)
    make_schema_one(tmp_path / "old")
    with pytest.raises(OlderSchema, match="migrate"):
        check_at(tmp_path / "old")
