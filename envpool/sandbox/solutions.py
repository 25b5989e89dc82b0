"""Judging a solver's own program: an answer that is code, run on inputs and compared outside.

Invariant: the program is alone in its child. What goes in is its source and one input at a time: neither the
reference, nor the environment's program, nor a later input. What comes out is compared here as canonical values, never
as objects that the program made. Where the machine fails there is no verdict.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from envpool.sandbox.executor import BatchExecutor
from envpool.sandbox.results import Call, Fault, FaultKind, InfrastructureFault, Job, Mode, Result
from envpool.signatures import IllegalValue, canonical_bytes, check, from_wire, parse_type


@dataclass(frozen=True, slots=True)
class Case:
    """One input and the answer that is right for it, both in wire form."""

    x: object
    reference: object


@dataclass(frozen=True, slots=True)
class Judged:
    """A legal answer, in wire form, and whether it is the reference."""

    right: bool
    value: object


Judgement = Judged | Fault
"""A fault is the program's own: it raised, ran out of a limit, or gave no value of the type."""


async def judge_solution(
    executor: BatchExecutor, source: str, cases: Sequence[Case], codomain: str
) -> list[Judgement]:
    """One judgement a case, in order; `codomain` is the answer's type as text. Raises InfrastructureFault.

    A program that faults on one input is asked the next one in a new child.
    """
    calls = tuple(Call("answer", (case.x,)) for case in cases)
    (done,) = await executor.run_many([Job(source, calls, Mode.SOLUTION)])
    if isinstance(done, InfrastructureFault):
        raise done
    return [_judged(result, case.reference, codomain) for result, case in zip(done, cases, strict=True)]


def _judged(result: Result, reference: object, codomain: str) -> Judgement:
    if isinstance(result, Fault):
        return result
    try:
        value = from_wire(result.value)
        check(value, parse_type(codomain))
    except IllegalValue as error:
        return Fault(FaultKind.ILLEGAL_VALUE, str(error))
    return Judged(canonical_bytes(value) == canonical_bytes(from_wire(reference)), result.value)
