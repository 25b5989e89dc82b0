"""A program of another collection has the levels that hold, at least two; nobody else's has fewer than all."""

import pytest

from envpool.admission import Admission, AdmissionSettings
from envpool.admission.admission import MECHANICS
from envpool.admission.verdict import Verdict
from envpool.members import Origin
from envpool.sandbox import Executor
from tests.envpool.admission.programs import with_sample

ENDS = {
    "an input that is too long": (
        "return [rng.randint(1, 9) for _ in range([3, 6, 20_000][min(level, 2)])]",
        "sample fails for seed 4, level 2: illegal_value: more than",
    ),
    "numbers that are too long": (
        "return [10 ** 1_100 if level > 1 else rng.randint(1, 9) for _ in range(3 + level)]",
        "sample fails for seed 4, level 2: illegal_value: more than 1000 digits",
    ),
    "a question that is too long": (
        "return [rng.randint(1, 9) for _ in range([3, 6, 4_000][min(level, 2)])]",
        "characters for seed 0, level 2, more than 8000",
    ),
    "the same as the level below": (
        "return [rng.randint(1, 9 + min(level, 1)) for _ in range(3 + min(level, 1))]",
        "level 2 draws the same inputs as level 1",
    ),
    "no larger than the level below": (
        "return [rng.randint(1 + 2 * min(level, 2), 9) for _ in range(3 + (level == 1))]",
        "inputs of level 2 are not larger than those of level 1",
    ),
}


async def judged(executor: Executor, sample: str, origin: Origin = Origin.IMPORTED) -> Verdict:
    return await Admission(executor).judge(with_sample(sample), origin)


@pytest.mark.parametrize(("sample", "why"), ENDS.values(), ids=ENDS)
async def test_a_collection_s_program_is_admitted_with_the_levels_below_one_that_is(
    executor: Executor, sample: str, why: str
) -> None:
    admission = Admission(executor)
    verdict = await admission.judge(with_sample(sample), Origin.IMPORTED)
    assert verdict.member is not None, (verdict.gate, verdict.reason)
    assert verdict.evidence["levels"] == 2 and why in verdict.evidence["outgrown"]
    assert ", with levels 0 to 1: " in verdict.reason and why in verdict.reason
    assert [step.gate for step in verdict.trail if step.gate in MECHANICS] == [*MECHANICS]
    assert all(step.passed for step in verdict.trail)
    assert [verdict.member.level_within(level) for level in range(4)] == [0, 1, 1, 1]
    assert (await admission.levels_hold(verdict.member, 1)).passed


async def test_an_ended_level_stays_ended_where_the_limits_are_wider(executor: Executor) -> None:
    sample, why = ENDS["a question that is too long"]
    verdict = await judged(executor, sample)
    assert verdict.member is not None
    wide = Admission(executor, settings=AdmissionSettings(prompt_characters=10**6, answer_characters=10**6))
    refused = await wide.levels_hold(verdict.member, 2)
    assert (refused.passed, refused.gate) == (False, "L2") and why in refused.reason


async def test_what_one_level_draws_now_and_then_is_told_of_that_level(executor: Executor) -> None:
    sample = "return [rng.randint(1, 9) for _ in range(20_001 if level == 1 and rng.random() < 0.2 else 3 + 2 * level)]"
    verdict = await judged(executor, sample)
    assert (verdict.member, verdict.gate) == (None, "L4") and "level 1: illegal_value: more than" in verdict.reason


@pytest.mark.parametrize("origin", [Origin.POLICY, Origin.USER, Origin.GRAMMAR])
async def test_whoever_writes_for_us_writes_all_levels(executor: Executor, origin: Origin) -> None:
    sample, why = ENDS["a question that is too long"]
    verdict = await judged(executor, sample, origin)
    assert (verdict.member, verdict.gate) == (None, "L2") and why in verdict.reason


async def test_one_whose_headroom_alone_is_too_large_has_all_levels(executor: Executor) -> None:
    verdict = await judged(
        executor, "return [rng.randint(1, 9) for _ in range([3, 6, 9, 4_000][min(level, 3)])]"
    )
    assert verdict.member is not None and verdict.evidence["levels"] == AdmissionSettings().levels == 3


async def test_one_level_is_no_curriculum(executor: Executor) -> None:
    verdict = await judged(executor, "return [rng.randint(1, 9) for _ in range(3 + 4_000 * min(level, 1))]")
    assert (verdict.member, verdict.gate) == (None, "L2")


WRONG = {
    "raises at level 2": (
        "return [rng.randint(1, 9 // (2 - min(level, 2))) for _ in range(3 + level)]",
        "L2",
    ),
    "gives no list at level 2": (
        "return [rng.randint(1, 9) for _ in range(3 + level)] if level < 2 else None",
        "L2",
    ),
    "takes too long at level 2": (
        "while level >= 2: pass\n        return [rng.randint(1, 9) for _ in range(3 + level)]",
        "L2",
    ),
    "hangs on the hash seed at level 2": (
        "return [rng.randint(1, 9) for _ in range(3 + level)] + [ord(max({'a', 'b'}, key=len))] * (level > 1)",
        "L3",
    ),
}


@pytest.mark.parametrize(("sample", "gate"), WRONG.values(), ids=WRONG)
async def test_what_is_wrong_at_a_level_is_wrong(executor: Executor, sample: str, gate: str) -> None:
    verdict = await judged(executor, sample)
    assert (verdict.member, verdict.gate) == (None, gate)
