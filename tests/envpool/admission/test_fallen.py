"""What fell at calibration or review is known, for a time: its copies by a policy fall, and nobody else's do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from envpool.admission import Admission, Verdict
from envpool.admission.fallen import Fallen, fallen_before
from envpool.answer_counts import Counts
from envpool.members import Member, Origin, Program
from envpool.sandbox import Executor
from envpool.store import PoolWriter
from tests.envpool.admission.programs import RENAMED, REWRITTEN, SOUND, with_solve

OTHER_CONSTANTS = with_solve("return sum(n > 4 for n in x)")


async def never_solved(*_: object) -> Counts:
    return Counts(8, 0, 8)


async def finds_a_bug(prompt: str, count: int) -> Sequence[str]:
    return ["It is wrong.\nVERDICT: likely bug"] * count


def kept(pool: PoolWriter, verdict: Verdict, source: str) -> None:
    """As the validator does it."""
    pool.reject(verdict.id, Origin.POLICY, verdict.gate, verdict.reason, verdict.evidence, source=source)


async def test_copies_of_what_was_too_hard_fall_by_code_constants_and_behaviour(executor: Executor) -> None:
    admission = Admission(executor, calibrate=never_solved)
    first = await admission.judge(SOUND, Origin.POLICY)
    assert (first.gate, first.valid) == ("calibration", True)
    for source, gate in ((SOUND, "duplicate"), (RENAMED, "duplicate"), (OTHER_CONSTANTS, "duplicate"),
                         (REWRITTEN, "behaviour")):  # fmt: skip
        copy = await admission.judge(source, Origin.POLICY)
        assert (copy.gate, copy.valid) == (gate, False)
        assert f"({first.id}) (which fell at calibration)" in copy.reason


async def test_a_persons_copy_of_what_models_turned_down_is_judged_for_itself(executor: Executor) -> None:
    admission = Admission(executor, review=finds_a_bug)
    assert (await admission.judge(SOUND, Origin.POLICY)).gate == "review"
    assert (await admission.judge(SOUND, Origin.USER)).member is not None
    assert (await admission.judge(RENAMED, Origin.POLICY)).reason.startswith("the same code")


async def test_what_fell_is_known_again_after_a_restart_even_when_a_copy_took_its_place(
    executor: Executor, tmp_path: Path
) -> None:
    admission = Admission(executor, review=finds_a_bug)
    with PoolWriter.open(tmp_path / "pool", 16 << 20) as pool:
        for _ in range(2):  # the second falls as a copy, and the store keeps the last rejection of a source
            verdict = await admission.judge(SOUND, Origin.POLICY)
            kept(pool, verdict, SOUND)
        assert verdict.gate == "duplicate"
        again = Admission(executor, review=finds_a_bug, fallen=fallen_before(pool))
        for source in (SOUND, RENAMED, REWRITTEN):
            copy = await again.judge(source, Origin.POLICY)
            assert not copy.valid and f"{verdict.id} (which fell at review)" in copy.reason


def test_only_the_newest_are_remembered(tmp_path: Path) -> None:
    with PoolWriter.open(tmp_path / "pool", 16 << 20) as pool:
        for n in range(6):
            evidence = {"normal": f"code {n}", "skeleton": f"oracle {n}", "behaviour": f"answers {n}"}
            gate = "review" if n < 5 else "L4"
            pool.reject(Program(str(n), "", "", "", "").id, Origin.POLICY, gate, "no", evidence, source=str(n))
        fallen = fallen_before(pool, most=2)
        assert [fallen.with_code(f"code {n}") is not None for n in range(6)] == [False] * 3 + [True] * 2 + [False]
        assert fallen.with_skeleton("oracle 2") is fallen.with_behaviour("answers 2") is None
        assert len(fallen_before(pool, entries=2)) == 1


def test_what_could_not_be_stored_is_forgotten() -> None:
    fallen = Fallen()
    member = Member(Program("1", "", "", "", ""), Origin.POLICY, fingerprint="f", evidence={"normal": "n"})
    fallen.fell(member, "review")
    fallen.fell(member, "review")
    fallen.forget(member.id)
    fallen.forget(member.id)
    assert member.id not in fallen and fallen.with_code("n") is fallen.with_behaviour("f") is None
