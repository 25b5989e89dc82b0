"""Who may run where third-party packages are: what people brought in and was admitted importing some, nobody else."""

from collections.abc import AsyncIterator

import pytest
from hostile import HONEST
from small_limits import TIGHT

from envpool.admission import Admission
from envpool.admission.verdict import Passed
from envpool.answers import write
from envpool.composition.chains import SearchSettings
from envpool.composition.search import FrontierSearch
from envpool.contract import Recipe, Scored
from envpool.execution import Examiner
from envpool.members import Member, Origin, Program
from envpool.sandbox import Call, Fault, FaultKind, Job, LocalExecutor, Mode, Value
from envpool.sandbox.audit import Auditor, Observation
from envpool.signatures import from_wire, parse_type

IMPORTS = """
import parcel
from envpool import Environment


class Weighs(Environment):
    rule = "The input is a number. Give three times the number, and seven more."

    def sample(self, rng, level: int) -> int:
        return rng.randint(-50, 50) * (level + 1)

    def accepts(self, x: int) -> bool:
        return abs(x) < 10_000

    def solve(self, x: int) -> int:
        return parcel.weight(x)
"""
REACHES = IMPORTS.replace("import parcel\n", "import random\n").replace(
    "parcel.weight", "random._os.sys.modules['par' + 'cel'].weight"
)
"""No import statement, and no gate that reads would find it; a comment that names the package is all it needs."""


@pytest.fixture(scope="module")
async def executor(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LocalExecutor]:
    folder = tmp_path_factory.mktemp("parcels")
    (folder / "parcel.py").write_text("def weight(x): return 3 * x + 7\n")
    started = LocalExecutor(TIGHT, packages=(f"parcel={folder}",))
    yield started
    started.close()


def told(source: str, origin: Origin, *packages: str) -> Member:
    program = Program(source, "Weighs", "Give three times the number, and seven more.", "int", "int")
    return Member(program, origin, evidence={"packages": list(packages)} if packages else {})


async def test_a_sandbox_has_packages_for_a_job_with_the_right_that_names_one(
    executor: LocalExecutor,
) -> None:
    done = await executor.run_many(
        [
            Job(HONEST, (Call("solve", ([1, 2],)),), packages=True),
            Job(f"# parcel\n{REACHES}", (Call("solve", (1,)),)),
            Job(IMPORTS, (Call("solve", (1,)),)),
        ]
    )
    assert done[0] == [Value(3)]
    assert [fault.kind for each in done[1:] for fault in each] == [FaultKind.CODE_ERROR] * 2  # type: ignore[union-attr]
    assert set(executor._sandboxes) == {(0, False)}
    assert await executor.run(IMPORTS, [Call("solve", (1,))], packages=True) == [Value(10)]
    assert set(executor._sandboxes) == {(0, False), (0, True)}


@pytest.mark.parametrize(("mode", "call"), [(Mode.SOLUTION, "answer"), (Mode.SEARCH, "search")])
def test_no_solution_and_no_bundle_has_the_right(mode: Mode, call: str) -> None:
    with pytest.raises(ValueError, match=f"no package is for a job of mode {mode}"):
        Job(IMPORTS, (Call(call, (1,)),), mode, packages=True)


@pytest.mark.parametrize("origin", [Origin.POLICY, Origin.GRAMMAR, Origin.SEED, Origin.BRICK])
async def test_what_nobody_brought_in_reaches_no_package(executor: LocalExecutor, origin: Origin) -> None:
    by_name = await Admission(executor).judge(IMPORTS, origin)
    assert (by_name.gate, by_name.reason) == ("imports", "imports parcel, which is not allowed")
    by_hand = await Admission(executor).judge(f"# parcel\n{REACHES}", origin)
    assert by_hand.gate == "L2" and "KeyError: 'parcel'" in by_hand.reason


async def test_what_is_brought_in_is_admitted_and_asked_beside_its_package(executor: LocalExecutor) -> None:
    admission = Admission(executor)
    verdict = await admission.judge(IMPORTS, Origin.USER)
    assert verdict.member is not None, verdict.reason
    member = verdict.member
    assert member.may_use_packages
    assert isinstance(await admission.levels_hold(member, 3), Passed)
    seen: list[Observation] = []
    examiner = Examiner(executor, lambda _: member, observe=seen.append)
    instance = await examiner.build(Recipe(member.id, 1, 0))
    right = write([from_wire(instance.references[0])], [parse_type("int")])
    assert await examiner.score(instance, right) == Scored(1.0)
    assert seen and all(each.packages for each in seen)
    auditor = Auditor(executor, b"secret", 1.0)
    for each in seen:
        auditor.observe(each)
    assert [finding async for finding in auditor.work()] == []
    assert auditor.metrics()["audits_agreed"] == len(seen)


async def test_a_member_that_imports_nothing_has_no_right(executor: LocalExecutor) -> None:
    member = told(f"# parcel\n{REACHES}", Origin.USER)
    (fault,) = await _solved(executor, member)
    assert isinstance(fault, Fault) and "KeyError" in fault.detail


async def test_the_origin_decides_whatever_the_evidence_says(executor: LocalExecutor) -> None:
    assert [told(IMPORTS, origin, "parcel").may_use_packages for origin in Origin] == [
        origin in (Origin.USER, Origin.IMPORTED) for origin in Origin
    ]
    (fault,) = await _solved(executor, told(IMPORTS, Origin.POLICY, "parcel"))
    assert isinstance(fault, Fault) and "parcel" in fault.detail
    assert await _solved(executor, told(IMPORTS, Origin.IMPORTED, "parcel")) == [Value(10)]


async def _solved(executor: LocalExecutor, member: Member) -> list[object]:
    """What an examiner has its program answer to 1."""
    examiner = Examiner(executor, lambda _: member)
    assert isinstance(member.material, Program)
    return list(await examiner._run(member.material, [Call("solve", (1,))], Recipe(member.id, 1, 0)))


def test_programs_that_run_together_import_nothing(executor: LocalExecutor) -> None:
    members = [told(IMPORTS, Origin.USER, "parcel"), told(HONEST, Origin.USER)]
    assert FrontierSearch(executor, members, SearchSettings()).bricks == [members[1].id]
