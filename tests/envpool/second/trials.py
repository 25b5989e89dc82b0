"""Inputs that bricks are tried with: drawn at every level, and passed on by other bricks of the same type.

Invariant: everything here is decided by the bricks' own samplers and by fixed seeds, so every run tries the same.
Nothing here reads a brick's source as anything but text for the sandbox.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from envpool.bricks import read_bricks
from envpool.composition.chains import SearchSettings
from envpool.contract import Recipe
from envpool.sandbox import Call, Sandbox, Value
from envpool.signatures import from_wire, literal, wire_bytes

LEVELS = range(6)
PASSED_ON_BY_A_BRICK = 4
"""Values a level that each brick gives to the bricks whose domain is its codomain."""


@dataclass(frozen=True, slots=True)
class Brick:
    """What a second author may know of a brick, and the text that a sandbox runs."""

    name: str
    rule: str
    domain: str
    codomain: str
    source: str

    @property
    def topic(self) -> str:
        return self.name.partition("/")[0]


def values(sandbox: Sandbox, brick: Brick, calls: list[Call]) -> list[Any]:
    """What the brick answers, in wire form; a fault fails the test that asked."""
    results = sandbox.run(brick.source, calls)
    assert all(isinstance(result, Value) for result in results), (brick.name, results)
    return [result.value for result in results if isinstance(result, Value)]


def inspected(sandbox: Sandbox, chosen: Iterable[str] | None = None) -> list[Brick]:
    """The shipped bricks, or those chosen by name or pattern. Raises UnknownBrick."""
    return [_inspected(sandbox, *each) for each in read_bricks(chosen)]


def _inspected(sandbox: Sandbox, name: str, source: str) -> Brick:
    (facts,) = values(sandbox, Brick(name, "", "", "", source), [Call("inspect")])
    return Brick(name, facts["rule"], facts["domain"], facts["codomain"], source)


def drawn(sandbox: Sandbox, brick: Brick, count: int, series: str = "drawn") -> dict[int, list[Any]]:
    """Inputs of each level, in wire form, none twice; at most `count`, fewer where the sampler repeats itself."""
    recipes = [Recipe(f"{brick.name}/{series}", seed, level) for level in LEVELS for seed in range(count)]
    samples = values(sandbox, brick, [Call("sample", (each.key(), each.level)) for each in recipes])
    by_level: dict[int, dict[bytes, Any]] = {level: {} for level in LEVELS}
    for recipe, sample in zip(recipes, samples, strict=True):
        by_level[recipe.level].setdefault(wire_bytes(sample["input"]), sample["input"])
    return {level: list(inputs.values()) for level, inputs in by_level.items()}


def solved(sandbox: Sandbox, brick: Brick, inputs: Iterable[Any]) -> list[Any]:
    """The brick's own answers, in wire form."""
    return values(sandbox, brick, [Call("solve", (x,)) for x in inputs])


@dataclass(frozen=True, slots=True)
class Passed:
    """A value that a brick passes on in a chain, in wire form."""

    by: str
    type_text: str
    value: Any


def passed_on(sandbox: Sandbox, bricks: Iterable[Brick]) -> list[Passed]:
    """Outputs of the bricks, as short as a chain wants them; of inputs that `drawn` by itself does not give."""
    longest = SearchSettings().max_literal
    passed = []
    for brick in bricks:
        inputs = drawn(sandbox, brick, PASSED_ON_BY_A_BRICK, "passed on").values()
        outputs = solved(sandbox, brick, [x for level in inputs for x in level])
        short = [output for output in outputs if len(literal(from_wire(output))) <= longest]
        passed += [Passed(brick.name, brick.codomain, output) for output in short]
    return passed


def accepted(sandbox: Sandbox, brick: Brick, passed: Iterable[Passed], count: int) -> list[Any]:
    """Up to `count` values of other bricks that this one accepts, none twice, taken evenly from all of them."""
    fitting = [each.value for each in passed if each.type_text == brick.domain and each.by != brick.name]
    offered = list({wire_bytes(x): x for x in fitting}.values())
    verdicts = values(sandbox, brick, [Call("accepts", (x,)) for x in offered])
    taken = [x for x, verdict in zip(offered, verdicts, strict=True) if verdict]
    return taken[:: max(1, -(-len(taken) // count))]
