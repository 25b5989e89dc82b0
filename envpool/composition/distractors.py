"""What a distractor of SELECT must do on a draw: run on a value of the chain, and give the output by itself on none.

Invariant: whether one distracts depends on the values of the draw alone, so every machine sees it alike; a kill is told
apart.
"""

from collections.abc import Sequence

from envpool.composition.trials import too_long
from envpool.members import Program
from envpool.returned import VALUE_FAULTS, Run, accepted_and_solved
from envpool.sandbox.results import Fault, Result, Value
from envpool.signatures import wire_bytes


async def tried(
    run: Run, distractor: Program, steps: Sequence[Program], values: Sequence[object]
) -> list[Result]:
    """What it gives instead of each step that takes the same type, on that step's input."""
    typed = zip(steps, values, strict=False)
    inputs = [x for step, x in typed if step.domain == distractor.domain and not too_long(x)]
    return await accepted_and_solved(run, distractor, inputs)


def killed(results: Sequence[Result]) -> Fault | None:
    """The first kill among the results."""
    faults = (result for result in results if isinstance(result, Fault))
    return next((fault for fault in faults if fault.kind not in VALUE_FAULTS), None)


def objection(results: Sequence[Result], target: object) -> str:
    """Why it does not distract on this draw; empty where it does."""
    given = [wire_bytes(result.value) for result in results if isinstance(result, Value)]
    if not given:
        return "runs on no value of the chain"
    return "gives the output by itself" if wire_bytes(target) in given else ""
