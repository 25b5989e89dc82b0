"""From what was read and what programs returned to the outcome of one response. Nothing here runs anything.

Invariant: a score is a finite number in [0, 1], or there is none: what the machine or a clock did is `Failed`, and
only a judge's own fault speaks against a member, which is that judge and not what it is a part of.
"""

from collections.abc import Sequence

from envpool.answers import UnparsableAnswer, read
from envpool.composition.problems import Operator
from envpool.contract import Failed, Outcome, Scored, Unparsed
from envpool.members import Program
from envpool.returned import ProgramFault, value_of
from envpool.sandbox.results import Fault, FaultKind, Result
from envpool.signatures import ValueType, canonical_bytes


def reading_of(response: str, types: Sequence[ValueType]) -> list[object] | Unparsed:
    """One reading a slot, or Unparsed where no slot can be read."""
    try:
        reading = read(response, types)
    except UnparsableAnswer as error:
        return Unparsed(error.reason)
    faults = [slot for slot in reading if isinstance(slot, UnparsableAnswer)]
    return Unparsed(faults[0].reason) if len(faults) == len(reading) else reading


def equals(answer: object, reference: bytes) -> float:
    """The score of an answer in a slot with one right value; what could not be read is none."""
    if isinstance(answer, UnparsableAnswer):
        return 0.0
    return 1.0 if canonical_bytes(answer) == reference else 0.0


def verdict(judge: Program, result: Result) -> float | Failed:
    """A child's verdict, or that there is none, which is the program's fault."""
    try:
        return float(Scored(value_of(judge, result)).score)  # type: ignore[arg-type]
    except ProgramFault as error:
        fault = error
    except ValueError as error:
        fault = ProgramFault(judge.id, Fault(FaultKind.ILLEGAL_VALUE, str(error)))
    return Failed(f"quarantine: {fault}", culprit=fault.member)


def executed(came: Sequence[bool | Fault]) -> float | Failed:
    """The score of an answer by its trials; without any it is not one that could be run."""
    for each in came:
        if isinstance(each, Fault):
            # The answer chose what was run, so it is no member's fault, and never a reward.
            return Failed(f"a proposed order was killed: {each.kind}", killed=True)
    return 1.0 if came and all(came) else 0.0


def outcome(operator: Operator, row: Sequence[float | Failed]) -> Outcome:
    """What the scores of the slots come to; without one of them there is no verdict."""
    scores = [score for score in row if not isinstance(score, Failed)]
    if len(scores) == len(row):
        return Scored(operator.score(scores))
    return next(score for score in row if isinstance(score, Failed))
