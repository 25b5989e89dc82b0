"""Inputs that bricks are tried with: drawn at every level, and passed on by other bricks of the same type.

Invariant: everything here is decided by the bricks' own samplers and by fixed seeds, so every run tries the same. The
bricks run in this process, because they are our own and there are many.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from envpool.composition.chains import SearchSettings
from envpool.contract import Recipe
from envpool.signatures import canonical_bytes, literal
from tests.envpool.composition.in_process import Brick

LEVELS = range(6)
SMALLEST: dict[str, list[object]] = {"int": [0, -1, -12], "str": ["", "a"], "list": [[]], "dict": [{}]}
"""By kind of type, values at its edge."""
PASSED_ON_BY_A_BRICK = 4
"""Inputs a level of which each brick gives its outputs to the bricks whose domain is its codomain."""


def drawn(brick: Brick, count: int, series: str = "drawn") -> dict[int, list[object]]:
    """Inputs of each level, none twice; at most `count`, fewer where the sampler repeats itself."""
    by_level = {}
    for level in LEVELS:
        recipes = [Recipe(f"{brick.name}/{series}", seed, level) for seed in range(count)]
        by_level[level] = different(brick.environment().sample(each.rng(), level) for each in recipes)
    return by_level


def different(found: Iterable[object]) -> list[object]:
    """The values in their order, each once."""
    return list({canonical_bytes(x): x for x in found}.values())


@dataclass(frozen=True, slots=True)
class Passed:
    """A value that a brick passes on in a chain."""

    by: str
    type_text: str
    value: object


def passed_on(bricks: Iterable[Brick]) -> list[Passed]:
    """Outputs of the bricks, as short as a chain wants them; of inputs that `drawn` by itself does not give."""
    longest = SearchSettings().max_literal
    passed = []
    for brick in bricks:
        inputs = drawn(brick, PASSED_ON_BY_A_BRICK, "passed on").values()
        outputs = [brick.apply(x) for level in inputs for x in level]
        short = [output for output in outputs if len(literal(output)) <= longest]
        passed += [Passed(brick.name, brick.program.codomain, output) for output in short]
    return passed


def accepted(brick: Brick, passed: Iterable[Passed], count: int) -> list[object]:
    """Up to `count` values of other bricks that this one accepts, none twice, taken evenly from all of them."""
    fitting = [
        each.value for each in passed if each.type_text == brick.program.domain and each.by != brick.name
    ]
    return evenly([x for x in different(fitting) if brick.environment().accepts(x)], count)


def refused(brick: Brick, passed: Iterable[Passed], count: int) -> list[object]:
    """Up to `count` values of its type that it does not accept: empty and negative ones, and of other bricks."""
    fitting = [each.value for each in passed if each.type_text == brick.program.domain]
    smallest = SMALLEST.get(brick.domain.kind, [])
    refusing = [x for x in different([*smallest, *fitting]) if not brick.environment().accepts(x)]
    return refusing[: len(smallest)] + evenly(refusing[len(smallest) :], count)


def evenly(values: list[object], count: int) -> list[object]:
    """At most so many of them, taken evenly."""
    return values[:: max(1, -(-len(values) // count))]
