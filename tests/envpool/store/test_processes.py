"""The pool among processes: readers beside the writer, and a writer killed where it hurts most."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from envpool.members import Member, Origin, Program, Status
from envpool.store import PoolReader, PoolWriter

MAP_SIZE = 256 << 20
PREAMBLE = """
import sys, time
from envpool.members import Member, Origin, Program, Status
from envpool.store import PoolReader, PoolWriter, StoreError
path = sys.argv[1]
def program(n): return Member(Program(f"source {n}" + "x" * 2000, "Name", "Rule.", "int", "int"), Origin.GRAMMAR)
"""
ADMIT_FOR_EVER = """
pool = PoolWriter.open(path, 256 << 20)
n = len(pool.ids())
while True:
    with pool.batch():
        for k in range(5):
            assert pool.admit(program(n + k))
        pool.transition(program(n).id, Status.RESTING, "rests")
    n += 5
    print(n, flush=True)
"""
STOP_INSIDE_A_BATCH = """
pool = PoolWriter.open(path, 256 << 20)
pool.admit(program(0))
with pool.batch():
    for k in range(1, 500):
        pool.admit(program(k))
    print("inside", flush=True)
    time.sleep(600)
"""
READ_UNTIL_TOLD = """
pool = PoolReader.open(path)
rounds = seen = 0
print("reading", flush=True)
while seen < 400:
    with pool.snapshot():
        ids = pool.ids()
        counts = pool.counts()
        journal = pool.journal(limit=1_000_000)
        resting = pool.ids(Status.RESTING)
    assert len(ids) >= seen, "an admitted member was lost"
    assert len(ids) == counts[Status.ACTIVE] + counts[Status.RESTING]
    assert len(ids) == sum(entry.kind == "admit" for entry in journal)
    assert len(resting) == counts[Status.RESTING] == len(ids) // 5, "half a batch was seen"
    assert [entry.seq for entry in journal] == list(range(1, len(journal) + 1))
    for identity in ids[-20:]:
        assert pool.get(identity).id == identity
    seen, rounds = len(ids), rounds + 1
print("rounds", rounds, flush=True)
"""
REFUSED = """
try:
    PoolWriter.open(path)
except StoreError as error:
    print(error)
"""


def start(body: str, path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PREAMBLE + body, str(path)], stdout=subprocess.PIPE, text=True
    )


def program(n: int) -> Member:
    source = f"source {n}" + "x" * 2000
    return Member(Program(source, "Name", "Rule.", "int", "int"), Origin.GRAMMAR)


def check_whole(pool: PoolWriter) -> int:
    """Asserts that records, indexes and journal agree; how many members there are."""
    ids = pool.ids()
    assert len(set(ids)) == len(ids) and len(ids) % 5 == 0
    assert {pool.get(identity).id for identity in ids} == set(ids)
    assert set(pool.by_signature("int", "int")) == set(ids)
    assert sum(pool.counts().values()) == len(ids)
    admitted = [entry.id for entry in pool.journal(limit=1_000_000) if entry.kind == "admit"]
    assert sorted(admitted) == sorted(ids)
    return len(ids)


def test_readers_in_other_processes_see_whole_commits_while_the_writer_writes(tmp_path: Path) -> None:
    PoolWriter.open(tmp_path, MAP_SIZE).close()
    readers = [start(READ_UNTIL_TOLD, tmp_path) for _ in range(2)]
    for reader in readers:
        assert reader.stdout.readline() == "reading\n"
    with PoolWriter.open(tmp_path, MAP_SIZE) as pool:
        for n in range(0, 400, 5):
            with pool.batch():
                for k in range(5):
                    pool.admit(program(n + k))
                pool.transition(program(n).id, Status.RESTING, "rests")
            time.sleep(0.002)
        for reader in readers:
            output, _ = reader.communicate(timeout=120)
            assert reader.returncode == 0 and "rounds" in output


def test_a_writer_in_another_process_is_refused(tmp_path: Path) -> None:
    with PoolWriter.open(tmp_path, MAP_SIZE):
        output, _ = start(REFUSED, tmp_path).communicate(timeout=60)
        assert (
            f"has a writer already, process {os.getpid()}" in output or f"(process {os.getpid()})" in output
        )


def test_a_process_killed_inside_a_commit_leaves_the_last_commit_readable(tmp_path: Path) -> None:
    writer = start(STOP_INSIDE_A_BATCH, tmp_path)
    assert writer.stdout.readline() == "inside\n"
    os.kill(writer.pid, signal.SIGKILL)
    writer.communicate()
    with PoolReader.open(tmp_path) as pool:
        assert pool.ids() == [program(0).id]
        assert pool.last_sequence() == 1
    with PoolWriter.open(tmp_path, MAP_SIZE) as pool:
        assert pool.admit(program(0)) is False
        assert pool.admit(program(1)) is True


@pytest.mark.parametrize("seed", range(6))
def test_what_was_acknowledged_survives_a_kill_at_any_moment(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    acknowledged = 0
    for _ in range(2):
        writer = start(ADMIT_FOR_EVER, tmp_path)
        for _ in range(rng.randint(1, 60)):
            acknowledged = int(writer.stdout.readline())
        time.sleep(rng.random() * 0.005)
        os.kill(writer.pid, signal.SIGKILL)
        rest = writer.communicate()[0].split()
        acknowledged = int(rest[-1]) if rest else acknowledged
        with PoolWriter.open(tmp_path, MAP_SIZE) as pool:
            # One commit more than was acknowledged may have become durable just before the kill.
            assert check_whole(pool) in (acknowledged, acknowledged + 5)
