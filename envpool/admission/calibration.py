"""Gate "calibration": the live solver neither always nor never succeeds (EvoEnv: m fresh instances, 0 < a < 1).

Levels are probed upward from 0: what is always solved at a level is asked at the next, and the level that it is
admitted at is recorded (ours). A level is used only after L2 to L5 held there.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from envpool.admission.settings import AdmissionSettings
from envpool.admission.verdict import Refusal
from envpool.contract import Instance, Recipe
from envpool.execution import Examiner, ProgramFault
from envpool.members import Member
from envpool.sandbox import Executor, InfrastructureFault

Calibrate = Callable[[Member, list[Instance]], Awaitable[Sequence[bool] | None]]
"""One response of the solver to each instance: whether it succeeded. None where there was no verdict."""

FIRST_SEED = 2_000_000


async def calibrates(
    executor: Executor, member: Member, calibrate: Calibrate, settings: AdmissionSettings
) -> Mapping[str, Any]:
    """Success rate and level as evidence. Raises Refusal, or InfrastructureFault where the solver gave no verdict."""
    rates: dict[int, float] = {}
    for level in range(settings.levels):
        instances = await _instances(executor, member, level, settings.calibration_instances)
        successes = await calibrate(member, instances)
        if not successes:
            raise InfrastructureFault("calibration got no verdict")
        rates[level] = sum(successes) / len(successes)
        evidence = {"success_rate": rates[level], "level": level, "calibration": list(rates.values())}
        if 0 < rates[level] < 1:
            return evidence
        if rates[level] == 0:
            raise Refusal(f"too hard: none of {len(successes)} answers at level {level} succeeds", **evidence)
    raise Refusal(f"too easy: all answers succeed up to level {settings.levels - 1}", **evidence)


async def _instances(executor: Executor, member: Member, level: int, count: int) -> list[Instance]:
    """Fresh instances of the training side of the split."""
    examiner = Examiner(executor, lambda _: member)
    found = []
    for seed in range(count):
        try:
            instance = await examiner.build_split(Recipe(member.id, FIRST_SEED + seed, level), held_out=False)
        except ProgramFault as fault:
            raise Refusal(f"an instance of level {level} fails: {fault}") from fault
        if instance is not None:
            found.append(instance)
    if not found:
        raise Refusal(f"level {level} has no instance on the training side of the split")
    return found
