"""Gate L4, on levels: a higher level makes the input larger or the question longer (ours).

The two levels are drawn from the same randomness, so that their difference says more than their spread; where it is
in doubt, more is drawn before a program falls.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from envpool.admission.draws import expect, place
from envpool.admission.form import Candidate
from envpool.admission.verdict import Outgrown, Refusal
from envpool.contract import Recipe
from envpool.sandbox import Call, Executor, Result
from envpool.signatures import from_wire, wire_bytes

PROBES = (16, 112)
"""Seeds that are compared over two levels, one lot after the other: small ranges draw alike from the same bits."""
CLEAR = 3.0  # standard errors of the mean difference that need no second look
ENOUGH = 2.0  # and those that do after it


@dataclass(frozen=True, slots=True)
class Drawn:
    """What one draw weighs."""

    key: bytes
    size: float
    length: int  # characters of the question's own part


Pair = tuple[Drawn, Drawn]


async def levels_grow(executor: Executor, candidate: Candidate, levels: Sequence[int]) -> dict[str, list[float]]:
    """Mean size of the inputs of each level and the one below, as evidence. Raises Refusal."""
    sizes: list[float] = []
    for level in levels:
        pairs = await _pairs(executor, candidate, level, range(PROBES[0]))
        if all(lower.key == upper.key for lower, upper in pairs):
            raise Outgrown(level, f"level {level} draws the same inputs as level {level - 1}")
        if not _grows(pairs, CLEAR):
            pairs += await _pairs(executor, candidate, level, range(PROBES[0], sum(PROBES)))
            if not _grows(pairs, ENOUGH):
                raise Outgrown(level, _shrinks(level, pairs))
        sizes.append(round(statistics.mean(upper.size for _, upper in pairs), 1))
    return {"input_sizes": sizes}


async def _pairs(executor: Executor, candidate: Candidate, level: int, seeds: range) -> list[Pair]:
    probes = [Recipe(candidate.program.id, seed, level) for seed in seeds]
    calls = [Call("sample", (probe.key(), level - below)) for probe in probes for below in (1, 0)]
    results = await executor.run(candidate.program.source, calls)
    return [
        (_drawn(lower, replace(probe, level=level - 1)), _drawn(upper, probe))
        for probe, lower, upper in zip(probes, results[::2], results[1::2], strict=True)
    ]


def _drawn(result: Result, probe: Recipe) -> Drawn:
    drawn = expect(result, "sample", probe)
    if not isinstance(drawn, dict) or "input" not in drawn:
        raise Refusal(f"a sample without its parts for {place(probe)}")
    return Drawn(wire_bytes(drawn["input"]), size(from_wire(drawn["input"])), len(str(drawn.get("shown", ""))))


def size(value: object) -> float:
    """How large a value is: its parts and characters, and the binary digits of its numbers."""
    if isinstance(value, bool):
        return 1.0
    if isinstance(value, int):
        bits = value.bit_length()  # log2() of a huge integer overflows
        return 1.0 + (math.log2(1 + abs(value)) if bits < 1_000 else float(bits))
    if isinstance(value, str):
        return 1.0 + len(value)
    if isinstance(value, dict):
        return 1.0 + sum(size(key) + size(part) for key, part in value.items())
    if isinstance(value, list | tuple):
        return 1.0 + sum(map(size, value))
    raise TypeError(f"a {type(value).__name__} is no value")


def _grows(pairs: Sequence[Pair], errors: float) -> bool:
    sizes = [upper.size - lower.size for lower, upper in pairs]
    lengths = [float(upper.length - lower.length) for lower, upper in pairs]
    return _is_above_zero(sizes, errors) or _is_above_zero(lengths, errors)


def _is_above_zero(differences: Sequence[float], errors: float) -> bool:
    mean = statistics.mean(differences)
    spread = statistics.stdev(differences) if len(differences) > 1 else 0.0
    return mean > 0 and mean >= errors * spread / math.sqrt(len(differences))


def _shrinks(level: int, pairs: Sequence[Pair]) -> str:
    lower, upper = (statistics.mean(pair[side].size for pair in pairs) for side in (0, 1))
    return (
        f"inputs of level {level} are not larger than those of level {level - 1}: "
        f"size {upper:.1f} and {lower:.1f}, on average over {len(pairs)} seeds"
    )
