"""The generator that needs no language model: it writes rule and source together from typed parts.

Invariant: proposal k of seed s is the same text on every machine, so a run that resumes goes on where it
stopped by keeping the position alone. Nothing here is executed: whether a program is worth having, admission says.
The design (typed parts, one table for clause and code) is ours.
"""

import json
import random
import textwrap
from dataclasses import dataclass

from envpool.contract import seeded
from envpool.generation.parts import PARTS, Kind, Part, PartKind
from envpool.generation.samplers import Sampler, sampler_for

_LENGTHS = (1, 1, 2, 2, 2, 3)  # parts to a program; one part alone is what a very small model can do
_TRIES = 200
_ANSWERS = {
    Kind.NUMBERS: "The answer is the resulting list.",
    Kind.WORDS: "The answer is the resulting list.",
    Kind.TEXT: "The answer is the resulting text.",
    Kind.LABEL: "The answer is the resulting text.",
    Kind.NUMBER: "The answer is the resulting number.",
    Kind.TRUTH: "The answer is true or false.",
}
_GIVING = (PartKind.AGGREGATE, PartKind.COUNT)  # their clause already says what the answer is


@dataclass(frozen=True, slots=True)
class Step:
    """A part with its free place filled."""

    part: Part
    choice: int | str | None

    @property
    def key(self) -> str:
        return self.part.key if self.choice is None else f"{self.part.key}_{self.choice}"

    def fill(self, template: str, variable: str = "") -> str:
        return template.replace("{v}", variable).replace("{k}", str(self.choice))


@dataclass(frozen=True, slots=True)
class Proposal:
    """A candidate program and the parts it was written from."""

    source: str
    notes: tuple[str, ...]


class Grammar:
    """A stream of programs over list[int], list[str], str and int; `seed` names the stream."""

    def __init__(self, seed: int, position: int = 0) -> None:
        self._seed = seed
        self.position = position

    def write(self, count: int) -> list[Proposal]:
        """The next `count` proposals; some repeat, and a repeat is for admission to find."""
        first, self.position = self.position, self.position + count
        return [self.proposal(k) for k in range(first, first + count)]

    def proposal(self, k: int) -> Proposal:
        """Proposal number `k` of the stream."""
        rng = seeded(f"grammar:{self._seed}:{k}")
        steps = draw_steps(rng)
        sampler = sampler_for(steps[0].part.takes, rng)
        return Proposal(write_source(steps, sampler), tuple(step.key for step in steps))


def draw_steps(rng: random.Random) -> list[Step]:
    """A chain of one to three parts whose types fit and that is no obvious detour."""
    for _ in range(_TRIES):
        steps = _walk(rng, rng.choice(_LENGTHS))
        if steps:
            return steps
    raise RuntimeError(f"no chain of parts in {_TRIES} tries; the table of parts is broken")


def _walk(rng: random.Random, length: int) -> list[Step]:
    kind = rng.choice((Kind.NUMBERS, Kind.WORDS, Kind.TEXT, Kind.NUMBER))
    parts: list[Part] = []
    for place in range(length):
        last = place == length - 1
        fitting = [part for part in PARTS if part.takes == kind and _extends(parts, part, last)]
        if not fitting:
            return []
        parts.append(rng.choice(fitting))
        kind = parts[-1].gives
    return [Step(part, rng.choice(part.choices) if part.choices else None) for part in parts]


def _extends(before: list[Part], part: Part, last: bool) -> bool:
    if part.gives.terminal and not last:
        return False
    if not before:
        return part.alone or not last
    if part in before or any(part.does is PartKind.ORDER is other.does for other in before):
        return False
    if part.spans and any(other.grows for other in before):
        return False
    # Sorting what is then summed is a longer text for the same environment.
    return part.ordered or before[-1].does is not PartKind.ORDER


def write_source(steps: list[Step], sampler: Sampler) -> str:
    """The program of a chain of steps."""
    domain, codomain = steps[0].part.takes.annotation, steps[-1].part.gives.annotation
    imports = sorted({"random", *(step.part.imports for step in steps if step.part.imports)})
    methods = [
        _method(f"sample(self, rng: random.Random, level: int) -> {domain}", sampler.body),
        _method(f"solve(self, x: {domain}) -> {codomain}", _solution(steps)),
    ]
    if sampler.accepts:
        methods.append(_method(f"accepts(self, x: {domain}) -> bool", (f"return {sampler.accepts}",)))
    return (
        "".join(f"import {name}\n" for name in imports)
        + "\nfrom envpool import Environment\n\n\n"
        + f"class {_class_name(steps)}(Environment):\n{_rule(rule_text(steps, sampler))}"
        + "".join(methods)
    )


def _method(header: str, body: tuple[str, ...]) -> str:
    return f"\n    def {header}:\n" + "".join(f"        {line}\n" for line in body)


def _solution(steps: list[Step]) -> tuple[str, ...]:
    variables = ["x", "first", "second"]
    lines = [
        f"{variables[place + 1]} = {step.fill(step.part.code, variables[place])}"
        for place, step in enumerate(steps[:-1])
    ]
    return (*lines, f"return {steps[-1].fill(steps[-1].part.code, variables[len(steps) - 1])}")


def rule_text(steps: list[Step], sampler: Sampler) -> str:
    """The rule in English: what the input is, one clause a part, what the answer is."""
    clauses = [step.fill(step.part.clause) for step in steps]
    if len(clauses) == 1:
        sentences = [clauses[0][0].upper() + clauses[0][1:] + "."]
    else:
        words = ("First", "Then", "Finally") if len(clauses) == 3 else ("First", "Then")
        sentences = [f"{word} {clause}." for word, clause in zip(words, clauses, strict=True)]
    final = steps[-1].part
    if final.does not in _GIVING:
        sentences.append(_ANSWERS[final.gives])
    return " ".join((sampler.sentence, *sentences))


def _rule(text: str) -> str:
    pieces = textwrap.wrap(text, 84)
    spaced = [f"{piece} " for piece in pieces[:-1]] + pieces[-1:]
    return "    rule = (\n" + "".join(f"        {json.dumps(piece)}\n" for piece in spaced) + "    )\n"


def _class_name(steps: list[Step]) -> str:
    return "".join(word.capitalize() for step in steps for word in step.key.split("_"))
