"""A pool that is opened as a library: from each kind of place, drawn from, scored on, by real programs."""

import asyncio
import os
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from exchanged import APART, SEEDS, members, perfect, write_members, write_pool

from envpool import Pool
from envpool.async_pool import AsyncPool, NoQuestion, UnknownMember
from envpool.contract import Failed, Instance, Scored, Unparsed, seeded
from envpool.exchange.draws import Families, item_seed
from envpool.exchange.provenance import Provenance
from envpool.exchange.rewards import NoVerdict, reward_of
from envpool.exchange.snapshot import Snapshot, SnapshotError
from envpool.families import kin
from envpool.members import Member, Origin, Program, Status
from envpool.returned import ProgramFault
from envpool.sandbox import SandboxLimits, SandboxUnavailable
from envpool.split import is_held_out
from envpool.store import NoPool, PoolReader, PoolWriter, StoreError
from envpool.store.backup import backup


@pytest.fixture(scope="module")
def found() -> dict[str, Member]:
    return members()


@pytest.fixture(scope="module")
def run(found: dict[str, Member], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pool(tmp_path_factory.mktemp("runs") / "night", found)


@pytest.fixture(scope="module")
def pool(run: Path) -> Iterator[Pool]:
    with Pool.open(run) as opened:
        yield opened


def test_a_run_its_pool_its_backup_and_a_snapshot_of_it_are_the_same_pool(
    pool: Pool, run: Path, found: dict[str, Member], tmp_path: Path
) -> None:
    with PoolReader.open(run / "pool") as reader:
        backup(reader, tmp_path / "backup")
    levels = {id: pool.level(id) for id in pool.ids() + pool.ids(held_out=True)}
    snapshot = write_members(tmp_path, found, levels)
    asked = [pool.draw(seed) for seed in range(2)]
    for place in (run / "pool", run / "pool" / "data.mdb", tmp_path / "backup", snapshot):
        with Pool.open(place) as other:
            assert other.fingerprint == pool.fingerprint
            assert other.ids() == pool.ids()
            assert [other.draw(seed) for seed in range(2)] == asked


def test_a_pool_knows_where_it_comes_from(pool: Pool, found: dict[str, Member], tmp_path: Path) -> None:
    said = pool.snapshot.provenance
    assert (said.run, said.policy, said.step) == ("night", "main", 7)
    with Pool.open(write_members(tmp_path, found)) as other:
        assert other.snapshot.provenance.licence == "CC-BY-4.0"


@pytest.mark.parametrize("content", [None, "nothing of ours"])
def test_a_place_without_a_pool_is_refused_with_what_was_looked_for(
    tmp_path: Path, content: str | None
) -> None:
    if content is None:
        with pytest.raises(NoPool, match=r"neither a run's folder .* nor a pool's .* nor a snapshot"):
            Pool.open(tmp_path)
    else:
        (tmp_path / "file").write_text(content, encoding="utf-8")
        with pytest.raises(SnapshotError, match="is no snapshot of a pool"):
            Pool.open(tmp_path / "file")


def test_a_member_is_asked_where_the_policy_stands_and_a_composite_where_it_was_measured(
    pool: Pool, found: dict[str, Member]
) -> None:
    assert pool.level(found["inversion_count"].id) == 2
    assert pool.level(found["subset_sum"].id) == 0
    assert pool.level(found["sort"].id) == 1
    assert pool.draw(1, member=found["sort"].id).recipe.level == 1
    with pytest.raises(UnknownMember, match="no member 'p404'"):
        pool.level("p404")


def test_a_member_with_fewer_levels_is_asked_at_its_highest(found: dict[str, Member], tmp_path: Path) -> None:
    ended = replace(found["inversion_count"], evidence={"levels": 2})
    with Pool.open(write_members(tmp_path, {"ended": ended})) as pool:
        levels = [pool.draw(1, member=ended.id, level=level).recipe.level for level in range(4)]
    assert levels == [0, 1, 1, 1]


def test_what_is_set_apart_is_listed_and_asked_only_where_that_is_wanted(
    pool: Pool, found: dict[str, Member]
) -> None:
    apart = found[APART].id
    assert pool.ids(held_out=True) == [apart]
    assert apart not in pool.ids()
    assert apart not in {each.recipe.member for each in pool.sample(10, seed=1)}
    assert pool.draw(5, member=apart, held_out=True).recipe.member == apart
    with pytest.raises(NoQuestion, match="set apart for evaluation"):
        pool.draw(5, member=apart)


def test_questions_keep_to_their_side_of_the_split(pool: Pool) -> None:
    assert not any(map(is_held_out, pool.sample(10, seed=3)))
    asked = pool.sample(24, seed=3, held_out=True)
    assert all(is_held_out(each) for each in asked if not pool.get(each.recipe.member).held_out)
    assert {pool.get(each.recipe.member).held_out for each in asked} == {True, False}


def test_draws_are_spread_over_families_all_alike(pool: Pool, found: dict[str, Member]) -> None:
    picks = Families(pool.snapshot).picks(seeded("spread"), apart=False)
    drawn = Counter(islice(picks, 6000))
    assert set(drawn) == set(pool.ids())
    families: Counter[str] = Counter()
    for id, count in drawn.items():
        families[kin(pool.get(id))] += count
    mean = 6000 / len(families)
    assert all(0.8 * mean < count < 1.2 * mean for count in families.values())
    assert drawn[found["select"].id] > 1.5 * drawn[found["lists/double_each"].id], "who shares its family"


def test_items_of_neighbouring_seeds_never_overlap(pool: Pool) -> None:
    seeds = {item_seed(seed, item) for seed in range(50) for item in range(50)}
    assert len(seeds) == 2500
    assert all(0 <= seed < 1 << 63 for seed in seeds)
    first, second = ({each.recipe.seed for each in pool.sample(4, seed=seed)} for seed in (42, 43))
    assert not first & second


@pytest.mark.parametrize("name", [*SEEDS, "sequential", "parallel", "sort", "select"])
def test_the_reference_scores_one_through_the_sandbox(
    pool: Pool, found: dict[str, Member], name: str
) -> None:
    instance = pool.draw(11, member=found[name].id)
    assert pool.build(instance.recipe) == instance
    right, nonsense, silent = pool.score_all(
        instance, [perfect(instance), "<answer>zzz</answer>", "I do not know"]
    )
    assert right == Scored(1.0)
    assert reward_of(nonsense) < 1.0
    assert silent == Unparsed("missing")
    assert pool.score(instance, perfect(instance)) == right


def test_a_part_is_known_and_a_resting_or_retired_member_is_not_asked(
    found: dict[str, Member], tmp_path: Path
) -> None:
    run = write_pool(tmp_path / "tired", found)
    with PoolWriter.open(run / "pool", map_size=1 << 26) as writer:
        writer.transition(found["lists/sort_up"].id, Status.RETIRED, "old", 9)
        writer.transition(found["lists/total"].id, Status.RESTING, "too easy", 9)
    with Pool.open(run) as pool:
        asked = pool.ids()
        assert found["lists/sort_up"].id not in asked
        assert found["lists/total"].id not in asked
        assert pool.get(found["lists/sort_up"].id).material == found["lists/sort_up"].material
        instance = pool.draw(2, member=found["sort"].id)
        assert pool.score(instance, perfect(instance)) == Scored(1.0)


def test_no_verdict_is_no_reward() -> None:
    with pytest.raises(NoVerdict, match="the machine") as raised:
        reward_of(Failed("the machine"))
    assert raised.value.failed.machine
    assert (reward_of(Scored(0.5)), reward_of(Unparsed("missing"))) == (0.5, 0.0)


def test_a_pool_without_members_has_no_question(tmp_path: Path) -> None:
    with (
        Pool.open(write_members(tmp_path, {})) as pool,
        pytest.raises(NoQuestion, match="the pool has no question that may be trained on"),
    ):
        pool.draw(0)


CONSTANT = """
import random

from envpool import Environment


class Always(Environment):
    rule = "Say {answer}."

    def sample(self, rng: random.Random, level: int) -> int:
        return 1

    def solve(self, x: int) -> int:
        return {answer}
"""


def test_a_member_with_one_question_has_none_on_the_other_side(tmp_path: Path) -> None:
    source = CONSTANT.format(answer=5)
    only = Member(Program(source, "Always", "Say 5.", "int", "int"), Origin.USER)
    with Pool.open(write_members(tmp_path, {"only": only})) as pool:
        here = is_held_out(pool.draw(0, held_out=False)) if _has(pool, False) else True
        with pytest.raises(NoQuestion, match="the pool has no question"):
            pool.draw(0, held_out=not here)


def _has(pool: Pool, held_out: bool) -> bool:
    try:
        pool.draw(0, held_out=held_out)
    except NoQuestion:
        return False
    return True


async def test_a_pool_is_asked_inside_an_event_loop_by_coroutines_or_waited_for(pool: Pool) -> None:
    waited = pool.draw(21)
    instance = await pool.aio.draw(21)
    assert instance == waited
    outcomes = await asyncio.gather(*(pool.aio.score(instance, perfect(instance)) for _ in range(5)))
    assert outcomes == [Scored(1.0)] * 5


RARELY = """
import random

from envpool import Environment


class Rarely(Environment):
    rule = "Add the numbers."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        if rng.random() < {share}:
            raise ValueError("now and then")
        return [rng.randint(1, 99) for _ in range(4)]

    def solve(self, x: list[int]) -> int:
        return sum(x)
"""


def rarely(share: float) -> Member:
    """A program that fails at that share of its draws."""
    source = RARELY.format(share=share)
    return Member(Program(source, "Rarely", "Add the numbers.", "list[int]", "int"), Origin.USER)


def test_what_fails_now_and_then_ends_no_series(tmp_path: Path) -> None:
    with Pool.open(write_members(tmp_path, {"alone": (alone := rarely(0.2))})) as pool:
        asked = pool.sample(40, seed=1)
        assert asked == pool.sample(40, seed=1)
        assert len({each.recipe for each in asked}) == 40
        assert {pool.build(each.recipe) == each for each in asked} == {True}
        assert any(each.recipe.seed != item_seed(1, item) for item, each in enumerate(asked)), (
            "some failed there"
        )
        assert pool.draw(asked[0].recipe.seed, member=alone.id) == asked[0]


def test_a_draw_that_a_clock_ended_is_passed_over_and_told(caplog: pytest.LogCaptureFixture) -> None:
    def told(member: Member) -> list[str]:
        limits = SandboxLimits(cpu_seconds=0.2)
        with Pool(Snapshot({member.id: member}, {member.id: 0}, Provenance()), limits=limits) as pool:
            assert len(pool.sample(6)) == 6
        return [record.getMessage() for record in caplog.records if "another machine may ask" in record.getMessage()]

    raising = rarely(0.3)
    assert told(raising) == []
    source = RARELY.format(share=0.3).replace('raise ValueError("now and then")', "while True: pass")
    slow = Member(Program(source, "Rarely", "Add the numbers.", "list[int]", "int"), Origin.USER)
    messages = told(slow)
    assert messages and all(slow.id in message and "cpu_limit" in message for message in messages)


def test_what_fails_always_is_passed_over_and_told_where_there_is_nobody_else(
    found: dict[str, Member], tmp_path: Path
) -> None:
    broken, whole = rarely(2.0), found["inversion_count"]
    with Pool.open(write_members(tmp_path, {"broken": broken, "whole": whole})) as pool:
        assert {each.recipe.member for each in pool.sample(8)} == {whole.id}
        with pytest.raises(ProgramFault, match="now and then"):
            pool.draw(1, member=broken.id)
    with (
        Pool.open(write_members(tmp_path, {"broken": broken})) as pool,
        pytest.raises(ProgramFault, match="now and then"),
    ):
        pool.draw(1)


TWICE = """
import random

from parcel import twice

from envpool import Environment


class Twice(Environment):
    rule = "Double the input number."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(10, 99)

    def solve(self, x: int) -> int:
        return twice(x)
"""


@pytest.fixture
def parcelled(found: dict[str, Member], tmp_path: Path) -> Path:
    """A snapshot of a program that needs a package, which lies beside it, and of one that needs none."""
    (tmp_path / "parcel").mkdir()
    (tmp_path / "parcel/__init__.py").write_text("def twice(x):\n    return 2 * x\n", encoding="utf-8")
    program = Program(TWICE, "Twice", "Double the input number.", "int", "int")
    needing = Member(program, Origin.USER, evidence={"packages": ["parcel"]})
    write_members(tmp_path, {"twice": needing, "plain": found["inversion_count"]})
    return tmp_path


def test_a_member_that_needs_a_package_is_run_where_there_is_one(parcelled: Path) -> None:
    with Pool.open(parcelled, packages=[f"parcel={parcelled}"]) as pool:
        (needing,) = (id for id in pool.ids() if pool.get(id).origin is Origin.USER)
        instance = pool.draw(1, member=needing)
        assert pool.score(instance, perfect(instance)) == Scored(1.0)


def test_a_package_that_is_missing_bars_the_members_alone_that_need_it(parcelled: Path) -> None:
    with Pool.open(parcelled) as pool:
        (needing,) = (id for id in pool.ids() if pool.get(id).origin is Origin.USER)
        (plain,) = set(pool.ids()) - {needing}
        with pytest.raises(SandboxUnavailable, match="parcel"):
            pool.draw(1, member=needing)
        instance = pool.draw(1, member=plain)
        assert pool.score(instance, "<answer>no</answer>") == Unparsed("malformed")
        assert pool.build(instance.recipe) == instance


def test_threads_share_a_pool(pool: Pool) -> None:
    asked = [pool.draw(seed) for seed in range(8)]
    outcomes: dict[int, object] = {}

    def score(number: int) -> None:
        outcomes[number] = pool.score(asked[number], perfect(asked[number]))

    threads = [threading.Thread(target=score, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == dict.fromkeys(range(8), Scored(1.0))


def test_a_pool_is_refused_in_a_forked_process(pool: Pool) -> None:
    instance = pool.draw(1)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            pool.score(instance, "<answer>1</answer>")
        except RuntimeError as error:
            os.write(writing, str(error).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        assert b"was forked from" in told.read()
    assert pool.score(instance, perfect(instance)) == Scored(1.0), "the parent's is untouched"


@pytest.mark.parametrize("kept", ["pool: [1", "- a", "pool: 5", "pool: {folder: 5}", "\x00"])
def test_a_run_whose_configuration_is_none_is_refused_by_its_file(tmp_path: Path, kept: str) -> None:
    (tmp_path / "config.yaml").write_text(kept, encoding="utf-8")
    with pytest.raises(StoreError, match=r"config\.yaml is no configuration of a run"):
        Pool.open(tmp_path)


async def test_who_waits_for_a_pool_that_is_closed_is_told_and_not_cancelled(
    found: dict[str, Member],
) -> None:
    levels = {found[name].id: 0 for name in SEEDS}
    pool = AsyncPool(
        Snapshot({id: each for each in found.values() if (id := each.id) in levels}, levels, Provenance())
    )
    await pool.draw(0)
    waiting = [asyncio.create_task(pool.draw(seed)) for seed in range(20)]
    leaving = asyncio.create_task(pool.draw(20))
    await asyncio.sleep(0.02)
    leaving.cancel()
    await asyncio.to_thread(pool.close)
    ends = await asyncio.gather(*waiting, return_exceptions=True)
    assert {type(end) for end in ends} <= {SandboxUnavailable, Instance}
    assert SandboxUnavailable in map(type, ends)
    with pytest.raises(asyncio.CancelledError):
        await leaving


def test_a_closed_pool_says_so_and_leaves_nobody_waiting(found: dict[str, Member], tmp_path: Path) -> None:
    pool = Pool.open(write_members(tmp_path, found))
    pool.draw(0)
    pool.close()
    pool.close()
    with pytest.raises(RuntimeError, match="this pool is closed"):
        pool.draw(0)
    assert "envpool" not in {thread.name for thread in threading.enumerate() if not thread.daemon}


def test_who_asks_while_another_closes_the_pool_is_told(found: dict[str, Member], tmp_path: Path) -> None:
    snapshot = write_members(tmp_path, {"only": found["inversion_count"]})
    for _ in range(10):
        pool = Pool.open(snapshot)
        instance = pool.draw(1)
        told: list[str] = []

        def ask(pool: Pool = pool, instance: Instance = instance, told: list[str] = told) -> None:
            try:
                while True:
                    pool.score(instance, "no answer")
            except RuntimeError as error:
                told.append(str(error))

        threads = [threading.Thread(target=ask, daemon=True) for _ in range(4)]
        for thread in threads:
            thread.start()
        pool.close()
        for thread in threads:
            thread.join(20)
        assert ["this pool is closed" in each for each in told] == [True] * 4


async def test_after_its_end_nothing_is_started(found: dict[str, Member]) -> None:
    member = found["inversion_count"]
    pool = AsyncPool(Snapshot({member.id: member}, {member.id: 0}, Provenance()))
    pool.close()
    with pytest.raises(SandboxUnavailable, match="this pool is closed"):
        await pool.draw(1)
