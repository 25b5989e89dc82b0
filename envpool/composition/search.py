"""Frontier search: randomised breadth first from concrete inputs, over bricks whose types fit (RACES).

Invariant: the walk is decided by the random generator and the quotas alone, so the same seed finds the same
chains; only a kill by a clock could differ between machines, and an edge that ended in one is never tried
again. The search makes no members and keeps no record of what it found.
"""

import random
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence

from envpool.composition.chains import Chain, SearchSettings, State
from envpool.composition.extension import Extender
from envpool.composition.quotas import Quotas
from envpool.contract import Recipe
from envpool.members import Member, Program
from envpool.sandbox.executor import Executor


class FrontierSearch:
    """Finds chains of bricks by running them."""

    def __init__(self, executor: Executor, bricks: Sequence[Member], settings: SearchSettings) -> None:
        self._settings = settings
        self._extender = Extender(executor, settings)
        self.use(bricks)

    def use(self, bricks: Sequence[Member]) -> None:
        """Search over these programs from now on, except those held out; killed edges stay killed."""
        programs = [brick.material for brick in bricks if not brick.held_out]
        usable = [program for program in programs if isinstance(program, Program)]
        self._bricks = {program.id: program for program in sorted(usable, key=lambda program: program.id)}
        self._by_domain: dict[str, list[str]] = defaultdict(list)
        for brick in self._bricks.values():
            if brick.oracle == "equality":
                self._by_domain[brick.domain].append(brick.id)

    @property
    def bricks(self) -> list[str]:
        """The ids that are searched over, in order."""
        return list(self._bricks)

    @property
    def killed_edges(self) -> frozenset[tuple[str, str]]:
        """Pairs (brick, next brick) that ended in a kill; "" stands before a first brick."""
        return frozenset(self._extender.killed)

    async def chains(
        self, rng: random.Random, starts: Sequence[Recipe], quotas: Quotas, longest: int | None = None
    ) -> AsyncIterator[Chain]:
        """Chains in order of size, from the inputs that the recipes draw; a recipe's program comes first.

        The caller spends the quotas, on the chains it takes. Raises InfrastructureFault from the executor.
        """
        usable = [start for start in starts if ("", start.member) not in self._extender.killed]
        states = await self._extender.begin([(self._bricks[start.member], start) for start in usable])
        for size in range(1, 1 + min(longest or self._settings.depth, self._settings.depth)):
            if size > 1:
                states = await self._extender.extend(self._edges(rng, states, quotas))
            rng.shuffle(states)
            for state in states:
                yield state.chain()

    def _edges(
        self, rng: random.Random, states: Sequence[State], quotas: Quotas
    ) -> list[tuple[State, Program]]:
        """What to try next from the states kept at this depth."""
        extendable = [state for state in states if state.extendable][: self._settings.frontier]
        return [
            (state, self._bricks[id])
            for state in extendable
            for id in quotas.choose(rng, self._fitting(state), self._settings.expansions)
        ]

    def _fitting(self, state: State) -> list[str]:
        """Bricks whose domain is the state's type, that are not in it yet, by no edge that was killed."""
        last, used = state.path[-1], {step.id for step in state.path}
        return [
            id
            for id in self._by_domain.get(last.codomain, ())
            if id not in used and (last.id, id) not in self._extender.killed
        ]
