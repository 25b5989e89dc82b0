"""The composer: members made of members, out of chains that ran.

Invariant: every proposal is new by its exact key, among all that this composer has made and all that
`known` knows; it has run, and each part's use is counted against its quota. The composer admits nothing.
"""

import logging
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from envpool.composition.chains import Chain, SearchSettings
from envpool.composition.quotas import Quotas
from envpool.composition.search import FrontierSearch
from envpool.contract import Recipe, seeded
from envpool.members import Composite, Member, OperatorName, Origin
from envpool.sandbox.executor import Executor

log = logging.getLogger(__name__)

STARTS_A_WAVE = 16
PATIENCE = 4
"""Waves in a row without a single proposal before fewer than asked for are returned (ours)."""
QUOTA_SLACK = 2
"""A brick's quota over its equal share of all uses (ours)."""
CHAINED_PROBLEMS = 0.25
"""Share of PARALLEL problems that are chains of two steps, where there is room (ours)."""


@dataclass(frozen=True, slots=True)
class ComposerSettings:
    """What is composed; values are ours where the paper leaves them open."""

    operators: tuple[OperatorName, ...] = ("SEQUENTIAL", "PARALLEL")
    min_size: int = 2
    max_size: int = 4
    """Environments in a composite (RACES, t: 2 to 6 studied, about 5 best for strong models)."""
    level: int = 0
    """Level of the inputs the search starts from."""
    search: SearchSettings = field(default_factory=SearchSettings)


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
        self._search = FrontierSearch(executor, bricks, self._settings.search)
        self._seed = seed
        self._known = known
        self._made: set[str] = set()
        self._waves = 0

    def use(self, bricks: Sequence[Member]) -> None:
        """Compose over these programs from now on."""
        self._search.use(bricks)

    async def propose(self, n: int, sizes: Sequence[int] | None = None) -> list[Member]:
        """Up to n new composites, each of a size drawn from `sizes` (default: the settings' range).

        Fewer, where the bricks give no more. Raises InfrastructureFault from the executor.
        """
        sizes = sizes or range(self._settings.min_size, self._settings.max_size + 1)
        share = math.ceil(QUOTA_SLACK * n * max(sizes) / max(1, len(self._search.bricks)))
        wanted, quotas = self._wanted(n, sizes), Quotas(share)
        made: list[Member] = []
        idle = 0
        while wanted and idle < PATIENCE:
            found = await self._wave(wanted, quotas, max(sizes))
            made += found
            idle = 0 if found else idle + 1
            quotas.grant(0 if found else share)
        if wanted:
            log.warning("composed %d of %d composites: the bricks gave no more", len(made), n)
        return made

    def _wanted(self, n: int, sizes: Sequence[int]) -> list[tuple[OperatorName, int]]:
        """Operator and size of every composite to be made."""
        rng = seeded(f"composer:{self._seed}:{self._waves}:wanted")
        drawn = [(rng.choice(self._settings.operators), rng.choice(sizes)) for _ in range(n)]
        deepest = self._settings.search.depth
        return [(each, min(size, deepest) if each == "SEQUENTIAL" else size) for each, size in drawn]

    async def _wave(self, wanted: list[tuple[OperatorName, int]], quotas: Quotas, depth: int) -> list[Member]:
        """The composites that one search gives; what is made leaves `wanted`."""
        rng = seeded(f"composer:{self._seed}:{self._waves}")
        self._waves += 1
        ids = quotas.choose(rng, self._search.bricks, STARTS_A_WAVE)
        starts = [Recipe(id, rng.getrandbits(32), self._settings.level) for id in ids]
        found = [chain async for chain in self._search.chains(rng, starts, quotas, depth)]
        made = []
        for kind in list(wanted):
            member = self._compose(rng, found, quotas, *kind)
            if member is not None:
                made.append(member)
                wanted.remove(kind)
        return made

    def _compose(
        self, rng: random.Random, found: Sequence[Chain], quotas: Quotas, operator: OperatorName, size: int
    ) -> Member | None:
        """A new composite of found chains within their quotas, or None where there is none."""
        allowed = [chain for chain in found if quotas.allow(chain.members)]
        if operator == "PARALLEL":
            candidates = [_parallel(rng, allowed, size)]
        else:
            candidates = [_sequential(chain) for chain in allowed if chain.size == size]
        new = (c for c in candidates if c and c.id not in self._made and not self._known(c.id))
        composite = next(new, None)
        if composite is None:
            return None
        self._made.add(composite.id)
        quotas.spend(composite.parts)
        return Member(composite, Origin.COMPOSER, composite.parts, f"{operator}-{size}")


def _sequential(chain: Chain) -> Composite:
    return Composite("SEQUENTIAL", (chain.members,), chain.domain, chain.codomain)


def _parallel(rng: random.Random, found: Sequence[Chain], size: int) -> Composite | None:
    """Problems of `size` programs together, none twice, in the order of their ids; None where too few fit."""
    problems: list[Chain] = []
    used: set[str] = set()
    for chain in rng.sample(found, len(found)):
        # One problem alone would be no PARALLEL, so the first leaves room for another.
        room = min(size - len(used), size - 1)
        longest = 2 if rng.random() < CHAINED_PROBLEMS else 1
        if chain.size <= min(room, longest) and used.isdisjoint(chain.members):
            problems.append(chain)
            used.update(chain.members)
    if len(used) < size:
        return None
    problems.sort(key=lambda chain: chain.members)
    chains = tuple(chain.members for chain in problems)
    domain, codomain = _joined([c.domain for c in problems]), _joined([c.codomain for c in problems])
    return Composite("PARALLEL", chains, domain, codomain)


def _joined(types: Sequence[str]) -> str:
    """One type for several problems; an opaque part makes the whole opaque."""
    return "dict" if "dict" in types else f"tuple[{', '.join(types)}]"
