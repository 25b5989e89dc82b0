"""The walk of a frontier search: bounded, decided by its seed, and the same up to a step that is passed over."""

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import takewhile

from hypothesis import given
from hypothesis import strategies as st

from envpool.frontier import START, Edge, Plan, Trace, Walk, agreed, weighted

TYPES = ("int", "str", "list[int]")


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    count = draw(st.integers(1, 12))
    each = {"min_size": count, "max_size": count}
    return Plan(
        seed=draw(st.integers(0, 2**64 - 1)),
        domains=tuple(draw(st.lists(st.sampled_from(TYPES), **each))),
        codomains=tuple(draw(st.lists(st.sampled_from(TYPES), **each))),
        functions=tuple(draw(st.lists(st.booleans(), **each))),
        weights=tuple(draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 30.0]), **each))),
        starts=tuple(draw(st.lists(st.integers(0, count - 1), max_size=5))),
        skipped=frozenset(),
        depth=draw(st.integers(1, 5)),
        expansions=draw(st.integers(1, 4)),
        frontier=draw(st.integers(1, 4)),
    )


def taken(plan: Plan, runs: Callable[[Edge], bool] = lambda edge: True) -> list[tuple[tuple[int, ...], Edge]]:
    """Each edge of the walk behind the path that it extends."""
    walk = Walk(plan)
    paths: list[tuple[int, ...]] = []
    edges = []
    for level in walk.levels():
        for edge in level:
            node, number = edge
            path = () if node == START else paths[node]
            edges.append((path, edge))
            if runs(edge):
                walk.ran(edge)
                paths.append((*path, plan.starts[number] if node == START else number))
    return edges


def half(edge: Edge) -> bool:
    return sum(edge) % 2 == 0


@given(plans())
def test_the_same_plan_takes_the_same_walk(plan: Plan) -> None:
    assert taken(plan, half) == taken(plan, half)


@given(plans())
def test_every_step_fits_and_no_brick_comes_twice(plan: Plan) -> None:
    for path, (node, number) in taken(plan):
        if node == START:
            continue
        assert plan.codomains[path[-1]] == plan.domains[number]
        assert plan.functions[path[-1]] and plan.functions[number]
        assert plan.weights[number] > 0
        assert number not in path
        assert len(path) < plan.depth


@given(plans())
def test_a_level_has_no_more_edges_than_its_bounds_allow(plan: Plan) -> None:
    depths = [len(path) for path, _ in taken(plan)]
    for depth in range(1, plan.depth):
        assert depths.count(depth) <= plan.frontier * plan.expansions


@given(plans(), st.data())
def test_up_to_a_step_that_is_passed_over_the_walk_stays_as_it_was(plan: Plan, data: st.DataObject) -> None:
    whole = taken(plan, half)
    if not whole:
        return
    path, (node, number) = data.draw(st.sampled_from(whole))
    pair = (START, plan.starts[number]) if node == START else (path[-1], number)
    without = replace(plan, skipped=frozenset({pair}))

    def is_other(step: tuple[tuple[int, ...], Edge]) -> bool:
        before, (node, number) = step
        return pair != ((START, plan.starts[number]) if node == START else (before[-1], number))

    kept = list(takewhile(is_other, whole))
    again = taken(without, half)
    assert again[: len(kept)] == kept
    assert all(map(is_other, again))


@given(st.integers(), st.lists(st.floats(1e-3, 1e3), max_size=20))
def test_a_weighted_order_has_every_candidate_once(seed: int, weights: list[float]) -> None:
    order = weighted(random.Random(seed), [(weight, n) for n, weight in enumerate(weights)])
    assert sorted(order) == list(range(len(weights)))


def test_a_heavy_candidate_mostly_comes_first() -> None:
    first = [weighted(random.Random(seed), [(1.0, 0), (9.0, 1)])[0] for seed in range(1000)]
    assert 850 < sum(first) < 950


def trace(*values: int) -> Trace:
    return Trace(values, tuple(str(value).encode() for value in values))


def test_a_step_must_run_on_the_concrete_draw_and_on_enough_others() -> None:
    assert agreed([trace(1, 2), trace(2, 3)], 2) == (trace(1, 2), trace(2, 3))
    assert agreed([None, trace(2, 3), trace(3, 4)], 2) is None
    assert agreed([trace(1, 2), None], 2) is None


def test_a_step_must_bring_something_new_and_tell_inputs_apart() -> None:
    assert agreed([trace(1, 2, 1), trace(2, 3, 4)], 2) is None
    assert agreed([trace(1, 5), trace(2, 5)], 2) is None
    assert agreed([trace(1, 5), trace(1, 5)], 2) is not None
