"""Running the chains that answers propose: many at once over frozen programs, each step once for all of them.

Invariant: a trial succeeds if and only if every step takes a value of its type and gives a legal one, none too long
between two steps, and the last value is the target. What a step accepts is not asked, because no prompt tells it: an
order that is right by the rules scores. A step that every machine sees fail is a plain miss. One that a clock or the
machine killed leaves no verdict: it comes back as the fault, and says nothing against the program, which nobody
promised would run on the value of a foreign order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from envpool.composition.problems import Trial
from envpool.members import Program
from envpool.returned import VALUE_FAULTS, Run, solved
from envpool.sandbox.results import Fault, FaultKind, Result
from envpool.signatures import IllegalValue, check_type, from_wire, literal, parse_type, wire_bytes

CHAIN_LITERAL = 400
"""Characters of a value between two steps. Not a setting, because it decides what a recipe means (ours)."""

_TOO_LONG = Fault(FaultKind.ILLEGAL_VALUE, f"more than {CHAIN_LITERAL} characters between two steps")

_ILL_TYPED = Fault(FaultKind.ILLEGAL_VALUE, "of another type than the step takes")

Step = tuple[str, bytes]
"""A program's id and the canonical bytes of what it is run on."""


def too_long(wire: object) -> bool:
    """Whether a value is too long to be handed to the next step."""
    return len(literal(from_wire(wire))) > CHAIN_LITERAL


def of_type(wire: object, type_text: str) -> bool:
    """Whether a value is of the type."""
    try:
        check_type(from_wire(wire), parse_type(type_text))
    except IllegalValue:
        return False
    return True


async def outcomes(run: Run, trials: Sequence[Trial]) -> list[bool | Fault]:
    """Whether each trial reaches its target, or the fault that keeps it from a verdict.

    A step that several trials share is run once; a depth costs one round trip a program. Raises what `run` raises.
    """
    walks = [_Walk(trial, trial.value) for trial in trials]
    known: dict[Step, Result] = {}
    clock, used_at = count(), dict[str, int]()
    while waiting := [walk for walk in walks if walk.advance(known)]:
        due: dict[str, dict[bytes, _Walk]] = {}
        for walk in waiting:
            program, key = walk.next_step
            due.setdefault(program, {})[key] = walk
        # A sandbox keeps few children, so those that were used last have their turn first.
        for program in sorted(due, key=lambda id: used_at.get(id, -1), reverse=True):
            by_key, used_at[program] = due[program], next(clock)
            step = next(iter(by_key.values())).program
            results = await solved(run, step, [walk.value for walk in by_key.values()])
            known |= {(program, key): result for key, result in zip(by_key, results, strict=True)}
    return [walk.outcome for walk in walks]


@dataclass(slots=True)
class _Walk:
    """How far one trial has come."""

    trial: Trial
    value: object
    done: int = 0
    fault: Fault | None = None

    @property
    def program(self) -> Program:
        return self.trial.steps[self.done]

    @property
    def next_step(self) -> Step:
        return self.program.id, wire_bytes(self.value)

    def advance(self, known: dict[Step, Result]) -> bool:
        """Takes the steps whose results are known; whether another one is to be run."""
        while self.fault is None and self.done < len(self.trial.steps):
            if self.done and too_long(self.value):
                self.fault = _TOO_LONG
            elif not of_type(self.value, self.program.domain):
                self.fault = _ILL_TYPED
            elif (result := known.get(self.next_step)) is None:
                return True
            elif isinstance(result, Fault):
                self.fault = result
            else:
                self.value = result.value
                self.done += 1
        return False

    @property
    def outcome(self) -> bool | Fault:
        if self.fault is None:
            return wire_bytes(self.value) == wire_bytes(self.trial.target)
        return False if self.fault.kind in VALUE_FAULTS else self.fault
