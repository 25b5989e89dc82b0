"""RACES, SORT and SELECT: the steps are shown in a shuffled order, and the order that does the task is asked for.

Invariant: whatever order takes the input to the output scores 1, every other 0, so that an answer is judged by
running it and never by comparing it. What breaks the form of an order (a number that is not there, one named
twice, too many or too few, types of which no value fits both) is never run. The order shown follows from the recipe
alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from envpool.answers import answer_line
from envpool.composition.problems import Judge, Problem, Slot, Trial
from envpool.contract import seeded
from envpool.members import Composite, Program
from envpool.signatures import ValueType, from_wire, literal, parse_type

ORDER_TYPE = "list[int]"
"""An answer names steps by the numbers, from 1, under which they are shown."""

SORT_TEXT = (
    "These steps, each done once and in the right order, turn the input into the output. "
    "The result of a step is the input of the next. Give the numbers of the steps in that order."
)
SELECT_TEXT = (
    "Some of these steps, done in the right order, turn the input into the output. "
    "The result of a step is the input of the next. Use exactly {size} of them, none twice. "
    "Give their numbers in that order."
)


def listing(composite: Composite, key: str) -> tuple[str, ...]:
    """The members in the order in which they are shown; it does not depend on which are distractors."""
    ids = sorted(composite.parts)
    seeded(f"{key}/order").shuffle(ids)
    return tuple(ids)


@dataclass(frozen=True, slots=True)
class Order:
    """Judges an order of listed steps by running it."""

    listed: tuple[Program, ...]
    size: int
    """How many steps an order takes."""
    domain: str
    codomain: str

    def trials(self, answer: object, given: object) -> Sequence[Trial]:
        """The one trial of an order that can be run, from the input to the output that `given` pairs."""
        numbers = cast(list[int], answer)
        if len(numbers) != self.size or len(set(numbers)) != self.size:
            return ()
        if not all(1 <= number <= len(self.listed) for number in numbers):
            return ()
        steps = tuple(self.listed[number - 1] for number in numbers)
        value, target = cast(dict[str, list[object]], given)["t"]
        return (Trial(steps, value, target),) if self._fits(steps) else ()

    def _fits(self, steps: Sequence[Program]) -> bool:
        given = [self.domain, *(step.codomain for step in steps)]
        wanted = [*(step.domain for step in steps), self.codomain]
        return all(meet(parse_type(a), parse_type(b)) for a, b in zip(given, wanted, strict=True))


def meet(one: ValueType, other: ValueType) -> bool:
    """Whether a value can be of both types, as an empty list is of those of all lists: no prompt tells types."""
    if one == other:
        return True
    if one.kind == other.kind == "tuple":
        return len(one.args) == len(other.args) and all(map(meet, one.args, other.args))
    return any({one.kind, other.kind} <= kinds for kinds in ({"list"}, {"dict", "opaque"}))


class Sort:
    """RACES, SORT: all steps of one chain are shown, the order is asked; 1 if it reaches the output, else 0."""

    def judges(self, chains: Sequence[Sequence[Program]], listed: Sequence[Program]) -> list[Judge]:
        (chain,) = chains
        return [Order(tuple(listed), len(chain), chain[0].domain, chain[-1].codomain)]

    def slots(self, problems: Sequence[Problem]) -> list[Slot]:
        (problem,) = problems
        numbers = {step.id: number for number, step in enumerate(problem.listed, 1)}
        given = {"t": [problem.values[0], problem.values[-1]]}
        return [Slot(ORDER_TYPE, given, [numbers[step.id] for step in problem.steps])]

    def prompt(self, problems: Sequence[Problem]) -> str:
        (problem,) = problems
        steps = "\n".join(f"{number}: {step.rule}" for number, step in enumerate(problem.listed, 1))
        given = f"Input: {problem.shown}\nOutput: {literal(from_wire(problem.values[-1]))}"
        return f"{self._opening(problem)}\n{steps}\n\n{given}\n\n{answer_line([parse_type(ORDER_TYPE)])}"

    def score(self, scores: Sequence[float]) -> float:
        return scores[0]

    def _opening(self, problem: Problem) -> str:
        return SORT_TEXT


class Select(Sort):
    """RACES, SELECT: as SORT, among distractors; so many steps as the chain has are to be chosen and ordered."""

    def _opening(self, problem: Problem) -> str:
        return SELECT_TEXT.format(size=len(problem.steps))
