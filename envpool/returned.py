"""What frozen programs return, decoded and held against what they declare, and the fault where it is none.

Invariant: a value that leaves here is of its declared type and within the limits. A program's fault carries the
member it speaks against. Nothing here runs a program or decides what becomes of a member.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Self

from envpool.members import Program
from envpool.sandbox.results import Call, Fault, FaultKind, Result, Value
from envpool.signatures import IllegalValue, check, from_wire, parse_type

VALUE_FAULTS = frozenset({FaultKind.CODE_ERROR, FaultKind.ILLEGAL_VALUE, FaultKind.OUTPUT_LIMIT})
"""Faults that depend on the input alone, so that every machine sees them at the same draw."""

REFUSED = Fault(FaultKind.ILLEGAL_VALUE, "not accepted")

Run = Callable[[Program, list[Call]], Awaitable[list[Result]]]
"""Runs calls of a program and returns one result a call. Raises InfrastructureFault."""


class ProgramFault(RuntimeError):
    """A frozen member broke its contract while it was used; `member` is the id to quarantine."""

    def __init__(self, member: str, fault: Fault) -> None:
        super().__init__(f"{member}: {fault.kind}: {fault.detail}")
        self.member = member
        self.fault = fault

    def __reduce__(self) -> tuple[type[Self], tuple[str, Fault]]:
        """Of what it was made, so that a worker process can send it."""
        return type(self), (self.member, self.fault)


def checked(member: str, wire: object, type_text: str) -> object:
    """The value a child sent, as the type declares it. Raises ProgramFault where it is none."""
    try:
        value = from_wire(wire)
        check(value, parse_type(type_text))
    except IllegalValue as error:
        raise ProgramFault(member, Fault(FaultKind.ILLEGAL_VALUE, str(error))) from error
    return value


def value_of(program: Program, result: Result) -> object:
    """What a call returned. Raises ProgramFault for a fault."""
    if isinstance(result, Fault):
        raise ProgramFault(program.id, result)
    return result.value


def sampled(program: Program, result: Result) -> tuple[str, object, object]:
    """Shown text, input and planted solution (wire forms) of a sample, each checked. Raises ProgramFault."""
    sample = value_of(program, result)
    if not isinstance(sample, dict) or not {"input", "planted", "shown"} <= sample.keys():
        raise ProgramFault(program.id, Fault(FaultKind.PROTOCOL_ERROR, "a sample without its parts"))
    checked(program.id, sample["input"], program.domain)
    checked(program.id, sample["shown"], "str")
    if program.oracle == "feasibility":
        checked(program.id, sample["planted"], program.codomain)
    return sample["shown"], sample["input"], sample["planted"]


async def accepted_and_solved(run: Run, program: Program, inputs: Sequence[object]) -> list[Result]:
    """The program's output for each input, a fault where it has none; two round trips for all of them.

    It is not run on what it refuses, for a fault costs a child.
    """
    answers = await run(program, [Call("accepts", (x,)) for x in inputs])
    outputs: list[Result] = [each if isinstance(each, Fault) else REFUSED for each in answers]
    accepted = [
        place for place, answer in enumerate(answers) if isinstance(answer, Value) and answer.value is True
    ]
    results = await solved(run, program, [inputs[place] for place in accepted])
    for place, result in zip(accepted, results, strict=True):
        outputs[place] = result
    return outputs


async def solved(run: Run, program: Program, inputs: Sequence[object]) -> list[Result]:
    """The program's output for each input, whether it accepts that or not; one round trip for all of them."""
    results = await run(program, [Call("solve", (x,)) for x in inputs]) if inputs else []
    return [_as_declared(program, result) for result in results]


def _as_declared(program: Program, result: Result) -> Result:
    try:
        checked(program.id, value_of(program, result), program.codomain)
    except ProgramFault as fault:
        return fault.fault
    return result
