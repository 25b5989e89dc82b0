"""The composer: members made of members, out of chains that ran.

Invariant: every proposal is new by its exact key, among all that this composer has made and all that
`known` knows; it has run, its instances were built readily from recipes, and each part's use is counted against its
quota. Its evidence has the level that this holds at and, where an order is asked for, its guess rate, safely within the
limit of its operator. The composer admits nothing.
"""

import logging
import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Protocol

from envpool.composition.candidates import Candidate, candidates, left_by_guessing
from envpool.composition.chains import Chain, SearchSettings
from envpool.composition.distractors import killed, objection, tried
from envpool.composition.guess_rates import GUESS_LIMITS, guess_rate, hopeless, proposals
from envpool.composition.instances import instances_of
from envpool.composition.quotas import Quotas
from envpool.composition.search import FrontierSearch
from envpool.contract import Recipe, seeded
from envpool.members import ORDERED, Composite, Member, OperatorName, Origin, Program
from envpool.sandbox.executor import Executor
from envpool.sandbox.results import Call, Result

log = logging.getLogger(__name__)

STARTS_A_WAVE = 16
PATIENCE = 6
"""Waves in a row without a single proposal before fewer than asked for are returned (ours)."""
PARTICULAR = 4
"""Of them, those before a SORT of three steps or more is made of a chain of which only two orders fit (ours)."""
QUOTA_SLACK = 2
"""A brick's quota over its equal share of all uses (ours)."""
LOOKS_A_WAVE = 4
"""Candidates of one kind that are looked into in a wave, at most (ours)."""

PARALLEL_TRIES = 8
"""Random sets of problems among which a guide chooses (ours)."""

Kind = tuple[OperatorName, int]
"""Operator and size of a composite."""


class Guide(Protocol):
    """What is preferred, where composites are not to be random."""

    def weight(self, program: str) -> float:
        """How much a program is preferred as a step, 0 or above: it multiplies what is left of its quota."""
        ...

    def nearness(self, operator: OperatorName, steps: Sequence[str]) -> float:
        """How much a composite of these steps is preferred; the most preferred one is made."""
        ...


@dataclass(frozen=True, slots=True)
class ComposerSettings:
    """What is composed; values are ours where the paper leaves them open."""

    operators: tuple[OperatorName, ...] = ("SEQUENTIAL", "PARALLEL", "SORT", "SELECT")
    min_size: int = 2
    max_size: int = 4
    """Environments in a composite (RACES, t: 2 to 6 studied, about 5 best for strong models)."""
    level: int = 0
    """Level of the inputs the search starts from, and of those that guess rates are measured on."""
    search: SearchSettings = field(default_factory=SearchSettings)
    distractors: int = 4
    """Steps that SELECT shows beside those of its chain, where the search found so many."""


class Composer:
    """Proposes composites over the bricks; same seed, bricks and `known`, same proposals."""

    def __init__(
        self,
        executor: Executor,
        bricks: Sequence[Member],
        settings: ComposerSettings | None = None,
        *,
        seed: int = 0,
        known: Callable[[str], bool] = lambda id: False,
    ) -> None:
        self._settings = settings or ComposerSettings()
        self._executor = executor
        self._search = FrontierSearch(executor, bricks, self._settings.search)
        self._seed = seed
        self._known = known
        self._made: set[str] = set()
        self._unfit: set[str] = set()
        """Composites that were looked into and are not to be made."""
        self._waves = 0
        self.use(bricks)

    def use(self, bricks: Sequence[Member], guide: Guide | None = None) -> None:
        """Compose over these programs from now on, at random (RACES) or as the guide prefers.

        One that does not have the level that chains begin at is left out.
        """
        self._guide = guide
        bricks = [each for each in bricks if each.level_within(self._settings.level) == self._settings.level]
        self._search.use(bricks, guide.weight if guide else None)
        self._members = {brick.id: brick for brick in bricks}
        programs = {id: self._members[id].material for id in self._search.bricks}
        self._programs = {id: each for id, each in programs.items() if isinstance(each, Program)}

    @property
    def distrust(self) -> str:
        """Why each brick has a child of its own in searches: one falsifies its neighbours; empty while none does."""
        return self._search.distrust

    async def propose(self, n: int, sizes: Sequence[int] | None = None) -> list[Member]:
        """Up to n new composites, each of a size drawn from `sizes` (default: the settings' range).

        Fewer, where the bricks give no more. Raises InfrastructureFault from the executor.
        """
        sizes = sizes or range(self._settings.min_size, self._settings.max_size + 1)
        rng = seeded(f"composer:{self._seed}:{self._waves}:wanted")
        return await self.compose(
            [(rng.choice(self._settings.operators), rng.choice(sizes)) for _ in range(n)]
        )

    async def compose(self, kinds: Sequence[Kind]) -> list[Member]:
        """New composites of these operators and sizes; a chain is no longer than the search goes.

        Fewer, where the bricks give no more. Raises InfrastructureFault from the executor.
        """
        deepest = self._settings.search.depth
        wanted = [
            (operator, size if operator == "PARALLEL" else min(size, deepest)) for operator, size in kinds
        ]
        longest = max((size for _, size in wanted), default=0)
        share = self._share(wanted)
        quotas = Quotas(share)
        made: list[Member] = []
        idle = 0
        while wanted and idle < PATIENCE:
            particular = idle < PARTICULAR
            found = await self._wave(wanted, quotas, longest, particular)
            made += found
            idle = 0 if found else idle + 1
            quotas.grant(0 if found or particular else share)
        if wanted:
            log.warning("composed %d of %d composites: the bricks gave no more", len(made), len(kinds))
        return made

    def _share(self, wanted: Sequence[Kind]) -> int:
        """A brick's quota."""
        uses = sum(size + self._settings.distractors * (operator == "SELECT") for operator, size in wanted)
        return math.ceil(QUOTA_SLACK * uses / max(1, len(self._search.bricks)))

    async def _wave(self, wanted: list[Kind], quotas: Quotas, depth: int, particular: bool) -> list[Member]:
        """The composites that one search gives; what is made leaves `wanted`.

        While it is particular, chains of which only two orders fit are not made a SORT of three steps or more.
        """
        rng = seeded(f"composer:{self._seed}:{self._waves}")
        self._waves += 1
        ids = quotas.choose(
            rng, self._search.bricks, STARTS_A_WAVE, self._guide.weight if self._guide else None
        )
        starts = [Recipe(id, rng.getrandbits(32), self._settings.level) for id in ids]
        found = [chain async for chain in self._search.chains(rng, starts, quotas, depth)]
        made = []
        for kind in list(wanted):
            member = await self._compose(rng, found, quotas, kind, particular)
            if member is not None:
                made.append(member)
                wanted.remove(kind)
        return made

    async def _compose(
        self, rng: random.Random, found: Sequence[Chain], quotas: Quotas, kind: Kind, particular: bool
    ) -> Member | None:
        """A new composite of found chains within their quotas, or None where there is none."""
        operator, size = kind
        usable = {id: program for id, program in self._programs.items() if quotas.remaining(id)}
        possible = self._possible(rng, found, usable, kind)
        worth_a_look = (each for each in possible if self._is_worth_a_look(each.composite, particular))
        for candidate in islice(worth_a_look, LOOKS_A_WAVE):
            composite = candidate.composite
            if not await self._is_confirmed(candidate):
                continue
            if (evidence := await self._evidence(composite)) is None:
                self._unfit.add(composite.id)
                continue
            self._made.add(composite.id)
            quotas.spend(composite.parts)
            parts, family = composite.parts, f"{operator}-{size}"
            return Member(composite, Origin.COMPOSER, parts, family, evidence=evidence)
        return None

    def _possible(
        self, rng: random.Random, found: Sequence[Chain], usable: dict[str, Program], kind: Kind
    ) -> Iterable[Candidate]:
        """What the chains could make, what is preferred first, and else in the order of the search."""
        operator, size = kind
        guide, distractors = self._guide, self._settings.distractors
        if operator != "PARALLEL":
            preferred = sorted(found, key=lambda chain: -self._worth(operator, chain))
            return candidates(operator, size, rng, preferred, usable, distractors)
        if guide is None:
            return candidates(operator, size, rng, found, usable, distractors)
        drawn = [
            each
            for _ in range(PARALLEL_TRIES)
            for each in candidates(operator, size, rng, found, usable, distractors)
        ]
        return sorted(drawn, key=lambda each: -guide.nearness(operator, each.composite.parts))

    def _worth(self, operator: OperatorName, chain: Chain) -> float:
        """How much a chain is preferred: by the guide, and for SORT where its order is not easily guessed."""
        worth = self._guide.nearness(operator, chain.members) if self._guide else 1.0
        if operator != "SORT":
            return worth
        return worth * left_by_guessing([self._programs[id] for id in chain.members])

    def _is_worth_a_look(self, composite: Composite, particular: bool) -> bool:
        if composite.id in self._made or composite.id in self._unfit or self._known(composite.id):
            return False
        if composite.operator not in ORDERED:
            return True
        steps = [self._programs[part] for part in composite.parts]
        if particular and composite.operator == "SORT" and composite.size > 2:
            return proposals(composite, steps).count > 2
        return not hopeless(composite, steps)

    async def _is_confirmed(self, candidate: Candidate) -> bool:
        """Whether its chains run with one brick a child as well, and each distractor on a value of them."""
        bare = [replace(chain, siblings=()) for chain in candidate.chains]
        confirmed = await self._search.confirmed(bare)
        if None in confirmed:
            return False
        (first, *_) = candidate.chains
        steps = [self._programs[id] for id in first.members]
        for distractor in map(self._programs.__getitem__, candidate.composite.distractors):
            results = await tried(self._run, distractor, steps, first.values)
            if killed(results) or objection(results, first.values[-1]):
                return False
        return True

    async def _run(self, program: Program, calls: list[Call]) -> list[Result]:
        return await self._executor.run(program.source, calls)

    async def _evidence(self, composite: Composite) -> dict[str, float] | None:
        """What is known of a composite when it is proposed; None where it is not to be made."""
        lookup, level = self._members.__getitem__, self._settings.level
        if composite.operator not in ORDERED:
            instances = await instances_of(self._executor, composite, lookup, level)
            return None if instances is None else {"level": level}
        rate = await guess_rate(self._executor, composite, lookup, level)
        if rate is None or not rate.is_within(GUESS_LIMITS[composite.operator]):
            return None
        return {"level": level, **rate.to_evidence()}
