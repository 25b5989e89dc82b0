"""Random composites of shipped bricks, by walks of their own: neither the search nor the composer has a part in them.

Invariant: the random generator decides everything. A walk's steps run on all its inputs, and no value comes twice.
"""

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from envpool.composition.fusion import fuse
from envpool.contract import Instance, Recipe, seeded
from envpool.execution import Examiner
from envpool.members import Composite, Member, OperatorName, Origin
from envpool.returned import ProgramFault
from envpool.signatures import canonical_bytes, literal
from tests.envpool.composition.in_process import Brick, InProcessExecutor, Refused

OPERATORS: tuple[OperatorName, ...] = ("SEQUENTIAL", "PARALLEL", "SORT", "SELECT")
SIZES = range(2, 7)
LEVELS = range(3)
INPUTS = 2
"""Inputs of each level; a walk runs on all of them at once."""
SHORT = 80
DISTRACTORS = 2


@dataclass(frozen=True)
class Walk:
    """Bricks one after the other, and for each input the values on the way."""

    steps: tuple[Brick, ...]
    traces: tuple[tuple[object, ...], ...]


@dataclass(frozen=True)
class Posed:
    """A composite, a question it makes, and who judges the answers."""

    composite: Member
    instance: Instance
    examiner: Examiner


class Composites:
    """Draws members that are composites of the given bricks."""

    def __init__(self, bricks: Sequence[Brick]) -> None:
        self._bricks = list(bricks)
        self._members = {brick.id: brick.member for brick in bricks}
        self._executor = InProcessExecutor()
        self._by_domain: defaultdict[str, list[Brick]] = defaultdict(list)
        for brick in bricks:
            self._by_domain[brick.program.domain].append(brick)

    async def posed(self, rng: random.Random, operator: OperatorName, size: int) -> Posed:
        """A composite of so many bricks with an instance of it; one that hardly ever runs is passed over."""
        while True:
            composite = self.draw(rng, operator, size)
            examiner = Examiner(self._executor, (self._members | {composite.id: composite}).__getitem__)
            try:
                instance = await examiner.build(Recipe(composite.id, rng.getrandbits(32), rng.choice(LEVELS)))
            except ProgramFault as fault:
                assert fault.member == composite.id, fault
            else:
                return Posed(composite, instance, examiner)

    def draw(self, rng: random.Random, operator: OperatorName, size: int) -> Member:
        """A composite of so many bricks."""
        while True:
            found = (
                self._parallel(rng, size) if operator == "PARALLEL" else self._chained(rng, operator, size)
            )
            if found is not None:
                return Member(found, Origin.COMPOSER, found.parts)

    def _parallel(self, rng: random.Random, size: int) -> Composite | None:
        problems: list[Walk] = []
        used: set[str] = set()
        while len(used) < size:
            longest = min(2, size - len(used), size - 1)
            walk = self._walk(rng, rng.randint(1, longest))
            if walk is None or not used.isdisjoint(step.id for step in walk.steps):
                return None
            problems.append(walk)
            used |= {step.id for step in walk.steps}
        return fuse("PARALLEL", [[step.program for step in walk.steps] for walk in problems])

    def _chained(self, rng: random.Random, operator: OperatorName, size: int) -> Composite | None:
        walk = self._walk(rng, size)
        if walk is None:
            return None
        chain = [step.program for step in walk.steps]
        if operator != "SELECT":
            return fuse(operator, [chain])
        others = self._distractors(rng, walk)
        return fuse(operator, [chain], [each.program for each in others]) if others else None

    def _walk(self, rng: random.Random, size: int) -> Walk | None:
        """A walk of this size, or None where one that was begun does not go on."""
        first = rng.choice(self._bricks)
        recipes = [Recipe(first.name, rng.getrandbits(32), level) for level in LEVELS for _ in range(INPUTS)]
        drawn = [first.environment().sample(seeded(each.key()), each.level) for each in recipes]
        walk = self._grown(Walk((), tuple((x,) for x in drawn)), first)
        while walk is not None and len(walk.steps) < size:
            options = [
                each for each in self._by_domain[walk.steps[-1].program.codomain] if each not in walk.steps
            ]
            grown = (self._grown(walk, each) for each in rng.sample(options, len(options)))
            walk = next((each for each in grown if each is not None), None)
        return walk

    def _grown(self, walk: Walk, brick: Brick) -> Walk | None:
        traces = []
        for trace in walk.traces:
            try:
                y = brick.apply(trace[-1])
            except Refused:
                return None
            if len(literal(y)) > SHORT or canonical_bytes(y) in map(canonical_bytes, trace):
                return None
            traces.append((*trace, y))
        return Walk((*walk.steps, brick), tuple(traces))

    def _distractors(self, rng: random.Random, walk: Walk) -> list[Brick]:
        """Bricks that run on a value of each trace and give the last one on none."""
        domains = {step.program.domain for step in walk.steps}
        options = [
            each for domain in sorted(domains) for each in self._by_domain[domain] if each not in walk.steps
        ]
        fitting = (each for each in rng.sample(options, len(options)) if _distracts(each, walk))
        return [each for each, _ in zip(fitting, range(DISTRACTORS), strict=False)]


def _distracts(brick: Brick, walk: Walk) -> bool:
    for trace in walk.traces:
        outputs = []
        for x in trace[:-1]:
            try:
                outputs.append(canonical_bytes(brick.apply(x)))
            except Refused:
                continue
        if not outputs or canonical_bytes(trace[-1]) in outputs:
            return False
    return True
