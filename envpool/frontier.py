"""Frontier search as rules: what a walk tries next, and what counts as a step that ran (RACES, arXiv 2606.12373).

Loaded inside the sandbox's child as well as outside, so that a search with all bricks in one child and a search with
one brick a child take the same walk; standard library only. Everything is a pure function of the walk's seed and of
which steps ran. Nothing here runs anything.
"""

import random
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

START = -1
"""Where a first step comes from; elsewhere stands the number of a node."""

Edge = tuple[int, int]
"""A step to try: the number of a node, and of the brick that is to extend it."""


@dataclass(frozen=True, slots=True)
class Trace:
    """One draw on its way through a chain."""

    values: tuple[object, ...]
    """In wire form: the input, then each step's output."""
    keys: tuple[bytes, ...]
    """Canonical bytes of the same values."""

    def then(self, wire: object, key: bytes) -> "Trace":
        """The trace one step on."""
        return Trace((*self.values, wire), (*self.keys, key))

    @property
    def repeats(self) -> bool:
        """Whether the last value has been there before: the step, or a loop of steps, did nothing."""
        return self.keys[-1] in self.keys[:-1]


def agreed(grown: Sequence[Trace | None], agreeing: int) -> tuple[Trace, ...] | None:
    """The draws that a step took on, or None where it is no step of a chain; the first is the concrete one.

    A step must run on the concrete input and bring it something new, run on `agreeing` draws in all, and not give one
    output for inputs that differ.
    """
    traces = tuple(trace for trace in grown if trace is not None)
    if grown[0] is None or grown[0].repeats or len(traces) < agreeing or _constant(traces):
        return None
    return traces


def _constant(traces: Sequence[Trace]) -> bool:
    return len({trace.keys[-2] for trace in traces}) > 1 and len({trace.keys[-1] for trace in traces}) == 1


@dataclass(frozen=True, slots=True)
class Plan:
    """All that decides a walk. Bricks are known by their places in `domains`, `codomains` and `weights`."""

    seed: int
    domains: tuple[str, ...]
    codomains: tuple[str, ...]
    functions: tuple[bool, ...]
    """Whether a brick has one right output, as a step inside a chain must."""
    weights: tuple[float, ...]
    """How likely a brick is tried, against the others that fit; those of weight 0 never are."""
    starts: tuple[int, ...]
    """The brick of each start; one may stand there several times."""
    skipped: frozenset[Edge]
    """Pairs (brick, next brick) that are not tried; `START` stands before a first brick."""
    depth: int
    expansions: int
    frontier: int


class Walk:
    """The choices of one search. Whoever drives it goes through `edges` and reports each step that ran by `ran`,
    before the next edge is taken.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._rng = random.Random(plan.seed)
        self._paths: list[tuple[int, ...]] = []
        self._fitting: dict[str, list[int]] = defaultdict(list)
        for brick, domain in enumerate(plan.domains):
            if plan.functions[brick] and plan.weights[brick] > 0:
                self._fitting[domain].append(brick)

    def levels(self) -> Iterator[list[Edge]]:
        """The edges of each depth in turn, first the starts: (START, place among the starts).

        Those of a depth hang on what was reported of the one before.
        """
        plan = self._plan
        skipped = plan.skipped
        yield [(START, n) for n, brick in enumerate(plan.starts) if (START, brick) not in skipped]
        begun = 0
        for _ in range(plan.depth - 1):
            nodes = list(range(begun, len(self._paths)))
            begun = len(self._paths)
            yield self._edges(nodes)

    def ran(self, edge: Edge) -> int:
        """Notes that a step ran; the number of the node behind it."""
        node, brick = edge
        self._paths.append((self._plan.starts[brick],) if node == START else (*self._paths[node], brick))
        return len(self._paths) - 1

    def _edges(self, nodes: list[int]) -> list[Edge]:
        """What to try next from some of the nodes, chosen at random; the others end here."""
        self._rng.shuffle(nodes)
        inner = [node for node in nodes if self._plan.functions[self._paths[node][-1]]]
        return [
            (node, brick) for node in inner[: self._plan.frontier] for brick in self._next(self._paths[node])
        ]

    def _next(self, path: tuple[int, ...]) -> list[int]:
        """Bricks to try behind a path: they fit, are not in it yet, and their edge is not skipped.

        A skipped edge is passed over only after all were drawn, so that skipping one leaves the walk up to there as
        it was.
        """
        plan, last = self._plan, path[-1]
        fitting = [brick for brick in self._fitting.get(plan.codomains[last], ()) if brick not in path]
        drawn = weighted(self._rng, [(plan.weights[brick], brick) for brick in fitting])
        return [brick for brick in drawn if (last, brick) not in plan.skipped][: plan.expansions]


def weighted(rng: random.Random, candidates: Collection[tuple[float, int]]) -> list[int]:
    """All candidates in a random order that prefers large weights; every weight must be above 0."""
    # Keys u^(1/w), largest first: a weighted draw without replacement (Efraimidis and Spirakis, 2006).
    keys = [(rng.random() ** (1 / weight), candidate) for weight, candidate in candidates]
    return [candidate for _, candidate in sorted(keys, reverse=True)]
