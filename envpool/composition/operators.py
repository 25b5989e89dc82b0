"""Operators: how executed chains become one prompt with answer slots, and slot scores become one score.

Invariant: everything here is a pure function of the problems given, so the same problems make the same
prompt byte for byte, and a score lies in [0, 1]. Nothing is executed here: `envpool.execution` runs the
chains and judges the slots. The texts are short because small models read them. SORT and SELECT are in
`ordering`.
"""

from collections.abc import Sequence
from itertools import pairwise, takewhile

from envpool.answers import answer_line
from envpool.composition.ordering import Select, Sort
from envpool.composition.problems import Judge, Operator, Problem, Slot
from envpool.contract import render_prompt
from envpool.members import Program
from envpool.signatures import from_wire, literal, parse_type


class Single:
    """One program by itself: its rule, its input, its own score."""

    def judges(self, chains: Sequence[Sequence[Program]], listed: Sequence[Program]) -> list[Judge]:
        return [chain[-1] for chain in chains]

    def slots(self, problems: Sequence[Problem]) -> list[Slot]:
        return [Slot(each.steps[-1].codomain, each.values[-2], each.values[-1]) for each in problems]

    def prompt(self, problems: Sequence[Problem]) -> str:
        (problem,) = problems
        return render_prompt(problem.steps[0].rule, problem.shown, _answer_line(self.slots(problems)))

    def score(self, scores: Sequence[float]) -> float:
        return scores[0]


class Sequential:
    """RACES, SEQUENTIAL: one chain, every step's output asked; the longest correct prefix scores k/t."""

    def judges(self, chains: Sequence[Sequence[Program]], listed: Sequence[Program]) -> list[Judge]:
        return list(chains[0])

    def slots(self, problems: Sequence[Problem]) -> list[Slot]:
        (problem,) = problems
        steps = zip(problem.steps, pairwise(problem.values), strict=True)
        return [Slot(step.codomain, x, y) for step, (x, y) in steps]

    def prompt(self, problems: Sequence[Problem]) -> str:
        (problem,) = problems
        opening = "Do these steps in order. The result of a step is the input of the next. Give every result."
        return render_prompt(
            f"{opening}\n{_numbered(problem.steps)}", problem.shown, _answer_line(self.slots(problems))
        )

    def score(self, scores: Sequence[float]) -> float:
        prefix = sum(1 for _ in takewhile(_is_correct, scores))
        return prefix / len(scores)


class Parallel(Single):
    """RACES, PARALLEL: several independent problems in one prompt; the share of correct answers scores."""

    def prompt(self, problems: Sequence[Problem]) -> str:
        stated = [f"Problem {n}: {_statement(problem)}" for n, problem in enumerate(problems, 1)]
        opening = "Solve each problem by itself."
        return "\n\n".join([opening, *stated, _answer_line(self.slots(problems))])

    def score(self, scores: Sequence[float]) -> float:
        return sum(map(_is_correct, scores)) / len(scores)


SINGLE: Operator = Single()
OPERATORS: dict[str, Operator] = {
    "SEQUENTIAL": Sequential(),
    "PARALLEL": Parallel(),
    "SORT": Sort(),
    "SELECT": Select(),
}


def questions(problem: Problem) -> list[str]:
    """Each step as the prompt that its program by itself would make of the same input."""
    later = [literal(from_wire(value)) for value in problem.values[1:]]
    steps = zip(problem.steps, [problem.shown, *later], pairwise(problem.values), strict=False)
    return [SINGLE.prompt([Problem((step,), shown, values)]) for step, shown, values in steps]


def _is_correct(score: float) -> bool:
    return score == 1.0


def _answer_line(slots: Sequence[Slot]) -> str:
    return answer_line([parse_type(slot.answer_type) for slot in slots])


def _numbered(steps: Sequence[Program]) -> str:
    return "\n".join(f"Step {n}: {step.rule}" for n, step in enumerate(steps, 1))


def _statement(problem: Problem) -> str:
    if len(problem.steps) == 1:
        return f"{problem.steps[0].rule}\nInput: {problem.shown}"
    opening = "Do these steps in order. The result of a step is the input of the next. Give the last result."
    return f"{opening}\n{_numbered(problem.steps)}\nInput: {problem.shown}"
