import re

import pytest

from envpool.admission import Admission, AdmissionSettings, Register
from envpool.admission.verdict import GATES, Verdict
from envpool.members import Origin
from envpool.sandbox import Call, Executor, InfrastructureFault, Value
from tests.envpool.admission import programs
from tests.envpool.admission.programs import with_sample, with_solve, with_verify


async def judge(executor: Executor, source: str, **more: object) -> Verdict:
    return await Admission(executor, **more).judge(source, Origin.GRAMMAR)  # type: ignore[arg-type]


@pytest.mark.parametrize("source", [programs.SOUND, programs.FEASIBLE])
async def test_a_sound_program_passes_and_becomes_a_member(executor: Executor, source: str) -> None:
    verdict = await Admission(executor).judge(source, Origin.USER, ["p1"], name="counting", held_out=True)
    assert verdict.member is not None, (verdict.gate, verdict.reason)
    assert verdict.valid and verdict.gate == ""
    member = verdict.member
    assert (member.origin, member.parents, member.family, member.held_out) == (
        Origin.USER,
        ("p1",),
        "counting",
        True,
    )
    assert member.id == verdict.id and len(member.fingerprint) == 64 and member.created > 0
    assert member.evidence["guess_rate"] <= 0.6 and member.evidence["distinct_answers"] >= 3
    assert [step.gate for step in verdict.trail if step.gate in ("L2", "L3", "L4", "L5")] == [
        "L2",
        "L3",
        "L4",
        "L5",
    ]


SMUGGLER = (
    """
import sys
child = sys.modules["envpool.sandbox.inside.child"]
honest = child.inspect
child.inspect = lambda source, allowed: {**honest(source, allowed), "error": None, "findings": []}
"""
    + programs.SOUND
)


async def test_a_program_that_has_run_before_cannot_speak_for_its_own_form(executor: Executor) -> None:
    (ran,) = await executor.run(SMUGGLER, [Call("sample", ("key", 0))])
    assert isinstance(ran, Value)
    verdict = await judge(executor, SMUGGLER)
    assert (verdict.gate, verdict.member) == ("imports", None)


REFUSED = {
    "nothing at all": ("   \n", "size", "empty"),
    "far too much": ("#" * 70_000, "size", "70000 bytes"),
    "no text": ("x = '\ud800'", "size", "surrogate"),
    "no Python": ("class A(:", "L1", "does not parse"),
    "prose": ("I would write a program about graphs.", "L1", ""),
    "no class": ("x = 1", "L1", "Environment"),
    "a file read": (with_solve("return 1", imports="import os"), "imports", "os"),
    "a failing sample": (with_sample("return [1 // (level - 1)] * 3"), "L2", "level 1: code_error: ZeroDivisionError"),
    "a wrong type": (with_sample("return [1, '2', 3]"), "L2", "sample fails"),
    "a wrong answer type": (with_solve("return [len(x)]"), "L2", "solve fails"),
    "an endless loop": (with_solve("while True: pass"), "L2", "cpu_limit"),
    "its own input refused": (
        programs.SOUND + "\n    def accepts(self, x: list[int]) -> bool:\n        return len(x) > 3\n", "L2", "accepts"
    ),
    "inputs all alike": (with_sample("return [1, 2, 3] + [level]"), "L4", "inputs"),
    "levels that only shuffle": (
        with_sample("return rng.sample([rng.randint(1, 9) for _ in range(5)], 5 - level % 2)"), "L4", "not larger than"
    ),
    "a level that breaks the next one": (
        with_sample("return rng.sample(range(1, 4 * level + 9), 3 + 4 * level + 9 * (level // 3))"), "L2", "level 3"
    ),
    "a question without end": (
        with_sample("return [rng.randint(1, 9 + level) for _ in range(40 * 9 ** level)]"), "L2", "the question has"
    ),
    "an answer without end": (with_solve("return 'ab' * 999 + str(x)", "str"), "L2", "the answer has"),
    "work that explodes": (
        with_solve("return sum(n > 5 for n in x) + 0 * sum(1 for _ in range(10 ** (len(x) - 1)))"),
        "L2", "level 3: cpu_limit",
    ),
    "a number beside the input": (
        programs.SOUND + "\n    def show(self, x: list[int]) -> str:\n        "
        "return f'{x} ({sum(n > 5 for n in x)} hits)'\n",
        "L5", "beside the input in the shown text",
    ),
    "a solution beside the problem, sorted": (
        programs.FEASIBLE.replace("numbers[i] + numbers[j])", "numbers[i] + numbers[j], sorted([i, j]))")
        .replace("tuple[list[int], int]", "tuple[list[int], int, list[int]]")
        .replace("numbers, target = x", "numbers, target, _ = x"),
        "L5", "the part x[2]",
    ),
    "levels without effect": (
        with_sample("return [rng.randint(1, 9) for _ in range(4)]"), "L4", "level 1 draws the same"
    ),
    "answers all alike": (with_solve("return 7"), "L4", "all 15 answers are"),
    "the echo": (with_solve("return x", "list[int]"), "L5", "the answer stands in the input"),
    "an answer in a fixed place": (
        programs.SOUND.replace("-> list[int]:\n        return [", "-> list[list[int]]:\n        return [[9] * 3] + [[")
        .replace("range(3 + 2 * level)]", "range(3)] for _ in range(2 + level)]")
        .replace("x: list[int]) -> int:", "x: list[list[int]]) -> list[int]:")
        .replace("return sum(n > 5 for n in x)", "return x[1]"),
        "L5", "as x[1]",
    ),
    "an answer that is nearly always the same": (
        with_solve("return 3 if x[0] < 8 else sum(x)"), "L5", "by guessing (one constant answer)"
    ),
    "a judge that takes everything": (with_verify("return 1.0"), "L5", "of the perturbed answers score"),
    "a judge that takes nothing": (with_verify("return 0.0"), "L5", "the reference scores 0.0, not 1"),
    "a judge that breaks": (
        with_verify("return float(x[0][answer[0]] + x[0][answer[1]] == x[1])"), "L5", "verify of the"
    ),
    "a judge without measure": (with_verify("return 2.0"), "L5", "illegal_value"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
async def test_a_broken_program_falls_at_its_gate_with_a_reason(executor: Executor, case: str) -> None:
    source, gate, reason = REFUSED[case]
    verdict = await judge(executor, source)
    assert (verdict.member, verdict.gate) == (None, gate), verdict.reason
    assert reason in verdict.reason and verdict.reason
    assert gate in GATES and not verdict.valid
    assert verdict.trail[-1].gate == gate and not verdict.trail[-1].passed


async def test_an_answer_from_the_order_of_a_set_names_seed_level_and_both_answers(
    executor: Executor,
) -> None:
    verdict = await judge(executor, with_solve("return max({str(n) * 3 for n in x}, key=lambda s: 0)", "str"))
    assert verdict.gate == "L3", verdict.reason
    assert re.fullmatch(
        r'L3: answer differs between two processes for seed \d, level \d: "\d+" and "\d+"',
        f"{verdict.gate}: {verdict.reason}",
    )


async def test_a_shown_set_falls_at_the_scan(executor: Executor) -> None:
    verdict = await judge(executor, with_solve("return list(set(x))", "list[int]"))
    assert verdict.gate == "scan" and "line " in verdict.reason


async def test_state_kept_between_calls_falls(executor: Executor) -> None:
    source = with_solve("SEEN.append(1); return len(SEEN)").replace(
        "\n\nclass", "\nSEEN: list[int] = []\n\n\nclass"
    )
    assert (await judge(executor, source)).gate in ("scan", "L3")


async def test_a_fair_two_valued_answer_is_not_refused_by_chance(executor: Executor) -> None:
    for digit in range(3):
        verdict = await judge(executor, with_solve(f"return (sum(x) + {digit}) % 2 == 0", "bool"))
        assert verdict.member is not None, verdict.reason
        assert 0.4 < verdict.evidence["guess_rate"] < 0.6


async def test_a_lopsided_two_valued_answer_is_refused(executor: Executor) -> None:
    verdict = await judge(executor, with_solve("return max(x) > 5", "bool"))
    assert verdict.gate == "L5" and verdict.evidence["guess_rate"] > 0.6


async def test_whoever_copies_what_is_held_out_by_code_or_behaviour_is_contamination(executor: Executor) -> None:
    admission = Admission(executor)
    first = await admission.judge(programs.SOUND, Origin.BRICK, held_out=True)
    again = await admission.judge(programs.SOUND, Origin.GRAMMAR)
    renamed = await admission.judge(programs.RENAMED, Origin.GRAMMAR)
    rewritten = await admission.judge(programs.REWRITTEN, Origin.GRAMMAR)
    assert [again.gate, renamed.gate, rewritten.gate] == ["contamination"] * 3
    for verdict in (again, renamed, rewritten):
        assert "the held-out " in verdict.reason and first.id in verdict.reason and not verdict.valid
    apart = await admission.judge(programs.RENAMED, Origin.BRICK, held_out=True)
    assert apart.gate == "duplicate", "what is set apart itself contaminates nothing"


async def test_a_register_filled_from_members_finds_the_copies(executor: Executor) -> None:
    member = (await judge(executor, programs.SOUND)).member
    assert member is not None
    register = Register([type(member).from_dict(member.to_dict())])
    assert (await judge(executor, programs.RENAMED, known=register)).gate == "duplicate"
    assert (await judge(executor, programs.REWRITTEN, known=register)).gate == "behaviour"


async def test_a_member_that_could_not_be_stored_can_be_judged_again(executor: Executor) -> None:
    admission = Admission(executor)
    first = (await admission.judge(programs.SOUND, Origin.GRAMMAR)).member
    assert first is not None
    admission.known.remove(first)
    assert (await admission.judge(programs.SOUND, Origin.GRAMMAR)).member is not None


async def test_an_infrastructure_fault_is_no_verdict() -> None:
    class Dead:
        """A simulated executor whose machine is gone."""

        async def run(self, *_: object, **__: object) -> list[object]:
            raise InfrastructureFault("the zygote is gone")

    with pytest.raises(InfrastructureFault):
        await judge(Dead(), programs.SOUND)  # type: ignore[arg-type]


async def test_a_level_holds_until_the_program_breaks_there(executor: Executor) -> None:
    source = with_sample("return [rng.randint(1, 9 + min(level, 3)) for _ in range(3 + min(level, 3))]")
    admission = Admission(executor, settings=AdmissionSettings())
    member = (await admission.judge(source, Origin.GRAMMAR)).member
    assert member is not None
    assert (await admission.levels_hold(member, 3)).passed
    refused = await admission.levels_hold(member, 4)
    assert not refused.passed
    assert (refused.gate, refused.reason) == ("L4", "level 4 draws the same inputs as level 3")
