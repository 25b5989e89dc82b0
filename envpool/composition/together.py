"""A search with all its bricks in one child: the job, and reading what the child told.

Invariant: the child is not believed. The walk is taken again here, so what it can tell of a step is only whether it ran
and what it brought, and that is checked against the declared types. A brick may still have falsified its neighbours:
what is kept is recomputed (`search.FrontierSearch.confirmed`). Nothing here decides what a fault means.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from envpool.composition.chains import SearchSettings
from envpool.composition.extension import drawn_from
from envpool.contract import Recipe
from envpool.frontier import START, Edge, Plan, Walk
from envpool.members import Program
from envpool.returned import ProgramFault, checked
from envpool.sandbox.executor import SECOND, Executor
from envpool.sandbox.results import Call, Fault, Mode, Result
from envpool.signatures import literal

KILLS_OF_A_BRICK = 3
"""Bricks behind which one ends in a kill before it is tried behind no other any more (ours)."""
LINES = 100_000
"""Lines of its own that a brick may execute in one call while searching (ours): five times the most of a shipped brick
at level 5, a hundredth of the CPU time of the net."""
REPLICA = SECOND
"""The zygote for searches: another than that of rewards, which shall not wait, and of what is recomputed."""


class Untrue(Exception):
    """The child told what no honest walk can give."""


@dataclass(frozen=True, slots=True)
class Node:
    """A step that ran."""

    before: int
    """The node that it extended, or START."""
    brick: Program
    brought: tuple[object, ...]
    """In wire form: the output on the concrete input, and before it that input where it is a start."""
    start: Recipe
    """What the concrete input was drawn with."""


@dataclass(frozen=True, slots=True)
class Task:
    """One search: its bricks, its walk over them, and the recipes of its starts."""

    bricks: tuple[Program, ...]
    plan: Plan
    recipes: tuple[Recipe, ...]
    settings: SearchSettings

    def pair(self, edge: Edge, nodes: Sequence[Node]) -> tuple[str, str]:
        """An edge as ids: the brick behind which it stands, "" before a first one, and its brick."""
        node, number = edge
        if node == START:
            return "", self.bricks[self.plan.starts[number]].id
        return nodes[node].brick.id, self.bricks[number].id

    def without(self, pairs: set[tuple[str, str]]) -> "Task":
        """The same search that tries none of these pairs, and no brick that stands last in `KILLS_OF_A_BRICK`."""
        places = {brick.id: place for place, brick in enumerate(self.bricks)} | {"": START}
        skipped = {(places[a], places[b]) for a, b in pairs if a in places and b in places}
        kills = Counter(brick for _, brick in pairs if brick in places)
        for brick, count in kills.items():
            if count >= KILLS_OF_A_BRICK:
                skipped |= {(before, places[brick]) for before in places.values()}
        return replace(self, plan=replace(self.plan, skipped=frozenset(skipped)))


@dataclass(frozen=True, slots=True)
class Told:
    """What a child told until its search ended, or until the edge at which it stopped."""

    nodes: list[Node]
    missed: list[Edge]
    """The steps that did not run."""
    stopped: Edge | None = None
    fault: Fault | None = None


async def together(executor: Executor, task: Task) -> Told:
    """The search in one child. Raises Untrue, and InfrastructureFault from the executor."""
    call = Call("search", (_plan(task),))
    *steps, end = await executor.run(_bundle(task), [call], mode=Mode.SEARCH, replica=REPLICA)
    nodes: list[Node] = []
    missed: list[Edge] = []
    told = iter(steps)
    for edge in _walked(task, nodes):
        step = next(told, None)
        if step is None and isinstance(end, Fault):
            return Told(nodes, missed, edge, end)
        brought = _brought(step)
        if brought:
            nodes.append(_node(task, edge, nodes, brought))
        else:
            missed.append(edge)
    if isinstance(end, Fault) or next(told, None) is not None:
        raise Untrue("it went on after its last step")
    return Told(nodes, missed)


def _walked(task: Task, nodes: list[Node]) -> Iterator[Edge]:
    """The edges of the walk; one has run where `nodes` has grown before the next is asked for."""
    walk = Walk(task.plan)
    for edges in walk.levels():
        for edge in edges:
            before = len(nodes)
            yield edge
            if len(nodes) > before:
                walk.ran(edge)


def _brought(step: Result | None) -> tuple[object, ...]:
    if step is None or isinstance(step, Fault) or not isinstance(step.value, list):
        raise Untrue("a step is missing")
    return tuple(step.value)


def _node(task: Task, edge: Edge, nodes: Sequence[Node], brought: tuple[object, ...]) -> Node:
    """The node that a step made, if its values can be those of its brick."""
    node, number = edge
    brick = task.bricks[task.plan.starts[number] if node == START else number]
    types = (brick.domain, brick.codomain) if node == START else (brick.codomain,)
    if len(brought) != len(types):
        raise Untrue(f"a step of {brick.id} with {len(brought)} values")
    try:
        values = [checked(brick.id, *each) for each in zip(brought, types, strict=True)]
    except ProgramFault as fault:
        raise Untrue(str(fault)) from fault
    if any(len(literal(value)) > task.settings.max_literal for value in values):
        raise Untrue(f"a step of {brick.id} with a long value")
    return Node(node, brick, brought, task.recipes[number] if node == START else nodes[node].start)


def _bundle(task: Task) -> str:
    return f"[{','.join(map(described, task.bricks))}]"


@lru_cache(maxsize=8192)
def described(brick: Program) -> str:
    """A brick as JSON, as a bundle has it."""
    return json.dumps(
        {name: getattr(brick, name) for name in ("source", "name", "domain", "codomain", "oracle")}
    )


def _plan(task: Task) -> dict[str, object]:
    plan, settings = task.plan, task.settings
    draws = [drawn_from(recipe, settings) for recipe in task.recipes]
    return {
        "seed": plan.seed,
        "weights": list(plan.weights),
        "starts": list(plan.starts),
        "draws": [[[recipe.key(), recipe.level] for recipe in recipes] for recipes in draws],
        "skipped": sorted(map(list, plan.skipped)),
        "depth": plan.depth,
        "expansions": plan.expansions,
        "frontier": plan.frontier,
        "agreeing": settings.agreeing,
        "max_literal": settings.max_literal,
        "lines": LINES,
    }
