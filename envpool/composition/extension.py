"""Extending states of the search by running bricks on their values, online.

Invariant: a state that comes back has run: every step was accepted and gave a legal, short value on the
concrete input and on enough of the other draws, its last value is new on the concrete input, and it depends
on the input where the inputs differ. Each brick runs in children of its own, so that none can falsify what
another says. What fails is dropped on the spot; an edge that ended in a kill is noted in `killed`, or in `late` where
the clock ended it. Nothing here chooses what to extend.
"""

import asyncio
from collections import defaultdict
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from envpool.composition.chains import SearchSettings, State
from envpool.contract import Recipe
from envpool.frontier import Trace, agreed
from envpool.members import Program
from envpool.returned import VALUE_FAULTS, ProgramFault, accepted_and_solved, checked, sampled
from envpool.sandbox.executor import Executor
from envpool.sandbox.results import Call, Fault, Result
from envpool.signatures import canonical_bytes, literal

BRICKS_AT_ONCE = 4
"""Bricks that run at the same time: fewer than a sandbox keeps children, so none is forked twice at a depth."""

T = TypeVar("T")


class Extender:
    """Runs bricks on the values of states: two round trips for each brick, however many states there are."""

    def __init__(self, executor: Executor, settings: SearchSettings) -> None:
        self._executor = executor
        self._settings = settings
        self.killed: set[tuple[str, str]] = set()
        """Edges (brick, next brick) that ended in a kill; "" stands before a first brick."""
        self.late: set[tuple[str, str]] = set()
        """Edges that the clock ended: where the machine has more time they might run, so they are not for good."""

    @property
    def ended(self) -> set[tuple[str, str]]:
        """Edges that ended in a kill, of either kind."""
        return self.killed | self.late

    async def begin(self, starts: Sequence[tuple[Program, Recipe]]) -> list[State | None]:
        """The state after each brick on its own inputs, or None where there is none."""
        return await _few_at_once([self._begin(*start) for start in starts])

    async def _begin(self, brick: Program, recipe: Recipe) -> State | None:
        calls = [Call("sample", (each.key(), each.level)) for each in drawn_from(recipe, self._settings)]
        results = await self._executor.run(brick.source, calls)
        drawn = [self._drawn(brick, result) for result in results]
        if self._was_killed("", brick, results) or drawn[0] is None:
            return None
        traces = tuple(trace for trace in drawn if trace is not None)
        if brick.oracle == "feasibility":
            return State((brick,), traces)
        (state,) = await self._through(brick, [State((), traces)])
        return state

    async def extend(self, edges: Sequence[tuple[State, Program]]) -> list[State | None]:
        """The state behind each edge, or None where it did not run."""
        by_brick: dict[str, list[int]] = defaultdict(list)
        for index, (_, brick) in enumerate(edges):
            by_brick[brick.id].append(index)
        groups = list(by_brick.values())
        runs = [self._through(edges[group[0]][1], [edges[i][0] for i in group]) for group in groups]
        reached: dict[int, State | None] = {}
        for group, states in zip(groups, await _few_at_once(runs), strict=True):
            reached.update(zip(group, states, strict=True))
        return [reached[index] for index in range(len(edges))]

    async def _through(self, brick: Program, states: Sequence[State]) -> list[State | None]:
        """Each state extended by the brick, or None."""
        inputs = [trace.values[-1] for state in states for trace in state.traces]
        results = iter(await accepted_and_solved(self._run, brick, inputs))
        return [self._reached(brick, state, [next(results) for _ in state.traces]) for state in states]

    async def _run(self, brick: Program, calls: Sequence[Call]) -> list[Result]:
        return await self._executor.run(brick.source, calls)

    def _reached(self, brick: Program, state: State, results: Sequence[Result]) -> State | None:
        if self._was_killed(state.path[-1].id if state.path else "", brick, results):
            return None
        grown = [self._grown(brick, *pair) for pair in zip(state.traces, results, strict=True)]
        traces = agreed(grown, self._settings.agreeing)
        return State((*state.path, brick), traces) if traces else None

    def _was_killed(self, before: str, brick: Program, results: Sequence[Result]) -> bool:
        """Whether a result is a kill; notes the edge if so."""
        kills = [each for each in results if isinstance(each, Fault) and each.kind not in VALUE_FAULTS]
        if kills:
            (self.late if all(each.by_clock for each in kills) else self.killed).add((before, brick.id))
        return bool(kills)

    def _grown(self, brick: Program, trace: Trace, result: Result) -> Trace | None:
        if isinstance(result, Fault):
            return None
        return self._then(trace, brick.id, result.value, brick.codomain)

    def _drawn(self, brick: Program, result: Result) -> Trace | None:
        try:
            shown, x, planted = sampled(brick, result)
        except ProgramFault:
            return None
        if len(shown) > self._settings.max_literal:
            return None
        trace = self._then(Trace((), ()), brick.id, x, brick.domain)
        if trace is None or brick.oracle != "feasibility":
            return trace
        return self._then(trace, brick.id, planted, brick.codomain)

    def _then(self, trace: Trace, member: str, wire: object, type_text: str) -> Trace | None:
        """The trace with one more value, if that is legal and short."""
        try:
            value = checked(member, wire, type_text)
        except ProgramFault:
            return None
        if len(literal(value)) > self._settings.max_literal:
            return None
        return trace.then(wire, canonical_bytes(value))


def drawn_from(recipe: Recipe, settings: SearchSettings) -> list[Recipe]:
    """The draws that travel together: attempts of a recipe, the first the concrete one."""
    return [replace(recipe, attempt=recipe.attempt + n) for n in range(settings.draws)]


async def _few_at_once(runs: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    turns = asyncio.Semaphore(BRICKS_AT_ONCE)

    async def turn(run: Coroutine[Any, Any, T]) -> T:
        async with turns:
            return await run

    return list(await asyncio.gather(*map(turn, runs)))
