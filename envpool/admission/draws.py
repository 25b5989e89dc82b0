"""Gates L2 and L3: the program runs over seeds and levels, and a second process sees the same.

Invariant: everything that comes back from a child is decoded and checked against the signature here, on the
trusted side, before it is compared. L2 runs in fresh children, many calls in each; L3 on the other replica, whose hash
seed differs, in the opposite order, and for new code each call in a fork of its own: neither set order nor state kept
between calls stays hidden.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from envpool.admission.form import Candidate
from envpool.admission.verdict import Outgrown, Refusal
from envpool.contract import Recipe
from envpool.sandbox import Call, Executor, Fault, FaultKind, Mode, Result
from envpool.sandbox.executor import SECOND
from envpool.signatures import TOO_MUCH, IllegalValue, ValueType, canonical_bytes, check, from_wire, literal

_SHOWN = 80  # characters of a value in a reason


@dataclass(frozen=True, slots=True)
class Draw:
    """One instance of a candidate, decoded; the reference of a feasibility oracle is what it planted."""

    recipe: Recipe
    wire: object  # the input in wire form
    x: object
    shown: str
    reference: object

    @property
    def where(self) -> str:
        return place(self.recipe)


def place(recipe: Recipe) -> str:
    """How a reason names a draw."""
    return f"seed {recipe.seed}, level {recipe.level}"


def brief(value: object) -> str:
    """A value as a reason shows it."""
    text = literal(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


async def runs(executor: Executor, candidate: Candidate, recipes: Sequence[Recipe]) -> list[Draw]:
    """L2: samples, references and acceptance of the program's own inputs, in two fresh children."""
    await _does_run(executor, candidate, recipes)
    source = candidate.program.source
    samples = await executor.run(source, _samples(recipes), mode=Mode.SAMPLE)
    drawn = [_sample(candidate, recipe, result) for recipe, result in zip(recipes, samples, strict=True)]
    wires = [wire for wire, _, _ in drawn]
    accepts = [Call("accepts", (wire,)) for wire in wires]
    results = await executor.run(source, [*accepts, *_solves(candidate, wires)], mode=Mode.SAMPLE)
    for recipe, result in zip(recipes, results[: len(recipes)], strict=True):
        if expect(result, "accepts", recipe) is not True:
            raise Refusal(f"accepts refuses the program's own input for {place(recipe)}")
    references = _references(
        candidate, recipes, results[len(recipes) :], [planted for _, _, planted in drawn]
    )
    return [
        Draw(recipe, wire, from_wire(wire), shown, reference)
        for recipe, (wire, shown, _), reference in zip(recipes, drawn, references, strict=True)
    ]


async def _does_run(executor: Executor, candidate: Candidate, recipes: Sequence[Recipe]) -> None:
    """One draw a level, one call at a time: a program that hangs must not burn the limit in every draw."""
    source = candidate.program.source
    for recipe in {recipe.level: recipe for recipe in recipes}.values():
        (result,) = await executor.run(source, _samples([recipe]))
        wire, _, _ = _sample(candidate, recipe, result)
        for call in _solves(candidate, [wire]):
            (result,) = await executor.run(source, [call])
            expect(result, call.method, recipe)


async def repeats(
    executor: Executor, candidate: Candidate, draws: Sequence[Draw], *, mode: Mode = Mode.VALIDATE
) -> None:
    """L3: the same draws and references in another process, in the opposite order. Raises Refusal.

    In `validate` no call finds what an earlier one left, so whatever L2's calls kept from one another shows; in
    `sample` the calls share one fork, which is quicker, and shows what hangs on their order.
    """
    backwards = [*reversed(draws)]
    await _repeat(executor, candidate, backwards[:1], mode)  # one that hangs must not burn the limit in every draw
    await _repeat(executor, candidate, backwards[1:], mode)


async def _repeat(executor: Executor, candidate: Candidate, draws: Sequence[Draw], mode: Mode) -> None:
    recipes = [draw.recipe for draw in draws]
    calls = [*_samples(recipes), *_solves(candidate, [draw.wire for draw in draws])]
    results = await executor.run(candidate.program.source, calls, mode=mode, replica=SECOND)
    again = [
        _sample(candidate, recipe, result, " in a second process")
        for recipe, result in zip(recipes, results, strict=False)
    ]
    planted = [solution for _, _, solution in again]
    references = _references(candidate, recipes, results[len(recipes) :], planted)
    for draw, (wire, shown, _), reference in zip(draws, again, references, strict=True):
        _same("input", draw, draw.x, from_wire(wire))
        _same("shown text", draw, draw.shown, shown)
        _same("answer", draw, draw.reference, reference)


def expect(result: Result, method: str, recipe: Recipe, suffix: str = "") -> object:
    """The value of a call that must not fail. Raises Refusal."""
    if isinstance(result, Fault):
        said = f"{method} fails{suffix} for {place(recipe)}: {result.kind}: {result.detail}"
        raise Outgrown(recipe.level, said) if _is_too_large(result) else Refusal(said)
    return result.value


def _is_too_large(fault: Fault) -> bool:
    """Whether it speaks of a value's size. Not of time, which is another on each machine: where a level takes too long,
    the one below may be near it.
    """
    too_large = fault.kind is FaultKind.ILLEGAL_VALUE and fault.detail.startswith(TOO_MUCH)
    return too_large or fault.kind is FaultKind.OUTPUT_LIMIT


def checked(wire: object, vtype: ValueType, what: str, recipe: Recipe) -> object:
    """The decoded value, checked. Raises Refusal."""
    try:
        value = from_wire(wire)
        check(value, vtype)
    except IllegalValue as error:
        raise Refusal(f"{what} for {place(recipe)} is illegal: {error}") from error
    return value


def _samples(recipes: Sequence[Recipe]) -> list[Call]:
    return [Call("sample", (recipe.key(), recipe.level)) for recipe in recipes]


def _solves(candidate: Candidate, wires: Sequence[object]) -> list[Call]:
    if candidate.program.oracle == "feasibility":
        return []
    return [Call("solve", (wire,)) for wire in wires]


def _sample(
    candidate: Candidate, recipe: Recipe, result: Result, suffix: str = ""
) -> tuple[object, str, object]:
    """Input in wire form, shown text, planted solution in wire form."""
    drawn = expect(result, "sample", recipe, suffix)
    if not isinstance(drawn, dict) or not {"input", "planted", "shown"} <= drawn.keys():
        raise Refusal(f"a sample without its parts for {place(recipe)}")
    checked(drawn["input"], candidate.domain, "the input", recipe)
    if not isinstance(drawn["shown"], str):
        raise Refusal(f"the shown input for {place(recipe)} is no text")
    return drawn["input"], drawn["shown"], drawn["planted"]


def _references(
    candidate: Candidate, recipes: Sequence[Recipe], solved: Sequence[Result], planted: Sequence[object]
) -> list[object]:
    if candidate.program.oracle == "feasibility":
        wires = list(planted)
    else:
        wires = [expect(result, "solve", recipe) for result, recipe in zip(solved, recipes, strict=True)]
    return [
        checked(wire, candidate.codomain, "the answer", recipe)
        for wire, recipe in zip(wires, recipes, strict=True)
    ]


def _same(what: str, draw: Draw, first: object, second: object) -> None:
    if canonical_bytes(first) != canonical_bytes(second):
        raise Refusal(
            f"{what} differs between two processes for {draw.where}: {brief(first)} and {brief(second)}"
        )
