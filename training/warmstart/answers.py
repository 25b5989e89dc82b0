"""Worked examples of solving: questions of the training side of the split, each with the reference as its answer.

Invariant: no question is one that a run is evaluated on: those of held-out families are left out by behaviour, those
of training families by the hash that splits instances. Programs run in the sandbox alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from envpool.admission import form
from envpool.admission.verdict import Refusal
from envpool.answers import write
from envpool.contract import Instance, Recipe
from envpool.execution import Examiner, ProgramFault
from envpool.generation import Grammar
from envpool.generation.lessons import STREAM, Lesson, teachable
from envpool.members import Member, Origin
from envpool.novelty.fingerprint import fingerprint
from envpool.sandbox import Executor
from envpool.shipped import Shipped
from envpool.signatures import from_wire, parse_type

FIRST_SEED = 1 << 61
"""Of the questions of lessons; runs draw theirs elsewhere."""
LEVELS = (0, 0, 0, 1)
"""Of a program's questions, in turn: level 0 is what a small policy is asked first."""


@dataclass(frozen=True, slots=True)
class Known:
    """A program that may be asked, and what tells its copies."""

    member: Member
    behaviour: str


async def solving_lessons(
    executor: Executor, shipped: Sequence[Shipped], grammar: int, seed: int, each: int
) -> list[list[Lesson]]:
    """Lessons of each program that can be asked: shipped equality programs and `grammar` ones of the grammar.

    Raises InfrastructureFault.
    """
    known = [(item, await _known(executor, item.source, item.origin)) for item in shipped]
    apart = {found.behaviour for item, found in known if found and item.held_out}
    written = [await _known(executor, source, Origin.GRAMMAR) for source in _stream(seed, grammar)]
    asked = [found for item, found in known if found and not item.held_out]
    asked += [found for found in written if found]
    lessons = [
        await _lessons(executor, found.member, each, seed) for found in asked if found.behaviour not in apart
    ]
    return [of_one for of_one in lessons if of_one]


def _stream(seed: int, count: int) -> list[str]:
    """Other programs than the lessons of writing have."""
    grammar = Grammar(2 * STREAM + seed)
    proposals = (grammar.proposal(k) for k in itertools.count())
    return [each.source for each in itertools.islice(filter(teachable, proposals), count)]


async def _known(executor: Executor, source: str, origin: Origin) -> Known | None:
    try:
        candidate = await form.read(executor, source)
    except Refusal:
        return None
    if candidate.program.oracle != "equality":
        return None  # it has no single right answer to show
    behaviour = await fingerprint(executor, candidate.program, candidate.normal)
    return Known(Member(candidate.program, origin), behaviour)


async def _lessons(executor: Executor, member: Member, each: int, seed: int) -> list[Lesson]:
    examiner = Examiner(executor, lambda _: member)
    first = FIRST_SEED + seed * each
    recipes = [Recipe(member.id, first + k, LEVELS[k % len(LEVELS)]) for k in range(each)]
    try:
        drawn = [await examiner.build_split(recipe, held_out=False) for recipe in recipes]
    except ProgramFault:
        return []
    return list(dict.fromkeys(_lesson(instance) for instance in drawn if instance is not None))


def _lesson(instance: Instance) -> Lesson:
    values = [from_wire(reference) for reference in instance.references]
    return Lesson(instance.prompt, write(values, [parse_type(text) for text in instance.answer_types]))
