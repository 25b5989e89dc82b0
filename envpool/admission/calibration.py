"""Gate "calibration": the live solver neither always nor never succeeds (EvoEnv: m fresh instances, 0 < a < 1).

Levels are probed upward from 0: what is always solved at a level is asked at the next, up to the last that L2 to L5
held at; the level that it is admitted at is recorded (ours), and so are the answers to each, which are the first that
the pool knows of this policy. A program that breaks on the way falls at the gate that it should have fallen at, since
only what is not the program's fault counts as valid.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from envpool.admission.settings import AdmissionSettings
from envpool.admission.verdict import Refusal
from envpool.answer_counts import Counts
from envpool.contract import Instance, Recipe
from envpool.execution import Examiner, ProgramFault
from envpool.members import Member
from envpool.sandbox import Executor, InfrastructureFault

Calibrate = Callable[[Member, list[Instance]], Awaitable[Counts | None]]
"""One response of the solver to each instance, counted. None where the machine gave one no verdict.

Raises Refusal where the program breaks on one, or the solver cannot be asked."""

FIRST_SEED = 2_000_000


async def calibrates(
    executor: Executor, member: Member, calibrate: Calibrate, settings: AdmissionSettings
) -> Mapping[str, Any]:
    """Success rate, level and answers as evidence. Raises Refusal, or InfrastructureFault without a verdict."""
    rates: list[float] = []
    answers: list[list[int]] = []
    for level in range(settings.levels):
        instances = await _instances(executor, member, level, settings.calibration_instances)
        counts = await calibrate(member, instances)
        if counts is None or counts.rate is None:
            raise InfrastructureFault("calibration got no verdict")
        rates.append(counts.rate)
        answers.append([counts.attempts, counts.successes, counts.parsed])
        evidence = {"success_rate": counts.rate, "level": level, "calibration": rates, "answers": answers}
        if 0 < counts.rate < 1:
            return evidence
        if counts.rate == 0:
            raise Refusal(f"too hard: none of {counts.attempts} answers at level {level} succeeds", **evidence)
    raise Refusal(f"too easy: all answers succeed up to level {settings.levels - 1}", **evidence)


async def _instances(executor: Executor, member: Member, level: int, count: int) -> list[Instance]:
    """Fresh instances of the training side of the split."""
    examiner = Examiner(executor, lambda _: member)
    found = []
    for seed in range(count):
        try:
            instance = await examiner.build_split(Recipe(member.id, FIRST_SEED + seed, level), held_out=False)
        except ProgramFault as fault:
            raise Refusal(f"an instance of level {level} fails: {fault}", "L2") from fault
        if instance is not None:
            found.append(instance)
    if not found:
        raise Refusal(f"level {level} has no instance on the training side of the split")
    return found
