"""Serving pools that no run holds, over the real sandbox: what is counted, what rises, what a kill leaves behind."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from envpool.async_pool import AsyncPool
from envpool.contract import Failed, Instance, Outcome, Recipe, Scored, Unparsed
from envpool.curation import CurationSettings
from envpool.exchange.service.backend import NothingToAsk, Question, UnknownQuestion
from envpool.exchange.service.kept import KeptPool
from envpool.exchange.service.standing import StandingPool
from envpool.exchange.snapshot import read_snapshot
from envpool.members import Member, Origin, Program, Status
from envpool.pool import Pool
from envpool.sandbox import InfrastructureFault, SandboxUnavailable
from envpool.split import is_held_out_prompt
from envpool.store import PoolReader, PoolWriter, StoreError
from tests.envpool.exchange.exchanged import APART, members, perfect, write_members, write_pool

SLOW = CurationSettings(adaptive_levels=False)
BROKEN = """
import random

from envpool import Environment


class Broken(Environment):
    rule = "Say the number."

    def sample(self, rng: random.Random, level: int) -> int:
        raise ValueError("no input today")

    def solve(self, x: int) -> int:
        return x
"""
NEEDS_PARCEL = """
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


@pytest.fixture(scope="module")
def found() -> dict[str, Member]:
    return members()


@pytest.fixture
def pool(tmp_path: Path, found: dict[str, Member]) -> Path:
    return write_pool(tmp_path / "run", found) / "pool"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, found: dict[str, Member]) -> Iterator[Pool]:
    """What knows the answers."""
    with Pool.open(write_members(tmp_path_factory.mktemp("library"), found)) as pool:
        yield pool


def solved(library: Pool, question: Question) -> str:
    return perfect(library.build(question.recipe))


async def test_questions_are_of_the_training_side_and_never_the_same(
    pool: Path, found: dict[str, Member]
) -> None:
    async with StandingPool.open(pool) as backend:
        questions = await backend.sample("a", 40) + await backend.sample("b", 40)
    assert len({question.recipe.key() for question in questions}) == 80
    assert not any(is_held_out_prompt(question.prompt) for question in questions)
    assert found[APART].id not in {question.recipe.member for question in questions}


async def test_each_answer_is_counted_under_the_trainers_name(pool: Path, library: Pool) -> None:
    async with StandingPool.open(pool, "qwen", SLOW) as backend:
        (question,) = await backend.sample("a", 1)
        right, wrong = solved(library, question), "<answer>[1, 2</answer>"
        outcomes = await backend.score("a", "r1", question.recipe, [right, wrong, "no answer"])
    assert outcomes[0] == Scored(1.0)
    assert isinstance(outcomes[2], Unparsed)
    with PoolReader.open(pool) as reader:
        counts = reader.stats(question.recipe.member, "qwen")[question.recipe.level]
        assert reader.stats(question.recipe.member, "main") == {}
    assert (counts.attempts, counts.successes, counts.failures) == (3, 1, 0)


async def test_a_request_is_counted_once_also_by_a_service_that_was_started_anew(
    pool: Path, library: Pool
) -> None:
    async with StandingPool.open(pool) as backend:
        (question,) = await backend.sample("a", 1)
        answer = solved(library, question)
        first = await backend.score("a", "r1", question.recipe, [answer])
    async with StandingPool.open(pool) as backend:
        again = await backend.score("a", "r1", question.recipe, [answer])
        await backend.score("other", "r1", question.recipe, [answer])
    assert first == again == [Scored(1.0)]
    with PoolReader.open(pool) as reader:
        assert reader.stats(question.recipe.member, "trainer")[question.recipe.level].attempts == 2


async def test_no_question_is_asked_again_after_a_restart(pool: Path) -> None:
    asked: list[str] = []
    for _ in range(2):
        async with StandingPool.open(pool) as backend:
            asked += [question.recipe.key() for question in await backend.sample("a", 10)]
    assert len(set(asked)) == 20


def only(pool: Path, found: dict[str, Member], *names: str) -> None:
    """Leaves these alone in play."""
    with PoolWriter.open(pool) as writer:
        for name, member in found.items():
            if name not in names and name != APART:
                writer.transition(member.id, Status.RETIRED, "for this test")


async def test_a_level_rises_once_the_gates_hold_there_and_what_was_asked_below_still_counts(
    pool: Path, library: Pool, found: dict[str, Member]
) -> None:
    id = found["inversion_count"].id
    only(pool, found, "inversion_count")
    async with StandingPool.open(pool) as backend:
        (old,) = await backend.sample("a", 1)
        for turn in range(4):
            (question,) = await backend.sample("a", 1)
            await backend.score("a", str(turn), question.recipe, [solved(library, question)] * 16)
        async with asyncio.timeout(120):
            while question.recipe.level == 0:
                await asyncio.sleep(0.1)
                (question,) = await backend.sample("a", 1)
        assert (old.recipe.level, question.recipe.level) == (0, 1)
        assert await backend.score("a", "late", old.recipe, [solved(library, old)]) == [Scored(1.0)]
    with PoolReader.open(pool) as reader:
        assert reader.level(id, "trainer") == 1
        assert reader.level(id, "main") == 2, "the run's own policy stands where it stood"


async def test_what_a_policy_that_is_not_the_pools_own_finds_hard_rests_for_itself_alone(
    pool: Path, found: dict[str, Member]
) -> None:
    only(pool, found, "lists/total", "inversion_count")  # seeds never rest
    async with StandingPool.open(pool, "weak") as backend:
        for turn in range(8):
            for question in await backend.sample("a", 4):
                await backend.score("a", f"{turn}/{question.recipe.key()}", question.recipe, ["none"] * 16)
        curation = (await backend.status())["curation"]
    assert curation["resting"] > 0
    with PoolReader.open(pool) as reader:
        assert reader.counts()[Status.RESTING] == 0


async def test_a_pool_without_a_policy_takes_the_first_one_it_is_served_to(
    tmp_path: Path, found: dict[str, Member]
) -> None:
    with PoolWriter.open(tmp_path, map_size=1 << 26) as writer:
        writer.admit(found["lists/total"])
    async with StandingPool.open(tmp_path, "first") as backend:
        for turn in range(8):
            (question,) = await backend.sample("a", 1)
            await backend.score("a", str(turn), question.recipe, ["none"] * 16)
    with PoolReader.open(tmp_path) as reader:
        assert reader.state("policy") == "first"
        assert any(entry.to == Status.RESTING for entry in reader.journal())


async def test_a_program_that_breaks_is_quarantined_and_others_are_asked(
    pool: Path, found: dict[str, Member]
) -> None:
    broken = Member(Program(BROKEN, "Broken", "Say the number.", "int", "int"), Origin.USER)
    only(pool, found, "lists/total")
    with PoolWriter.open(pool) as writer:
        writer.admit(broken)
    async with StandingPool.open(pool) as backend:
        assert len(await backend.sample("a", 8)) == 8
        with pytest.raises(UnknownQuestion):
            await backend.score("a", "r", Recipe("p" + "0" * 20, 1, 0), ["x"])
        (failed,) = await backend.score("a", "r", Recipe(broken.id, 1, 0), ["x"])
    assert isinstance(failed, Failed)
    with PoolReader.open(pool) as reader:
        assert reader.status(broken.id) is Status.QUARANTINED


def retired_twice(pool: Path) -> Member:
    """In the pool, it imports `parcel`."""
    program = Program(NEEDS_PARCEL, "Twice", "Double the input number.", "int", "int")
    twice = Member(program, Origin.USER, evidence={"packages": ["parcel"]})
    with PoolWriter.open(pool) as writer:
        writer.admit(twice)
        writer.transition(twice.id, Status.RETIRED, "for this test")
    return twice


async def test_a_late_answer_to_a_retired_program_finds_the_packages_that_it_imports(
    pool: Path, tmp_path: Path
) -> None:
    (tmp_path / "parcel").mkdir()
    (tmp_path / "parcel/__init__.py").write_text("def twice(x):\n    return 2 * x\n", encoding="utf-8")
    twice = retired_twice(pool)
    async with StandingPool.open(pool, packages=[f"parcel={tmp_path}"]) as backend:
        (outcome,) = await backend.score("a", "r", Recipe(twice.id, 1, 0), ["<answer>1</answer>"])
    assert outcome == Scored(0.0)
    with PoolReader.open(pool) as reader:
        assert reader.status(twice.id) is Status.RETIRED


async def test_a_package_that_only_a_retired_program_imports_may_be_missing_and_speaks_not_against_it(
    pool: Path,
) -> None:
    twice = retired_twice(pool)
    async with StandingPool.open(pool) as backend:
        assert await backend.sample("a", 1)
        (outcome,) = await backend.score("a", "r", Recipe(twice.id, 1, 0), ["<answer>1</answer>"])
    assert outcome == Failed(f"{twice.id} imports parcel, which this service has not")
    with PoolWriter.open(pool) as writer:
        assert writer.status(twice.id) is Status.RETIRED
        assert writer.stats(twice.id, "trainer") == {}
        writer.admit(replace(twice, material=replace(twice.material, source=f"{NEEDS_PARCEL}\n")))
    with pytest.raises(SandboxUnavailable, match="parcel is not installed"):
        StandingPool.open(pool)


@pytest.mark.parametrize("change", ["apart", "level", "unknown"])
async def test_what_was_never_asked_is_not_judged(pool: Path, found: dict[str, Member], change: str) -> None:
    recipes = {
        "apart": Recipe(found[APART].id, 1, 0),
        "level": Recipe(found["lists/total"].id, 1, 1),
        "unknown": Recipe("p123", 1, 0),
    }
    async with StandingPool.open(pool) as backend:
        with pytest.raises(UnknownQuestion):
            await backend.score("a", "r", recipes[change], ["<answer>1</answer>"])


async def test_questions_kept_for_evaluation_are_not_judged(library: Pool, pool: Path) -> None:
    kept: Instance = library.draw(3, member=library.ids()[0], held_out=True)
    async with StandingPool.open(pool) as backend:
        with pytest.raises(UnknownQuestion):
            await backend.score("a", "r", kept.recipe, [perfect(kept)])


async def test_a_pool_that_a_run_holds_is_not_served(pool: Path) -> None:
    with PoolWriter.open(pool), pytest.raises(StoreError, match="writer already"):
        StandingPool.open(pool)


async def test_a_pool_with_nobody_in_play_says_so(tmp_path: Path) -> None:
    PoolWriter.open(tmp_path, map_size=1 << 26).close()
    async with StandingPool.open(tmp_path) as backend:
        with pytest.raises(NothingToAsk):
            await backend.sample("a", 1)


async def test_a_snapshot_is_served_as_it_is(tmp_path: Path, found: dict[str, Member], library: Pool) -> None:
    snapshot = read_snapshot(write_members(tmp_path, found))
    pool = AsyncPool(snapshot)
    try:
        first, second = KeptPool(pool, seed=1), KeptPool(pool, seed=1)
        questions = await first.sample("a", 30)
        assert questions == await second.sample("b", 30)
        answers = {question: solved(library, question) for question in questions}
        for question in questions:
            outcomes = await first.score("a", "r", question.recipe, [answers[question], "none"])
            assert outcomes[0] == Scored(1.0)
            assert isinstance(outcomes[1], Unparsed)
            anew = await KeptPool(pool).score("a", "r", question.recipe, [answers[question], "none"])
            assert anew == outcomes
        with pytest.raises(UnknownQuestion):
            await first.score("a", "r", Recipe(found[APART].id, 1, 0), ["x"])
        status = await first.status()
    finally:
        await asyncio.to_thread(pool.close)
    assert (status["counts"], status["fingerprint"]) == (False, snapshot.fingerprint)


async def test_a_machine_that_fails_is_not_a_snapshots_last_word(
    tmp_path: Path, found: dict[str, Member], library: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failing(*_: object) -> list[Outcome]:
        return [Unparsed("no answer"), Failed("no sandbox answers")]

    pool = AsyncPool(read_snapshot(write_members(tmp_path, found)))
    try:
        served = KeptPool(pool, seed=1)
        (question,) = await served.sample("a", 1)
        group = ["none", solved(library, question)]
        with monkeypatch.context() as patched, pytest.raises(InfrastructureFault, match="no sandbox"):
            patched.setattr(pool, "score_all", failing)
            await served.score("a", "r", question.recipe, group)
        assert (await served.score("a", "r", question.recipe, group))[1] == Scored(1.0)
    finally:
        await asyncio.to_thread(pool.close)
