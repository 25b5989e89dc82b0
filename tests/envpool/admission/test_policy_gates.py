import asyncio
from collections.abc import Sequence

import pytest

from envpool.admission import Admission, AdmissionSettings, Register
from envpool.admission.calibration import calibrates
from envpool.admission.verdict import MECHANICAL, Refusal
from envpool.answer_counts import AnswerCount, Counts
from envpool.contract import Instance
from envpool.curation.standings import admission_answers
from envpool.members import Member, Origin, Program
from envpool.sandbox import Call, Executor, Fault, FaultKind, InfrastructureFault, Mode, Result
from envpool.split import is_held_out
from tests.envpool.admission import programs
from tests.envpool.admission.programs import with_solve

LENIENT = AdmissionSettings(constants_make_new=True)


class SimulatedSolver:
    """A solver of known ability: succeeds on the first `right[level]` of the instances of a level."""

    def __init__(self, *right: int) -> None:
        self.right = right
        self.asked: list[Instance] = []

    async def __call__(self, member: Member, instances: Sequence[Instance]) -> Counts:
        self.asked += instances
        right = self.right[instances[0].recipe.level]
        return Counts(len(instances), right, max(right, len(instances) - 1))


class SimulatedNovelty:
    """Nearest neighbours without a model: similarity 1 to what was added, if the rules are equal."""

    def __init__(self) -> None:
        self.rules: dict[bytes, str] = {}

    async def nearest(self, rule: str, stripped: str) -> tuple[str | None, float, bytes]:
        await asyncio.sleep(0)
        found = self.rules.get(rule.encode())
        return found, 0.93 if found else 0.1, rule.encode()

    async def add(self, id: str, embedding: bytes) -> None:
        await asyncio.sleep(0)
        self.rules[embedding] = id

    async def contamination(self, embedding: bytes, fingerprint: str, normal: str) -> str:
        return ""


async def test_a_policy_program_is_calibrated_on_fresh_training_instances(executor: Executor) -> None:
    solver = SimulatedSolver(3)
    verdict = await Admission(executor, calibrate=solver).judge(programs.SOUND, Origin.POLICY)
    assert verdict.member is not None
    assert verdict.evidence["success_rate"] == 3 / 8 and verdict.evidence["level"] == 0
    assert len(solver.asked) == 8 and not any(map(is_held_out, solver.asked))
    assert verdict.member.evidence["success_rate"] == 3 / 8


async def test_what_is_always_solved_is_asked_at_the_next_level(executor: Executor) -> None:
    verdict = await Admission(executor, calibrate=SimulatedSolver(8, 8, 5)).judge(
        programs.SOUND, Origin.POLICY
    )
    assert (verdict.evidence["level"], verdict.evidence["calibration"]) == (2, [1.0, 1.0, 5 / 8])
    assert verdict.member is not None
    given = [(0, 8, 8, 8), (1, 8, 8, 8), (2, 8, 5, 7)]
    assert admission_answers(verdict.member, "main") == [AnswerCount(verdict.id, "main", *each) for each in given]


@pytest.mark.parametrize("right", [(0,), (8, 0), (8, 8, 8)])
async def test_too_hard_and_too_easy_programs_fall_but_are_valid(
    executor: Executor, right: tuple[int, ...]
) -> None:
    verdict = await Admission(executor, calibrate=SimulatedSolver(*right)).judge(
        programs.SOUND, Origin.POLICY
    )
    assert verdict.gate == "calibration" and verdict.valid
    assert verdict.reason.startswith("too easy" if right[-1] else "too hard")


async def test_a_solver_without_verdict_is_an_infrastructure_fault(executor: Executor) -> None:
    async def silent(member: Member, instances: Sequence[Instance]) -> None:
        return None

    with pytest.raises(InfrastructureFault):
        await Admission(executor, calibrate=silent).judge(programs.SOUND, Origin.POLICY)


async def test_a_program_that_breaks_where_it_is_calibrated_is_not_valid() -> None:
    class Breaking:
        async def run(
            self,
            source: str,
            calls: Sequence[Call],
            *,
            mode: Mode = Mode.VERIFY,
            replica: int = 0,
            packages: bool = False,
        ) -> list[Result]:
            return [Fault(FaultKind.CODE_ERROR, "IndexError")] * len(calls)

    member = Member(Program(programs.SOUND, "CountLarge", "Count.", "list[int]", "int"), Origin.POLICY)
    with pytest.raises(Refusal, match=r"an instance of level 0 fails: .*IndexError") as refused:
        await calibrates(Breaking(), member, SimulatedSolver(3), AdmissionSettings())
    assert refused.value.gate in MECHANICAL


async def test_bricks_and_grammar_programs_are_not_calibrated(executor: Executor) -> None:
    solver = SimulatedSolver(0)
    for origin in (Origin.BRICK, Origin.GRAMMAR, Origin.SEED):
        assert (await Admission(executor, calibrate=solver).judge(programs.SOUND, origin)).member is not None
    assert solver.asked == []


async def test_a_near_copy_falls_only_where_a_policy_wrote_it(executor: Executor) -> None:
    novelty = SimulatedNovelty()
    admission = Admission(executor, novelty)
    first = await admission.judge(programs.SOUND, Origin.BRICK)
    near = programs.SOUND.replace("n > 5", "not n <= 4")
    refused = await admission.judge(near, Origin.POLICY)
    assert refused.gate == "near_duplicate" and refused.evidence["similarity"] == 0.93
    assert first.id in refused.reason
    assert (await admission.judge(near, Origin.GRAMMAR)).member is not None


async def test_of_near_copies_judged_at_once_one_is_admitted(executor: Executor) -> None:
    admission = Admission(executor, SimulatedNovelty())
    sources = [programs.SOUND.replace("n > 5", test) for test in ("n > 3", "not n <= 4", "n >= 6 or n == 5")]
    verdicts = await asyncio.gather(*(admission.judge(source, Origin.POLICY) for source in sources))
    assert sorted(verdict.gate for verdict in verdicts) == ["", "near_duplicate", "near_duplicate"]


async def test_of_equal_programs_judged_at_once_one_is_admitted(executor: Executor) -> None:
    admission = Admission(executor)
    sources = [programs.SOUND, programs.RENAMED, programs.REWRITTEN, programs.SOUND]
    verdicts = await asyncio.gather(*(admission.judge(source, Origin.GRAMMAR) for source in sources))
    assert sum(verdict.member is not None for verdict in verdicts) == 1
    assert len(admission.known) == 1


async def test_a_policy_that_copies_with_other_constants_falls_and_a_grammar_may(executor: Executor) -> None:
    admission = Admission(executor)
    first = await admission.judge(programs.SOUND, Origin.GRAMMAR)
    other = programs.RENAMED.replace("item > 5", "item > 3").replace("9 + level", "20 + 2 * level")
    refused = await admission.judge(other, Origin.POLICY)
    assert refused.gate == "duplicate" and "constants" in refused.reason and first.id in refused.reason
    assert (await admission.judge(other, Origin.GRAMMAR)).member is not None
    lenient = Admission(executor, known=Register([first.member]), settings=LENIENT)  # type: ignore[list-item]
    assert (await lenient.judge(other, Origin.POLICY)).member is not None


async def test_a_policy_must_ask_for_more_than_a_look_and_a_brick_need_not(executor: Executor) -> None:
    source = with_solve("return x[-1]")
    assert (await Admission(executor).judge(source, Origin.BRICK)).member is not None
    refused = await Admission(executor).judge(source, Origin.POLICY)
    assert refused.gate == "L5" and "the part x[-1]" in refused.reason
