"""A pool in use, for code that runs in an event loop: draw questions, build them from recipes, score responses.

Invariants: nothing is written. The same members at the same levels and the same seed give the same question on every
machine, as long as no clock ends a program: a draw that one ended is passed over like any other that fails, and told in
the log, since a faster machine may ask it. On the training side no question is one that is kept for evaluation. `Pool`
is the same for code without an event loop.
"""

import logging
import os
import threading
from collections.abc import Iterable, Sequence
from itertools import islice

from envpool.contract import Instance, Outcome, Recipe, seeded
from envpool.curation.standings import lowest_level
from envpool.exchange.draws import Families, item_seed
from envpool.exchange.snapshot import Snapshot
from envpool.execution import Examiner, OutOfDraws
from envpool.members import Composite, Member
from envpool.returned import VALUE_FAULTS, ProgramFault
from envpool.sandbox.executor import LocalExecutor
from envpool.sandbox.packages import placed
from envpool.sandbox.results import SandboxLimits, SandboxUnavailable

log = logging.getLogger(__name__)
PACKAGES = "packages"
"""In a member's evidence: the third-party modules that its program imports, dotted where a part is meant."""
MEMBERS_TRIED = 64
"""Picks of a member that a draw turns to in turn, where one has no question on the wanted side (ours)."""
MEMBERS_FAILED, SEEDS_TRIED = 4, 3
"""Members that fail before a draw gives up, and seeds before one of them is taken to (ours)."""


class UnknownMember(LookupError):
    """The pool has no member of that id."""


class NoQuestion(LookupError):
    """Nobody in the pool, or not the one that was asked, has a question on the wanted side of the split."""


class AsyncPool:
    """Questions of one moment of a pool. Its sandboxes start when a program is first run.

    `packages` says where a third-party package lies that members import, where it is not the installed one:
    "name=path". May be used from several event loops and threads of one process, not after a fork.
    """

    def __init__(
        self, snapshot: Snapshot, *, packages: Iterable[str] = (), limits: SandboxLimits | None = None
    ) -> None:
        self._snapshot, self._fingerprint = snapshot, snapshot.fingerprint
        self._families = Families(snapshot)
        self._places = tuple(packages)
        self._limits = limits
        self._pid = os.getpid()
        self._starting = threading.Lock()
        self._closed = False
        self._executors: dict[tuple[str, ...], LocalExecutor] = {}

    @property
    def snapshot(self) -> Snapshot:
        """Its members, their levels and where they come from."""
        return self._snapshot

    @property
    def fingerprint(self) -> str:
        """Hash of all that draws depend on, see `snapshot.fingerprint`."""
        return self._fingerprint

    def ids(self, held_out: bool = False) -> list[str]:
        """Members that may be asked, by id: those that are trained on, or those that are set apart."""
        members, levels = self.snapshot.members, self.snapshot.levels
        return sorted(id for id in levels if members[id].held_out == held_out)

    def get(self, id: str) -> Member:
        """A member that may be asked, or a part of one. Raises UnknownMember."""
        member = self.snapshot.members.get(id)
        if member is None:
            raise UnknownMember(f"the pool has no member {id!r} that may be asked")
        return member

    def level(self, id: str) -> int:
        """The level a member is asked at: where the run's own policy stands. Raises UnknownMember."""
        level = self.snapshot.levels.get(id)
        return lowest_level(self.get(id)) if level is None else level

    async def draw(
        self, seed: int, *, member: str | None = None, level: int | None = None, held_out: bool = False
    ) -> Instance:
        """One question, decided by the seed: a family is drawn, all alike, then one of its members, all alike.

        What a run knows of success plays no part. A program that fails at the seed is asked at others that are made of
        it, and then, unless `member` was named, passed over. Without `held_out` it is a question that may
        be trained on; with it one that never was: of a member that is set apart, or from the held-out side of the
        split. `level` stands in place of a program's own, and is the caller's to answer for: the gates saw 0 to 2 and
        what the policy reached. One that has fewer levels is asked at its highest, a composite where it was measured.
        Raises NoQuestion, UnknownMember, ProgramFault, SandboxUnavailable, InfrastructureFault.
        """
        if member is not None:
            instance = await self._of(member, seed, level, held_out)
        else:
            instance = await self._of_anyone(seed, level, held_out)
        if instance is None:
            side = "held out" if held_out else "that may be trained on"
            raise NoQuestion(f"{member or 'the pool'} has no question {side} at seed {seed}")
        return instance

    async def sample(
        self,
        count: int,
        *,
        seed: int = 0,
        member: str | None = None,
        level: int | None = None,
        held_out: bool = False,
    ) -> list[Instance]:
        """`count` draws whose seeds are `item_seed(seed, 0)` and on; a small member may ask one question twice."""
        return [
            await self.draw(item_seed(seed, item), member=member, level=level, held_out=held_out)
            for item in range(count)
        ]

    async def build(self, recipe: Recipe) -> Instance:
        """The question of a recipe. Raises UnknownMember, ProgramFault, SandboxUnavailable, InfrastructureFault."""
        return await self._examiner(recipe.member).build(recipe)

    async def score(self, instance: Instance, response: str) -> Outcome:
        """The outcome of one response: Scored, Unparsed, or Failed, which is no verdict."""
        (outcome,) = await self.score_all(instance, [response])
        return outcome

    async def score_all(self, instance: Instance, responses: Sequence[str]) -> list[Outcome]:
        """The outcome of each response to one question. Raises UnknownMember, SandboxUnavailable."""
        return await self._examiner(instance.recipe.member).score_all(instance, responses)

    def close(self) -> None:
        """Waits for the programs under way, then ends the sandboxes. Idempotent."""
        if os.getpid() != self._pid:
            return
        with self._starting:
            self._closed = True
            for executor in self._executors.values():
                executor.close()
            self._executors.clear()

    async def _of_anyone(self, seed: int, level: int | None, held_out: bool) -> Instance | None:
        """A question of the first that has one. Raises ProgramFault where too many failed, or all that were tried."""
        picks = self._families.picks(seeded(f"draw:{seed}"), None if held_out else False)
        failed: list[ProgramFault] = []
        for id in dict.fromkeys(islice(picks, MEMBERS_TRIED)):
            try:
                if (instance := await self._of(id, seed, level, held_out)) is not None:
                    return instance
            except ProgramFault as fault:
                failed.append(fault)
            if len(failed) == MEMBERS_FAILED:
                break
        if failed:
            raise failed[-1]
        return None

    async def _of(self, id: str, seed: int, level: int | None, held_out: bool) -> Instance | None:
        """A question of one member. Raises ProgramFault where each seed that was tried makes it fail."""
        at = self._asked_at(id, level)
        for turn in range(1, SEEDS_TRIED):
            try:
                return await self._question(Recipe(id, seed, at), held_out)
            except ProgramFault as fault:
                if fault.fault.kind not in VALUE_FAULTS:
                    log.warning("passed over %s at seed %d, which another machine may ask: %s", id, seed, fault)
                seed = item_seed(seed, turn)
        return await self._question(Recipe(id, seed, at), held_out)

    def _asked_at(self, id: str, level: int | None) -> int:
        member = self.get(id)
        return self.level(id) if level is None or member.kind == "composite" else member.level_within(level)

    async def _question(self, recipe: Recipe, held_out: bool) -> Instance | None:
        apart = self.get(recipe.member).held_out
        if apart and not held_out:
            raise NoQuestion(f"{recipe.member} is set apart for evaluation: ask it with held_out=True")
        examiner = self._examiner(recipe.member)
        try:
            return await (examiner.build(recipe) if apart else examiner.build_split(recipe, held_out))
        except OutOfDraws:
            return None

    def _examiner(self, id: str) -> Examiner:
        return Examiner(self._executor(self._packages(self.get(id))), self.get)

    def _packages(self, member: Member) -> tuple[str, ...]:
        """What the sandbox of a member must let in, each once and in one order."""
        parts = member.material.parts if isinstance(member.material, Composite) else ()
        programs = [member, *map(self.get, parts)]
        names = {name for program in programs for name in program.evidence.get(PACKAGES) or ()}
        return tuple(placed(names, self._places))

    def _executor(self, packages: tuple[str, ...]) -> LocalExecutor:
        if os.getpid() != self._pid:
            raise SandboxUnavailable("a pool's sandboxes do not survive a fork; open it anew in this process")
        with self._starting:
            if self._closed:
                raise SandboxUnavailable("this pool is closed")
            if packages not in self._executors:
                self._executors[packages] = LocalExecutor(self._limits, packages=packages)
            return self._executors[packages]
