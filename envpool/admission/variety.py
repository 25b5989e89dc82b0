"""Gate L4: not trivial. Inputs and answers vary over seeds, and a higher level changes the input (limits ours)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from envpool.admission.draws import Draw, brief, expect, place
from envpool.admission.form import Candidate
from envpool.admission.verdict import Refusal
from envpool.contract import Recipe
from envpool.sandbox import Call, Executor, Result
from envpool.signatures import canonical_bytes, wire_bytes

DISTINCT_INPUTS = 3
LEVEL_PROBES = 16
"""Seeds that are compared over two levels: small ranges draw alike from the same bits, so a few would not do."""


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
    probes = [
        Recipe(candidate.program.id, seed, level)
        for level in sorted({recipe.level for recipe in recipes} - {0})
        for seed in range(LEVEL_PROBES)
    ]
    calls = [Call("sample", (probe.key(), probe.level - below)) for probe in probes for below in (1, 0)]
    results = await executor.run(candidate.program.source, calls) if calls else []
    changed: dict[int, bool] = defaultdict(bool)
    for probe, lower, upper in zip(probes, results[::2], results[1::2], strict=True):
        changed[probe.level] |= _input(lower, probe) != _input(upper, probe)
    for level, differs in changed.items():
        if not differs:
            raise Refusal(f"level {level} draws the same inputs as level {level - 1}")


def _input(result: Result, probe: Recipe) -> bytes:
    drawn = expect(result, "sample", probe)
    if not isinstance(drawn, dict) or "input" not in drawn:
        raise Refusal(f"a sample without its parts for {place(probe)}")
    return wire_bytes(drawn["input"])
