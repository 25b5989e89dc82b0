"""What a served run says when it is closed, or when its machine fails: nothing is asked, judged or counted then.

What it says when all is well, over real programs: `test_standing_pool`, and over a whole run's actors
`tests/actors/test_serving_a_trainer`.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from envpool.answer_counts import AnswerCount
from envpool.contract import Failed, Outcome, Recipe, Unparsed
from envpool.exchange.service.backend import NothingToAsk, UnknownQuestion
from envpool.exchange.service.live import LiveBackend
from envpool.execution import Examiner
from envpool.members import Member, Origin, Program, Status
from envpool.sandbox import Call, Fault, FaultKind, InfrastructureFault, Mode, Result, Value
from envpool.store import PoolWriter

SOUND = Member(Program("sound", "Double", "Double it.", "int", "int"), Origin.SEED, family="double")
APART = Member(Program("apart", "Halve", "Halve it.", "int", "int"), Origin.SEED, held_out=True)


class Programs:
    """In a sandbox's place: doubles numbers, or fails as it is told to."""

    def __init__(self) -> None:
        self.trouble: Exception | Fault | None = None

    async def run(
        self,
        source: str,
        calls: Sequence[Call],
        *,
        mode: Mode = Mode.VERIFY,
        replica: int = 0,
        packages: bool = False,
    ) -> list[Result]:
        if isinstance(self.trouble, Exception):
            raise self.trouble
        return [self.trouble or self._value(call) for call in calls]

    @staticmethod
    def _value(call: Call) -> Value:
        if call.method == "sample":
            x = sum(map(ord, str(call.args[0])))
            return Value({"input": x, "shown": str(x), "planted": None})
        (x,) = call.args
        return Value(2 * x)


class Run:
    """Draws one member after the other at level 0, and remembers what it was told."""

    def __init__(self, pool: PoolWriter) -> None:
        self._pool = pool
        self.seed = 0
        self.counts: list[AnswerCount] = []
        self.learnt: list[AnswerCount] = []

    async def choose(self, count: int) -> list[Recipe]:
        self.seed += count
        return [Recipe(SOUND.id, self.seed - index, 0) for index in range(count)]

    async def record_once(self, request: str, count: AnswerCount) -> bool:
        self.counts.append(count)
        return self._pool.record_once(request, [count])

    def learn(self, count: AnswerCount) -> None:
        self.learnt.append(count)

    async def quarantine(self, member: str, reason: str) -> None:
        self._pool.transition(member, Status.QUARANTINED, reason)


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[PoolWriter]:
    with PoolWriter.open(tmp_path, 64 << 20) as writer:
        writer.admit(SOUND)
        writer.admit(APART)
        yield writer


@pytest.fixture
def programs() -> Programs:
    return Programs()


@pytest.fixture
def run(pool: PoolWriter) -> Run:
    return Run(pool)


@pytest.fixture
def backend(pool: PoolWriter, programs: Programs, run: Run) -> LiveBackend:
    return made(pool, programs, run)


def made(pool: PoolWriter, programs: Programs, run: Run, closed: str = "") -> LiveBackend:
    examiner = Examiner(programs, lambda id: pool.get(id))  # type: ignore[arg-type, return-value]
    return LiveBackend(run, pool, examiner, "trainer", lambda: closed)


async def test_a_run_that_is_closed_says_why_and_judges_nothing(
    pool: PoolWriter, programs: Programs, run: Run, backend: LiveBackend
) -> None:
    (question,) = await backend.sample("a", 1)
    shut = made(pool, programs, run, closed="the run is being stopped")
    with pytest.raises(NothingToAsk, match="being stopped"):
        await shut.sample("a", 1)
    with pytest.raises(NothingToAsk, match="being stopped"):
        await shut.score("a", "r", question.recipe, ["<answer>1</answer>"])
    assert not run.counts and (await shut.status())["closed"] == "the run is being stopped"


async def test_a_machine_that_fails_asks_nothing_counts_nothing_and_speaks_against_nobody(
    pool: PoolWriter, programs: Programs, run: Run, backend: LiveBackend
) -> None:
    (question,) = await backend.sample("a", 1)
    programs.trouble = InfrastructureFault("no sandbox answers")
    with pytest.raises(NothingToAsk, match="no sandbox answers"):
        await backend.sample("a", 2)
    another = made(pool, programs, run)  # which has to draw the question anew
    with pytest.raises(InfrastructureFault):
        await another.score("a", "r", question.recipe, ["<answer>1</answer>"])
    assert not run.counts and pool.status(SOUND.id) is Status.ACTIVE
    programs.trouble = None
    assert len(await another.score("a", "r", question.recipe, ["<answer>1</answer>"])) == 1
    assert [count.attempts for count in run.counts] == [1]


async def test_a_group_of_which_the_machine_fails_a_part_is_not_counted_by_the_rest(
    run: Run, backend: LiveBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failing(*_: object) -> list[Outcome]:
        return [Unparsed("no answer"), Failed("no sandbox answers")]

    (question,) = await backend.sample("a", 1)
    group = ["I do not know.", "<answer>1</answer>"]
    with monkeypatch.context() as patched, pytest.raises(InfrastructureFault, match="no sandbox answers"):
        patched.setattr(Examiner, "score_all", failing)
        await backend.score("a", "r", question.recipe, group)
    assert not run.counts and backend.tally["failures"] == 1
    await backend.score("a", "r", question.recipe, group)
    assert [(count.attempts, count.parsed) for count in run.counts] == [(2, 1)]


async def test_a_program_that_breaks_is_quarantined_and_its_answers_have_no_verdict(
    pool: PoolWriter, programs: Programs, run: Run, backend: LiveBackend
) -> None:
    (question,) = await backend.sample("a", 1)
    programs.trouble = Fault(FaultKind.CODE_ERROR, "ValueError")
    with pytest.raises(NothingToAsk):
        await backend.sample("a", 1)
    assert pool.status(SOUND.id) is Status.QUARANTINED
    assert isinstance((await backend.score("a", "r", question.recipe, ["1"]))[0], Failed)
    assert not any(count.attempts for count in run.counts)


async def test_what_is_counted_before_is_not_learnt_from_again(run: Run, backend: LiveBackend) -> None:
    (question,) = await backend.sample("a", 1)
    for _ in range(2):
        await backend.score("a", "r", question.recipe, ["I do not know."])
    await backend.score("b", "r", question.recipe, ["I do not know."])
    assert len(run.learnt) == 2 and backend.tally == {"questions": 1, "answers": 2, "failures": 0}


@pytest.mark.parametrize(
    "recipe", [Recipe("p0", 1, 0), Recipe(APART.id, 1, 0), Recipe(SOUND.id, 1, 1)], ids=["unknown", "apart", "level"]
)
async def test_what_the_run_never_asks_is_not_judged(recipe: Recipe, run: Run, backend: LiveBackend) -> None:
    with pytest.raises(UnknownQuestion):
        await backend.score("a", "r", recipe, ["<answer>1</answer>"])
    assert not run.counts
