"""The ten seed programs under the rules of admission, run directly: they are our own.

Gates L2 to L5 of `methods.md`, written here independently of `envpool/admission`.
"""

import ast
import itertools
import random
import statistics
import time
import typing
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envpool import Environment, Planted
from envpool.answers import answer_line, read, write
from envpool.contract import Recipe, render_prompt
from envpool.seeds import read_seeds
from envpool.signatures import (
    Signature,
    ValueType,
    canonical_bytes,
    check,
    from_wire,
    literal,
    to_wire,
    type_from_node,
)
from tests.envpool.values import typed_value

SOURCES = dict(read_seeds())
LEVELS = range(7)
DRAWS = range(5)


@dataclass(frozen=True)
class Drawn:
    """One instance of a seed; solution is None for nothing."""

    x: object
    reference: object
    prompt: str


class Seed:
    """A loaded seed program with the signature of its annotations."""

    def __init__(self, name: str) -> None:
        self.name = name
        scope: dict[str, typing.Any] = {}
        exec(compile(SOURCES[name], name, "exec"), scope)
        own = [value for value in scope.values() if isinstance(value, type)]
        (self.cls,) = [cls for cls in own if Environment in cls.__bases__]
        self.signature = self._signature()

    def _signature(self) -> Signature:
        (cls,) = [node for node in ast.parse(SOURCES[self.name]).body if isinstance(node, ast.ClassDef)]
        methods = {node.name: node for node in cls.body if isinstance(node, ast.FunctionDef)}
        oracle = methods.get("solve") or methods["verify"]
        domain = type_from_node(oracle.args.args[1].annotation)
        answer = oracle.returns if "solve" in methods else oracle.args.args[2].annotation
        return Signature(domain, type_from_node(answer))

    @property
    def feasible(self) -> bool:
        return "solve" not in vars(self.cls)

    def draw(self, seed: int, level: int) -> Drawn:
        """An instance as execution makes it: input through the wire, a fresh object a call."""
        drawn = self.cls().sample(Recipe(self.name, seed, level).rng(), level)
        wire = to_wire(drawn.x if isinstance(drawn, Planted) else drawn)
        solved = drawn.solution if isinstance(drawn, Planted) else self.cls().solve(from_wire(wire))
        asked = answer_line([self.signature.codomain])
        return Drawn(
            from_wire(wire),
            solved,
            render_prompt(self.cls.rule, self.cls().show(from_wire(wire)), asked),
        )

    def score(self, drawn: Drawn, answer: object) -> float:
        return self.cls().verify(from_wire(to_wire(drawn.x)), from_wire(to_wire(answer)))


@pytest.fixture(scope="module", params=sorted(SOURCES))
def seed(request: pytest.FixtureRequest) -> Seed:
    return Seed(request.param)


def test_there_are_ten_seeds_and_three_of_them_ask_for_any_valid_answer() -> None:
    seeds = [Seed(name) for name in SOURCES]
    assert len(seeds) == 10
    assert sum(seed.feasible for seed in seeds) == 3


def test_inputs_and_references_are_of_the_annotated_types(seed: Seed) -> None:
    for number, level in itertools.product(DRAWS, LEVELS):
        drawn = seed.draw(number, level)
        check(drawn.x, seed.signature.domain)
        check(drawn.reference, seed.signature.codomain)
        assert seed.cls().accepts(drawn.x)


def test_the_same_recipe_gives_the_same_instance(seed: Seed) -> None:
    for number, level in itertools.product(DRAWS, LEVELS):
        random.seed(number)
        one, two = seed.draw(number, level), Seed(seed.name).draw(number, level)
        assert one.prompt == two.prompt
        assert canonical_bytes(one.reference) == canonical_bytes(two.reference)


def test_the_reference_scores_through_the_text_of_an_answer(seed: Seed) -> None:
    for number, level in itertools.product(DRAWS, LEVELS):
        drawn = seed.draw(number, level)
        vtypes = [seed.signature.codomain]
        (answer,) = read(write([drawn.reference], vtypes), vtypes)
        assert seed.score(drawn, answer) == 1.0


def test_answers_and_inputs_vary(seed: Seed) -> None:
    drawn = [seed.draw(number, level) for number, level in itertools.product(DRAWS, range(3))]
    assert len({canonical_bytes(one.reference) for one in drawn}) >= 3
    assert len({one.prompt for one in drawn}) >= 12


def test_level_0_is_short(seed: Seed) -> None:
    drawn = [seed.draw(number, 0) for number in range(30)]
    assert max(len(one.prompt) for one in drawn) < 300
    assert max(len(literal(one.reference)) for one in drawn) <= 12


def test_each_level_is_larger_without_end(seed: Seed) -> None:
    sizes = [
        statistics.mean(len(canonical_bytes(seed.draw(number, level).x)) for number in range(20))
        for level in (*LEVELS, 10, 20, 40)
    ]
    assert all(smaller < larger for smaller, larger in itertools.pairwise(sizes))


def test_high_levels_stay_within_the_budget_of_a_call(seed: Seed) -> None:
    started = time.process_time()
    drawn = seed.draw(0, 40)
    assert seed.score(drawn, drawn.reference) == 1.0
    assert time.process_time() - started < 5  # a tenth of it is usual; a call may use 10 s


@pytest.mark.parametrize("levels", [range(3), *([level] for level in (1, 2, 3, 4, 5, 6))])
def test_guessing_does_not_pay(seed: Seed, levels: typing.Iterable[int]) -> None:
    drawn = [seed.draw(number, level) for level in levels for number in range(12)]
    pool = [one.reference for one in drawn]
    tried = [
        seed.score(one, other)
        for index, one in enumerate(drawn)
        for at, other in enumerate(pool)
        if at != index
    ]
    assert statistics.mean(tried) < 0.4
    for constant in pool:  # the best constant answer, too
        assert statistics.mean(seed.score(one, constant) for one in drawn) < 0.6
    echoes = [one for one in drawn if fits(one.x, seed.signature.codomain)]
    assert sum(seed.score(one, one.x) for one in echoes) < 0.6 * len(drawn)


def fits(value: object, vtype: ValueType) -> bool:
    try:
        check(value, vtype)
    except ValueError:
        return False
    return True


def perturbations(value: typing.Any) -> list[typing.Any]:
    """Well-typed neighbours of a reference."""
    if type(value) is int:
        return [value + 1, value - 1, -value - 1, value * 2 + 1, value + 10]
    if type(value) is list:
        changes: list[Callable[[int], list]] = [
            lambda at: [*value[:at], *value[at + 1 :]],
            lambda at: [*value[:at], value[at], *value[at:]],
            lambda at: [*value[:at], value[at] + 1, *value[at + 1 :]],
        ]
        return [change(at) for at in range(len(value)) for change in changes] + [[], value * 2]
    keys = list(value)
    dropped = [{other: value[other] for other in keys if other != key} for key in keys]
    changed = [{**value, key: value[key] + shift} for key in keys for shift in (-1, 1, 3)]
    return [*dropped, *changed, {}, {**value, max(keys) + 1: 1}]


def test_perturbed_references_do_not_score(seed: Seed) -> None:
    scores = [
        seed.score(drawn, changed)
        for drawn in (seed.draw(number, level) for number, level in itertools.product(DRAWS, LEVELS))
        for changed in perturbations(drawn.reference)
        if canonical_bytes(changed) != canonical_bytes(drawn.reference)
    ]
    assert len(scores) > 12
    assert statistics.mean(scores) < (0.25 if seed.feasible else 1e-9)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), number=st.integers(0, 10**6), level=st.integers(0, 3))
def test_verify_never_raises_on_a_well_typed_answer(
    seed: Seed, data: st.DataObject, number: int, level: int
) -> None:
    score = seed.score(seed.draw(number, level), data.draw(typed_value(seed.signature.codomain)))
    assert type(score) is float
    assert 0.0 <= score <= 1.0


def test_the_prompt_does_not_leak_the_reference(seed: Seed) -> None:
    drawn = [seed.draw(number, level) for number, level in itertools.product(DRAWS, range(3))]
    if type(drawn[0].reference) is int:
        return
    shown = [literal(one.reference) in literal(one.x) for one in drawn]
    assert not all(shown)
    for one in drawn:
        assert literal(one.reference) not in one.prompt.replace(literal(one.x), "")


def brute_force(name: str, x: typing.Any) -> object:
    """Slow and obviously right answers for the equality oracles that have a clever algorithm."""
    if name == "longest_increasing_subsequence":
        chosen = (c for k in range(len(x) + 1) for c in itertools.combinations(x, k))
        return max(len(c) for c in chosen if all(a < b for a, b in itertools.pairwise(c)))
    if name == "knapsack_value":
        limit, items = x
        chosen = (c for k in range(len(items) + 1) for c in itertools.combinations(items, k))
        return max(sum(v for _, v in c) for c in chosen if sum(w for w, _ in c) <= limit)
    if name == "chinese_remainder":
        return next(n for n in itertools.count() if all(n % m == r for m, r in x))
    if name == "grid_paths":
        return ways(x, 0, 0)
    if name == "shortest_path":
        start, goal, roads = x
        return walk(start, goal, roads, frozenset())
    raise LookupError(name)


def ways(grid: list[str], row: int, column: int) -> int:
    if row >= len(grid) or column >= len(grid[0]) or grid[row][column] == "#":
        return 0
    if (row, column) == (len(grid) - 1, len(grid[0]) - 1):
        return 1
    return ways(grid, row + 1, column) + ways(grid, row, column + 1)


def walk(at: int, goal: int, roads: list[tuple[int, int, int]], seen: frozenset[int]) -> float:
    if at == goal:
        return 0
    seen = seen | {at}
    nexts = [(b, d) for a, b, d in roads if a == at] + [(a, d) for a, b, d in roads if b == at]
    return min((d + walk(to, goal, roads, seen) for to, d in nexts if to not in seen), default=float("inf"))


CLEVER = [
    "longest_increasing_subsequence",
    "knapsack_value",
    "chinese_remainder",
    "grid_paths",
    "shortest_path",
]


@pytest.mark.parametrize("name", CLEVER)
def test_clever_oracles_agree_with_brute_force(name: str) -> None:
    seed = Seed(name)
    for number, level in itertools.product(range(10), range(3)):
        drawn = seed.draw(number, level)
        assert drawn.reference == brute_force(name, drawn.x)


@pytest.mark.parametrize(
    ("name", "x"),
    [
        ("chinese_remainder", [(4, 1), (6, 1)]),
        ("chinese_remainder", []),
        ("grid_paths", ["..", "."]),
        ("grid_paths", ["ab"]),
        ("shortest_path", (1, 3, [(1, 2, 4)])),
        ("knapsack_value", (-1, [])),
    ],
)
def test_inputs_without_an_answer_are_not_accepted(name: str, x: object) -> None:
    assert not Seed(name).cls().accepts(x)
