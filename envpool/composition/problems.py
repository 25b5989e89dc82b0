"""What operators ask about, and what judges answers: executed problems, answer slots, trials.

Plain data and the two interfaces over it; `operators` and `ordering` implement them, `envpool.execution` runs
what has to be run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from envpool.members import Program


@dataclass(frozen=True, slots=True)
class Problem:
    """A chain of programs executed on one input."""

    steps: tuple[Program, ...]
    shown: str
    """The input as the first program shows it."""
    values: tuple[object, ...]
    """In wire form: the input and then each step's output (for a planted input, its solution)."""
    listed: tuple[Program, ...] = ()
    """The steps and distractors in the order in which they are shown, where an order is asked for."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One answer that is asked for."""

    answer_type: str
    input: object
    """In wire form: what the judge is given besides the answer."""
    reference: object


@dataclass(frozen=True, slots=True)
class Trial:
    """A chain that an answer proposes: it succeeds where it takes the value to the target."""

    steps: tuple[Program, ...]
    value: object
    """In wire form, as the target is."""
    target: object


class Execution(Protocol):
    """Judges answers by running what they propose."""

    def trials(self, answer: object, given: object) -> Sequence[Trial]:
        """What must succeed for the well-typed answer to score 1; without any it scores 0 and nothing is run.

        `given` is the input of the slot, in wire form.
        """
        ...


Judge = Program | Execution
"""A program judges an answer by its oracle (`verify`), anything else by what comes of executing the answer."""


class Operator(Protocol):
    """A kind of question over executed chains.

    There is room for more of them (`Beyond both` in the design): INVERT shows the output and has one slot of the
    chain's domain, whose judge gives one trial, the chain on the answer with the output as target; INDUCE shows
    several inputs with their outputs and a listing of bricks, and its judge gives one trial a pair, the proposed
    bricks on its input. Neither needs more than `trials` of its judge.
    """

    def judges(self, chains: Sequence[Sequence[Program]], listed: Sequence[Program]) -> list[Judge]:
        """What judges each slot."""
        ...

    def slots(self, problems: Sequence[Problem]) -> list[Slot]:
        """The answers asked for, in the order of `judges`."""
        ...

    def prompt(self, problems: Sequence[Problem]) -> str:
        """The complete question with its answer line."""
        ...

    def score(self, scores: Sequence[float]) -> float:
        """The score of the whole, in [0, 1], from the scores of its slots."""
        ...
