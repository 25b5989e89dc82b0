"""The same recipe gives the same prompt, references and verdicts, byte for byte, wherever and whenever it is built."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hostile import HONEST, KERNEL, PLANTED, program
from hypothesis import given, settings
from hypothesis import strategies as st
from rebuilding import SHIPPED, pool_of, rebuilt, recipes

from envpool.contract import Recipe
from envpool.members import Composite, Member
from envpool.sandbox import ALLOWED_IMPORTS, Call, Sandbox, Value

HERE = Path(__file__).parent
OTHER_JOBS = 10_000
FORKS = 400
SOURCES = [each.source for each in SHIPPED]

CLOCKED = program("return x", top=KERNEL).replace("return 1", "return sys.modules['time'].time_ns()", 1)
HASHED = program("return x").replace("return 1", "return hash('text')", 1)
COUNTED = program("return x").replace(
    "return 1", "Subject.drawn = getattr(Subject, 'drawn', 0) + 1\n        return Subject.drawn", 1
)


@pytest.fixture(scope="module")
def first() -> Iterator[Sandbox]:
    with Sandbox(hash_seed=1) as started:
        yield started


@pytest.fixture(scope="module")
def second() -> Iterator[Sandbox]:
    with Sandbox(hash_seed=2) as started:
        yield started


@pytest.fixture(scope="module")
def pool(first: Sandbox) -> dict[str, Member]:
    return pool_of(first, SOURCES)


@pytest.fixture(scope="module")
def as_first_built(first: Sandbox, pool: dict[str, Member]) -> dict[str, str]:
    return rebuilt(first, pool, recipes(pool))


def elsewhere(sources: Iterable[str], hash_seed: int) -> dict[str, str]:
    """What a process that starts now makes of them, at another place and in another time zone."""
    surroundings = {
        **os.environ, "PYTHONPATH": f"{HERE}:{HERE.parents[2]}", "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LANG": "C",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "rebuilding", str(hash_seed)],
        input=json.dumps(list(sources)), capture_output=True, text=True, env=surroundings, cwd="/", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def test_what_is_compared_covers_many_programs_and_every_operator(
    pool: dict[str, Member], as_first_built: dict[str, str]
) -> None:
    operators = [
        member.material.operator for member in pool.values() if isinstance(member.material, Composite)
    ]
    assert len(pool) - len(operators) == len(SOURCES) > 50
    assert set(operators) == {"PARALLEL", "SEQUENTIAL", "SORT", "SELECT"}
    built = [text for text in as_first_built.values() if not text.startswith("no instance")]
    assert len(built) > 0.8 * len(as_first_built)  # a chain that nobody searched for may not run
    assert all("Scored(score=1.0)" in text and "Unparsed" in text for text in built)


def test_no_shipped_program_can_reach_the_clock_by_an_import(first: Sandbox) -> None:
    assert "time" not in ALLOWED_IMPORTS
    for source in SOURCES:
        [report] = first.run(source, [Call("inspect")])
        assert isinstance(report, Value)
        assert report.value["error"] is None and report.value["findings"] == []
        assert "time" not in report.value["imports"]  # that datetime reads it would be a finding


@pytest.mark.parametrize("fresh", [False, True], ids=["open children", "a fork a job"])
def test_two_zygotes_with_two_hash_seeds_agree(
    second: Sandbox, pool: dict[str, Member], as_first_built: dict[str, str], fresh: bool
) -> None:
    wanted = recipes(pool)[:: 6 if fresh else 1]
    assert rebuilt(second, pool, wanted, fresh=fresh).items() <= as_first_built.items()


def test_two_processes_started_at_different_times_agree(as_first_built: dict[str, str]) -> None:
    assert elsewhere(SOURCES, hash_seed=1) == as_first_built


def test_nothing_changes_after_ten_thousand_other_jobs(
    first: Sandbox, pool: dict[str, Member], as_first_built: dict[str, str]
) -> None:
    before, calls = first.zygote_pid, first.metrics()["calls"]
    hostile = program("if x % 3 == 0: os._exit(1)\nsys.modules['random'].random = None\nreturn x", top=KERNEL)
    for turn in range(OTHER_JOBS):
        if turn % (OTHER_JOBS // FORKS) == 0:
            first.run(hostile, [Call("solve", (turn,))], fresh=turn % 2 == 0)
        elif turn % 2:
            assert first.run(HONEST, [Call("verify", ([turn, 1], turn + 1))]) == [Value(1.0)]
        else:
            assert first.run(PLANTED, [Call("verify", ({"t": [[1, turn], 1]}, [1]))]) == [Value(1.0)]
    assert first.metrics()["calls"] - calls == OTHER_JOBS
    assert first.zygote_pid == before, "the zygote that did them is the one that is asked again"
    assert rebuilt(first, pool, recipes(pool)) == as_first_built


@settings(max_examples=150)
@given(st.integers(0), st.integers(0, (1 << 63) - 1), st.integers(0, 8), st.booleans())
def test_any_recipe_is_rebuilt_alike(
    first: Sandbox, second: Sandbox, pool: dict[str, Member], pick: int, seed: int, level: int, fresh: bool
) -> None:
    recipe = Recipe(sorted(pool)[pick % len(pool)], seed, level)
    assert rebuilt(first, pool, [recipe]) == rebuilt(second, pool, [recipe], fresh=fresh)


def test_a_program_that_reads_the_clock_is_told_apart_by_two_processes(first: Sandbox) -> None:
    own = pool_of(first, [CLOCKED])
    assert elsewhere([CLOCKED], hash_seed=1) != rebuilt(first, own, recipes(own))


def test_a_program_that_depends_on_the_hash_seed_is_told_apart_by_two_zygotes(
    first: Sandbox, second: Sandbox
) -> None:
    own = pool_of(first, [HASHED])
    assert rebuilt(first, own, recipes(own)) != rebuilt(second, own, recipes(own))


def test_a_program_that_counts_its_calls_is_told_apart_by_rebuilding(first: Sandbox) -> None:
    own = pool_of(first, [COUNTED])
    assert rebuilt(first, own, recipes(own)) != rebuilt(first, own, recipes(own))
