"""Twelve kinds of wrong answer to questions of every operator and size, held against what each deserves.

What an answer deserves is worked out here, from the brick classes and not from the code that scores.
"""

import random
from collections.abc import Callable, Sequence

import pytest

from envpool.answers import write
from envpool.composition.ordering import meet
from envpool.contract import Outcome, Scored, Unparsed
from envpool.members import Composite, OperatorName
from envpool.signatures import canonical_bytes, from_wire, parse_type, to_wire
from tests.envpool.composition.in_process import Brick, Endless, Refused, bricks
from tests.envpool.composition.random_composites import OPERATORS, SIZES, Composites, Posed

QUESTIONS = 20
"""Of each operator and size."""
ORDER = [parse_type("list[int]")]
BY_ID = {brick.id: brick for brick in bricks()}
BY_RULE = {brick.program.rule: brick for brick in bricks()}


def other(value: object) -> object:
    """A value of the same type that is another one."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return value + "x"
        case tuple():
            return (other(value[0]), *value[1:])
        case list():
            return value[:-1] if value else None
        case dict():
            return dict(list(value.items())[:-1]) if value else None
    raise TypeError(f"no value: {value!r}")


class Slots:
    """A question with an answer line for each step or problem."""

    def __init__(self, posed: Posed) -> None:
        self.types = [parse_type(text) for text in posed.instance.answer_types]
        self.right = [from_wire(wire) for wire in posed.instance.references]
        self.operator = posed.composite.material.operator  # type: ignore[union-attr]

    def text(self, answers: Sequence[object]) -> str:
        """The answer, without the lines of those that are None."""
        lines = write([r if a is None else a for a, r in zip(answers, self.right, strict=True)], self.types)
        kept = [line for n, line in enumerate(lines.split("\n")[1:-1]) if answers[n] is not None]
        return "<answer>\n" + "\n".join(kept) + "\n</answer>"

    def but(self, *places: int) -> list[object]:
        """The right answers, but wrong ones at these places."""
        wrong = {place % len(self.right) for place in places}
        return [other(value) if place in wrong else value for place, value in enumerate(self.right)]

    def deserves(self, answers: Sequence[object]) -> float:
        """The share of right answers; for SEQUENTIAL of those before the first wrong one."""
        right = [
            answer is not None and canonical_bytes(answer) == canonical_bytes(value)
            for answer, value in zip(answers, self.right, strict=True)
        ]
        counted = right.index(False) if self.operator == "SEQUENTIAL" and False in right else sum(right)
        return counted / len(right)


WRONG_SLOTS: dict[str, Callable[[Slots], list[object]]] = {
    "the first is wrong": lambda q: q.but(0),
    "the last is wrong": lambda q: q.but(-1),
    "the middle is wrong": lambda q: q.but(len(q.right) // 2),
    "all but the first are wrong": lambda q: q.but(*range(1, len(q.right))),
    "all but the last are wrong": lambda q: q.but(*range(len(q.right) - 1)),
    "all are wrong": lambda q: q.but(*range(len(q.right))),
    "every other one is wrong": lambda q: q.but(*range(0, len(q.right), 2)),
    "the first is missing": lambda q: [None, *q.right[1:]],
    "the last is missing": lambda q: [*q.right[:-1], None],
}


class Ordered:
    """A question that asks for an order."""

    def __init__(self, posed: Posed) -> None:
        composite = posed.composite.material
        assert isinstance(composite, Composite)
        lines = [line.partition(": ") for line in posed.instance.prompt.splitlines()]
        self.listed = [BY_RULE[rule] for number, _, rule in lines if number.isdigit()]
        (self.right,) = (list(from_wire(wire)) for wire in posed.instance.references)  # type: ignore[call-overload]
        self.x, self.y = from_wire(posed.instance.inputs[0])  # type: ignore[misc]
        self.domain, self.codomain = composite.domain, composite.codomain
        self.beside = [n for n in range(1, len(self.listed) + 1) if n not in self.right]

    def text(self, order: Sequence[int]) -> str:
        return write([list(order)], ORDER)

    def deserves(self, order: Sequence[int]) -> float | None:
        """1 for a right number of different steps that lead to the output, None where a step never ends, else 0."""
        named = [number for number in dict.fromkeys(order) if 1 <= number <= len(self.listed)]
        if len(named) < len(order) or len(order) != len(self.right):
            return 0.0
        steps = [self.listed[number - 1] for number in named]
        try:
            return float(self._fits(steps) and self._leads_to_the_output(steps))
        except Endless:
            return None

    def _fits(self, steps: Sequence[Brick]) -> bool:
        """Whether the types let it be run at all, so that it may be found not to end."""
        given = [self.domain, *(step.program.codomain for step in steps)]
        wanted = [*(step.program.domain for step in steps), self.codomain]
        return all(meet(parse_type(a), parse_type(b)) for a, b in zip(given, wanted, strict=True))

    def _leads_to_the_output(self, steps: Sequence[Brick]) -> bool:
        value = self.x
        for step in steps:
            try:
                value = from_wire(to_wire(step.proposed(value)))
            except Endless:
                raise
            except Refused:
                return False
        return canonical_bytes(value) == canonical_bytes(self.y)

    def swapped(self, a: int, b: int) -> list[int]:
        order = list(self.right)
        order[a], order[b] = order[b], order[a]
        return order


WRONG_ORDERS: dict[str, Callable[[Ordered], list[int]]] = {
    "no steps": lambda q: [],
    "the last is missing": lambda q: q.right[:-1],
    "the first is missing": lambda q: q.right[1:],
    "one comes twice instead of another": lambda q: [q.right[0], *q.right[:-1]],
    "one comes twice besides": lambda q: [*q.right, q.right[-1]],
    "counted from zero": lambda q: [number - 1 for number in q.right],
    "a number that is not there": lambda q: [*q.right[:-1], len(q.listed) + 1],
    "the first two are swapped": lambda q: q.swapped(0, 1),
    "the last two are swapped": lambda q: q.swapped(-2, -1),
    "backwards": lambda q: q.right[::-1],
    "in the order shown": lambda q: list(range(1, len(q.right) + 1)),
    "all that is shown": lambda q: [*q.right, *(q.beside or [1])],
    "a distractor at the end": lambda q: [*q.right[:-1], *(q.beside or [0])[:1]],
    "a distractor first": lambda q: [*(q.beside or [0])[-1:], *q.right[1:]],
}

NO_ANSWERS: dict[str, Callable[[str], str]] = {
    "no tag": lambda right: right.replace("<answer>", "").replace("</answer>", ""),
    "no end": lambda right: right.replace("</answer>", ""),
    "words": lambda right: "<answer>I do not know, sorry</answer>",
}


async def posed(operator: OperatorName, size: int) -> list[Posed]:
    rng = random.Random(f"{operator} {size}")
    composites = Composites(bricks())
    return [await composites.posed(rng, operator, size) for _ in range(QUESTIONS)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("operator", OPERATORS)
async def test_reference_answers_score_one_and_twelve_kinds_of_wrong_answers_what_they_deserve(
    operator: OperatorName, size: int
) -> None:
    kinds = WRONG_ORDERS if operator in ("SORT", "SELECT") else WRONG_SLOTS
    assert len(kinds) + len(NO_ANSWERS) >= 12
    for each in await posed(operator, size):
        question = Ordered(each) if operator in ("SORT", "SELECT") else Slots(each)
        right = question.text(question.right)
        assert await scored(each, right) == Scored(1.0)
        for kind, wrong in kinds.items():
            answer = wrong(question)  # type: ignore[arg-type]
            deserved = question.deserves(answer)
            told = await scored(each, question.text(answer))
            assert (told.score if isinstance(told, Scored) else None) == deserved, (kind, answer)
            assert deserved != 1 or isinstance(question, Ordered), kind  # several orders may do
        for kind, spoil in NO_ANSWERS.items():
            told = await scored(each, spoil(right))
            assert isinstance(told, Unparsed) or told == Scored(0.0), kind
            assert isinstance(told, Unparsed) or kind == "words", kind


async def scored(posed: Posed, response: str) -> Outcome:
    return await posed.examiner.score(posed.instance, response)
