"""Gate L4: not trivial. Inputs and answers vary over seeds, and a higher level changes the input (limits ours)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from envpool.admission.draws import Draw, brief, expect
from envpool.admission.form import Candidate
from envpool.admission.verdict import Refusal
from envpool.contract import Recipe
from envpool.sandbox import Call, Executor
from envpool.signatures import canonical_bytes, wire_bytes

DISTINCT_INPUTS = 3


async def varies(
    executor: Executor, candidate: Candidate, draws: Sequence[Draw], distinct_answers: int
) -> Mapping[str, Any]:
    """Counts of different inputs and answers as evidence. Raises Refusal."""
    inputs = {canonical_bytes(draw.x) for draw in draws}
    answers = {canonical_bytes(draw.reference) for draw in draws}
    if len(inputs) < DISTINCT_INPUTS and candidate.domain.kind != "bool":
        raise Refusal(f"only {len(inputs)} different inputs in {len(draws)}, such as {brief(draws[0].x)}")
    _each_level_varies(draws)
    wanted = 2 if candidate.codomain.kind == "bool" else distinct_answers
    if len(answers) < wanted:
        shown = brief(draws[0].reference)
        raise Refusal(f"only {len(answers)} different answers in {len(draws)}, such as {shown}")
    await _levels_change_the_input(executor, candidate, [draw.recipe for draw in draws])
    return {"distinct_inputs": len(inputs), "distinct_answers": len(answers)}


def _each_level_varies(draws: Sequence[Draw]) -> None:
    by_level: dict[int, list[Draw]] = defaultdict(list)
    for draw in draws:
        by_level[draw.recipe.level].append(draw)
    for level, own in by_level.items():
        if len(own) > 1 and len({canonical_bytes(draw.x) for draw in own}) == 1:
            raise Refusal(f"all {len(own)} inputs of level {level} are {brief(own[0].x)}")


async def _levels_change_the_input(
    executor: Executor, candidate: Candidate, recipes: Sequence[Recipe]
) -> None:
    """The level alone must matter: the same randomness, one level apart, gives another input for some seed."""
    raised = [recipe for recipe in recipes if recipe.level > 0]
    calls = [
        Call("sample", (recipe.key(), level))
        for recipe in raised
        for level in (recipe.level - 1, recipe.level)
    ]
    if not calls:
        return
    results = await executor.run(candidate.program.source, calls)
    unchanged: dict[int, list[bool]] = defaultdict(list)
    for recipe, lower, upper in zip(raised, results[::2], results[1::2], strict=True):
        samples = [expect(result, "sample", recipe) for result in (lower, upper)]
        below, above = (wire_bytes(sample["input"]) for sample in samples if isinstance(sample, dict))
        unchanged[recipe.level].append(below == above)
    for level, same in unchanged.items():
        if all(same):
            raise Refusal(f"level {level} draws the same inputs as level {level - 1}")
