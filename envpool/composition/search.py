"""Frontier search: randomised breadth first from concrete inputs, over bricks whose types fit (RACES).

A search runs with all its bricks in one child. A step that is killed is tried once more with one brick a child and, if
it is killed again, never more, or in this search no more where only the clock killed it; the search starts again from
its seed in a new child, on the same walk up to there.
Where one brick a child contradicts what the bricks together said, a brick falsifies its neighbours; then every search
has one brick a child, until one of the bricks has left. Now and then some steps that did not run are tried for it, too.
Invariant: the walk is decided by the random generator, the quotas and the weights alone, so the same seed finds the
same chains, whether kills are known before or met; only a kill by a clock could differ between machines. What a search
gives has run, but in a child that a brick could have turned hostile: `confirmed` is what may be kept. The search makes
no members.
"""

import logging
import math
import random
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace

from envpool.composition.apart import apart
from envpool.composition.chains import Chain, SearchSettings, State
from envpool.composition.extension import Extender
from envpool.composition.quotas import Quotas
from envpool.composition.together import Node, Task, Told, Untrue, described, together
from envpool.contract import Recipe
from envpool.frontier import START, Edge, Plan, weighted
from envpool.members import Member, Program
from envpool.sandbox.executor import Executor
from envpool.sandbox.results import FaultKind
from envpool.sandbox.wire import MAX_BUNDLE
from envpool.signatures import wire_bytes

log = logging.getLogger(__name__)

BRICKS_A_SEARCH = 600
"""Of a larger pool each search draws so many by their weights, so that its price does not grow with the pool (ours)."""
IN_COMPANY = frozenset({FaultKind.CPU_LIMIT, FaultKind.MEM_LIMIT})
"""What may end a step in company and not alone: there a step is let less time, and its memory is shared."""
UNEXPLAINED = 12
"""Steps of one search that end so, after which bricks are taken to falsify their neighbours (ours)."""
HEARINGS = 0.25
"""Share of the searches after which steps that did not run are tried with one brick a child (ours): it takes as long
as half the search."""
HEARD = 4
"""Bricks, of those that ran elsewhere in the search, of which a step is tried so (ours)."""
SILENCED = 2
"""Of them run then, after which a brick is taken to silence its neighbours: one may have met the limit of lines."""


class FrontierSearch:
    """Finds chains of bricks by running them."""

    def __init__(self, executor: Executor, bricks: Sequence[Member], settings: SearchSettings) -> None:
        self._settings = settings
        self._executor = executor
        self._extender = Extender(executor, settings)
        self._distrusted: frozenset[str] = frozenset()
        self.distrust = ""
        """Why its searches have one brick a child; empty while they do not."""
        self.use(bricks)

    def use(self, bricks: Sequence[Member], weight: Callable[[str], float] | None = None) -> None:
        """Search over these programs from now on, except those held out and those that import packages, which are not
        there where programs run together; killed edges stay killed.

        `weight` of an id, 0 or above, multiplies what is left of its quota: how likely it is tried (1 where not given).
        """
        programs = [brick.material for brick in bricks if not (brick.held_out or brick.may_use_packages)]
        usable = [program for program in programs if isinstance(program, Program)]
        self._bricks = {program.id: program for program in sorted(usable, key=lambda program: program.id)}
        self._weights = {id: _checked_weight(id, weight(id)) if weight else 1.0 for id in self._bricks}
        if not self._distrusted <= self._bricks.keys():
            self._distrusted, self.distrust = frozenset(), ""

    @property
    def bricks(self) -> list[str]:
        """The ids that are searched over, in order."""
        return list(self._bricks)

    @property
    def killed_edges(self) -> frozenset[tuple[str, str]]:
        """Pairs (brick, next brick) that ended in a kill, for good; "" stands before a first brick."""
        return frozenset(self._extender.killed)

    @property
    def is_apart(self) -> bool:
        """Whether its searches have one brick a child, because bricks in one child falsified each other."""
        return bool(self._distrusted)

    async def chains(
        self, rng: random.Random, starts: Sequence[Recipe], quotas: Quotas, longest: int | None = None
    ) -> AsyncIterator[Chain]:
        """Chains in order of size, from the inputs that the recipes draw; a recipe's program comes first.

        The caller spends the quotas, on the chains it takes, and keeps only what is `confirmed`. Raises
        InfrastructureFault from the executor.
        """
        depth = min(longest or self._settings.depth, self._settings.depth)
        found = _chains(await self._nodes(self._task(rng, starts, quotas, depth)))
        rng.shuffle(found)
        for chain in sorted(found, key=lambda chain: chain.size):
            yield chain

    async def confirmed(self, chains: Sequence[Chain]) -> list[Chain | None]:
        """Each chain as its bricks compute it with one brick a child, or None where they do not.

        Its siblings are those that run on one of its states. Raises InfrastructureFault from the executor.
        """
        along = await self._along([self._steps(chain) for chain in chains])
        for chain, states in zip(chains, along, strict=True):
            if not _same(chain, states):
                self._refute(chain)
                states.clear()
        siblings = await self._siblings(chains, along)
        return [
            replace(chain, siblings=siblings[n]) if states else None
            for n, (chain, states) in enumerate(zip(chains, along, strict=True))
        ]

    def _task(self, rng: random.Random, starts: Sequence[Recipe], quotas: Quotas, depth: int) -> Task:
        seed = rng.getrandbits(64)
        weights = {id: quotas.remaining(id) * weight for id, weight in self._weights.items()}
        bricks = self._drawn(rng, [start.member for start in starts if start.member in weights], weights)
        places = {brick.id: place for place, brick in enumerate(bricks)}
        known = [start for start in starts if start.member in places]
        plan = Plan(
            seed=seed,
            domains=tuple(brick.domain for brick in bricks),
            codomains=tuple(brick.codomain for brick in bricks),
            functions=tuple(brick.oracle == "equality" for brick in bricks),
            weights=tuple(weights[id] for id in places),
            starts=tuple(places[start.member] for start in known),
            skipped=frozenset(),
            depth=depth,
            expansions=self._settings.expansions,
            frontier=self._settings.frontier,
        )
        return Task(bricks, plan, tuple(known), self._settings)

    def _drawn(
        self, rng: random.Random, starts: Sequence[str], weights: dict[str, float]
    ) -> tuple[Program, ...]:
        """The bricks of one search, in the order of their ids: those of the starts, and others by their weights."""
        ids = list(self._bricks)
        others = weighted(rng, [(weights[id], n) for n, id in enumerate(ids) if weights[id] > 0])
        chosen: dict[str, int] = {}
        room = MAX_BUNDLE - 1
        for id in dict.fromkeys([*starts, *(ids[n] for n in others)]):
            room -= len(described(self._bricks[id])) + 1
            if len(chosen) == BRICKS_A_SEARCH or room < 0:
                break
            chosen[id] = room
        return tuple(brick for id, brick in self._bricks.items() if id in chosen)

    async def _nodes(self, task: Task) -> list[Node]:
        """The steps that ran in a search in which none was killed."""
        unexplained: set[tuple[str, str]] = set()
        self._extender.late.clear()
        while not self._distrusted:
            try:
                told = await together(self._executor, task.without(self._extender.ended | unexplained))
            except Untrue as lie:
                self._distrust(str(lie))
                break
            known = self._extender.ended
            if told.stopped is None or told.fault is None:
                await self._hear(task, told)
                if self._distrusted or self._extender.ended != known:
                    continue
                return told.nodes
            # The extender notes it where it ends again.
            await self._along([_way(task, told.nodes, told.stopped)])
            pair = task.pair(told.stopped, told.nodes)
            if pair not in self._extender.ended:
                unexplained.add(pair)
                if told.fault.kind not in IN_COMPANY or len(unexplained) == UNEXPLAINED:
                    self._distrust(
                        f"{pair[1]} behind {pair[0]!r} ended ({told.fault}), and does not end alone"
                    )
        nodes: list[Node] = []
        before = None
        while before != self._extender.ended:
            before = self._extender.ended
            nodes = await apart(self._extender, task.without(before))
        return nodes

    async def _hear(self, task: Task, told: Told) -> None:
        """Now and then tries some steps that did not run with one brick a child: a neighbour may have silenced them."""
        rng = random.Random(task.plan.seed)
        if rng.random() >= HEARINGS:
            return
        ran = {node.brick.id for node in told.nodes}
        ways: dict[str, tuple[Recipe, list[Program]]] = {}
        for edge in rng.sample(told.missed, len(told.missed)):
            _, brick = task.pair(edge, told.nodes)
            if len(ways) < HEARD and brick in ran:
                ways.setdefault(brick, _way(task, told.nodes, edge))
        along = await self._along(list(ways.values()))
        heard = [
            brick
            for (brick, (_, steps)), states in zip(ways.items(), along, strict=True)
            if len(states) == len(steps)
        ]
        if len(heard) >= SILENCED:
            self._distrust(f"{' and '.join(heard)} run alone where they do not in company")

    async def _along(self, chains: Sequence[tuple[Recipe, Sequence[Program]]]) -> list[list[State]]:
        """The states along each chain, with one brick a child, as far as its steps run."""
        starts = [(steps[0], recipe) for recipe, steps in chains if steps]
        begun = iter(await self._extender.begin(starts))
        along = [[state] if steps and (state := next(begun)) else [] for _, steps in chains]
        for depth in range(1, max((len(steps) for _, steps in chains), default=0)):
            alive = [n for n, (_, steps) in enumerate(chains) if len(along[n]) == depth < len(steps)]
            reached = await self._extender.extend([(along[n][-1], chains[n][1][depth]) for n in alive])
            for n, state in zip(alive, reached, strict=True):
                along[n] += [state] if state else []
        return along

    def _steps(self, chain: Chain) -> tuple[Recipe, list[Program]]:
        """What a chain is recomputed from; no steps where a brick has left."""
        steps = [self._bricks[id] for id in chain.members if id in self._bricks]
        return chain.start, steps if len(steps) == chain.size else []

    async def _siblings(
        self, chains: Sequence[Chain], along: Sequence[Sequence[State]]
    ) -> list[tuple[str, ...]]:
        """Of each chain those siblings that run on one of the states along it."""
        edges = [
            (n, state, brick)
            for n, chain in enumerate(chains)
            for id in chain.siblings
            if (brick := self._bricks.get(id)) is not None
            for state in along[n]
            if state.path[-1].codomain == brick.domain
        ]
        reached = await self._extender.extend([(state, brick) for _, state, brick in edges])
        ran = {(n, brick.id) for (n, _, brick), state in zip(edges, reached, strict=True) if state}
        return [tuple(id for id in chain.siblings if (n, id) in ran) for n, chain in enumerate(chains)]

    def _refute(self, chain: Chain) -> None:
        pairs = zip(("", *chain.members), chain.members, strict=False)
        if self._bricks.keys() >= set(chain.members) and self._extender.ended.isdisjoint(pairs):
            self._distrust(f"the chain {' '.join(chain.members)} is not what its bricks say one by one")

    def _distrust(self, why: str) -> None:
        if not self._distrusted:
            self.distrust = why
            log.warning(
                "a brick falsifies its neighbours, so each has a child of its own from now on: %s", why
            )
        self._distrusted = frozenset(self._bricks)


def _same(chain: Chain, states: Sequence[State]) -> bool:
    if len(states) != chain.size:
        return False
    return tuple(map(wire_bytes, chain.values)) == states[-1].traces[0].keys


def _chains(nodes: Sequence[Node]) -> list[Chain]:
    """The chain that ends at each node."""
    after: dict[int, list[str]] = defaultdict(list)
    for node in nodes:
        after[node.before].append(node.brick.id)
    found = []
    for number, node in enumerate(nodes):
        path = [*_path(nodes, number), number]
        members = tuple(nodes[each].brick.id for each in path)
        beside = dict.fromkeys(id for each in path for id in after[each] if id not in members)
        values = tuple(value for each in path for value in nodes[each].brought)
        first = nodes[path[0]].brick
        found.append(Chain(members, first.domain, node.brick.codomain, values, tuple(beside), node.start))
    return found


def _way(task: Task, nodes: Sequence[Node], edge: Edge) -> tuple[Recipe, list[Program]]:
    """What is run to come to a step and through it."""
    node, number = edge
    if node == START:
        return task.recipes[number], [task.bricks[task.plan.starts[number]]]
    path = [*_path(nodes, node), node]
    return nodes[node].start, [*(nodes[each].brick for each in path), task.bricks[number]]


def _path(nodes: Sequence[Node], number: int) -> list[int]:
    """The nodes before a node, in order."""
    path: list[int] = []
    while (number := nodes[number].before) != START:
        path.insert(0, number)
    return path


def _checked_weight(id: str, weight: float) -> float:
    if not 0 <= weight < math.inf:
        raise ValueError(f"the weight of {id} must be a finite number of 0 or above, not {weight}")
    return weight
