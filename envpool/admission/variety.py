"""Gate L4: not trivial. Inputs and answers vary over seeds, and a higher level is larger (limits ours)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from envpool.admission.draws import Draw, brief
from envpool.admission.form import Candidate
from envpool.admission.growth import levels_grow
from envpool.admission.verdict import Refusal
from envpool.sandbox import Executor
from envpool.signatures import canonical_bytes

DISTINCT_INPUTS = 3


async def varies(
    executor: Executor, candidate: Candidate, draws: Sequence[Draw], distinct_answers: int
) -> Mapping[str, Any]:
    """Counts of different inputs and answers, and sizes by level, as evidence. Raises Refusal."""
    inputs = {canonical_bytes(draw.x) for draw in draws}
    answers = {canonical_bytes(draw.reference) for draw in draws}
    if len(inputs) < DISTINCT_INPUTS and candidate.domain.kind != "bool":
        raise Refusal(f"only {len(inputs)} different inputs in {len(draws)}, such as {brief(draws[0].x)}")
    _each_level_varies(draws)
    wanted = 2 if candidate.codomain.kind == "bool" else distinct_answers
    if len(answers) < wanted:
        raise Refusal(_same_answers(draws, len(answers), wanted))
    levels = sorted({draw.recipe.level for draw in draws} - {0})
    growth = await levels_grow(executor, candidate, levels)
    return {"distinct_inputs": len(inputs), "distinct_answers": len(answers), **growth}


def _same_answers(draws: Sequence[Draw], different: int, wanted: int) -> str:
    if different == 1:
        return f"all {len(draws)} answers are {brief(draws[0].reference)}"
    shown = " and ".join(sorted({brief(draw.reference) for draw in draws}))
    return f"only {different} different answers in {len(draws)}, {shown}; {wanted} are wanted"


def _each_level_varies(draws: Sequence[Draw]) -> None:
    by_level: dict[int, list[Draw]] = defaultdict(list)
    for draw in draws:
        by_level[draw.recipe.level].append(draw)
    for level, own in by_level.items():
        if len(own) > 1 and len({canonical_bytes(draw.x) for draw in own}) == 1:
            raise Refusal(f"all {len(own)} inputs of level {level} are {brief(own[0].x)}")
