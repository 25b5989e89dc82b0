"""Serving a pool that no run holds: answers are counted in it, and decide what is asked next.

Invariants: as `live`'s, for this is a run of one process, without generator and composer: nothing new is written here.
A level rises only after L2 to L5 held there. Levels are each policy's own; statuses of members are the pool's own
policy's alone, which is the first one that it was served to, where no run made it.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from envpool.admission.admission import Admission
from envpool.answer_counts import AnswerCount
from envpool.async_pool import PACKAGES
from envpool.contract import Failed, Outcome, Recipe
from envpool.curation import CurationSettings, Curator, Decision, Promote, Rest, Retire, Wake
from envpool.curation.standings import PLAYING, standing_in
from envpool.exchange.service.backend import Question
from envpool.exchange.service.live import LiveBackend
from envpool.execution import Examiner
from envpool.members import Composite, Member, Status
from envpool.sandbox import LocalExecutor, SandboxUnavailable
from envpool.sandbox.packages import Packages, lacking, placed
from envpool.store import NoPool, PoolWriter, StoreError
from envpool.store.group_commit import GroupCommit

logger = logging.getLogger(__name__)
T = TypeVar("T")
POLICY = "trainer"
SAVE_SECONDS = 10.0
JOURNAL_PAGE = 2000
MOVES = {Rest: Status.RESTING, Retire: Status.RETIRED, Wake: Status.ACTIVE}


class StandingRun:
    """The `live.Run` of one process: a curriculum over a write handle. Belongs to one event loop."""

    def __init__(
        self,
        writer: PoolWriter,
        policy: str = POLICY,
        settings: CurationSettings | None = None,
        packages: Sequence[str] = (),
    ) -> None:
        if writer.state("policy") is None:
            writer.put_state("policy", policy)
        self._writer, self._policy = writer, policy
        self._own = writer.state("policy") == policy
        self._key = "curator" if self._own else f"{policy}.curator"
        self._curator = Curator(settings, policy=policy)
        self._gates = LocalExecutor(packages=packages)
        self._commits = GroupCommit(writer)
        self._seen = 0
        self._learning: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Takes the pool's members in, and up the curriculum where it was left."""
        self._seen = await asyncio.to_thread(self._take_all)
        if kept := self._writer.state(self._key):
            self._curator.load_state_dict(kept)
        await self.save()  # or the next life, if this one is short, would give the same seeds again

    async def choose(self, count: int) -> list[Recipe]:
        """As `Run.choose`."""
        self._follow()
        return self._curator.choose(count)

    async def record_once(self, request: str, count: AnswerCount) -> bool:
        """As `Run.record_once`."""
        return await self._commit(lambda pool: pool.record_once(request, [count]))

    def learn(self, count: AnswerCount) -> None:
        """As `Run.learn`: a level that is to rise is tried first, which no client waits for."""
        task = asyncio.create_task(self._learn(count))
        self._learning.add(task)
        task.add_done_callback(self._learning.discard)

    async def quarantine(self, member: str, reason: str) -> None:
        """As `Run.quarantine`."""
        logger.warning("%s is quarantined: %s", member, reason)
        await self._commit(lambda pool: pool.transition(member, Status.QUARANTINED, reason))
        self._follow()

    async def save(self) -> None:
        """Keeps the curriculum in the pool."""
        state = self._curator.state_dict()
        await self._commit(lambda pool: pool.put_state(self._key, state))

    async def close(self) -> None:
        """Draws the last conclusions but those that need the gates, and saves; the writer stays open."""
        while self._learning:
            for task in self._learning:
                task.cancel()
            await asyncio.gather(*self._learning, return_exceptions=True)
        await self.save()
        await asyncio.to_thread(self._commits.close)
        await asyncio.to_thread(self._gates.close)

    def gauges(self) -> dict[str, float]:
        """The curriculum in numbers."""
        return self._curator.metrics()

    def _take_all(self) -> int:
        with self._writer.snapshot():
            for id in self._writer.ids():
                if standing := standing_in(self._writer, id, self._policy):
                    self._curator.take(standing)
            return self._writer.last_sequence()

    def _follow(self) -> None:
        while entries := self._writer.journal(after=self._seen, limit=JOURNAL_PAGE):
            self._curator.follow(entries, self._writer)
            self._seen = entries[-1].seq

    async def _learn(self, count: AnswerCount) -> None:
        self._follow()  # what was quarantined since decides nothing
        for decision in self._curator.record(count):
            try:
                await self._carry_out(decision)
            except Exception:
                logger.exception("not carried out: %s", decision)

    async def _carry_out(self, decision: Decision) -> None:
        if isinstance(decision, Promote):
            await self._promote(decision)
        elif self._own:
            member, to, reason = decision.member, MOVES[type(decision)], decision.reason
            with suppress(StoreError):  # it was quarantined in between
                await self._commit(lambda pool: pool.transition(member, to, reason))

    async def _promote(self, promotion: Promote) -> None:
        id, level = promotion.member, promotion.level
        try:
            refusal = await self._refusal(self._writer.get(id), level)
        except BaseException:
            self._curator.postpone(id)  # nothing was found out; the next success asks again
            raise
        if refusal:
            logger.info("%s stays below level %d: %s", id, level, refusal)
            self._curator.cap(id)
            return
        await self._commit(lambda pool: pool.set_level(id, self._policy, level, promotion.reason))
        self._curator.promoted(id, level)

    async def _refusal(self, member: Member | None, level: int) -> str:
        """Why a member may not be asked at a level: empty where L2 to L5 hold there."""
        if member is None or isinstance(member.material, Composite):
            return "a composite has no level of its own"
        outcome = await Admission(self._gates).levels_hold(member, level)
        return "" if outcome.passed else f"{outcome.gate}: {outcome.reason}"

    async def _commit(self, operation: Callable[[PoolWriter], T]) -> T:
        return await asyncio.wrap_future(self._commits.submit(operation))


class StandingPool:
    """A backend over a pool's folder, which it holds the write handle of.

    async with StandingPool.open("runs/local-1/pool", policy="qwen") as backend: ...
    """

    def __init__(
        self,
        writer: PoolWriter,
        policy: str = POLICY,
        settings: CurationSettings | None = None,
        packages: Sequence[str] = (),
    ) -> None:
        self._writer, self._packages = writer, tuple(packages)
        self._executor = LocalExecutor(packages=packages)
        self._run = StandingRun(writer, policy, settings, packages)
        self._backend = LiveBackend(
            self._run, writer, Examiner(self._executor, self._member), policy, closed=lambda: ""
        )

    @classmethod
    def open(
        cls,
        path: str | Path,
        policy: str = POLICY,
        settings: CurationSettings | None = None,
        packages: Sequence[str] = (),
    ) -> Self:
        """The pool in this folder. `packages` says where one lies that its programs import: "name=folder".

        Raises StoreError, also where a run or another service holds it; SandboxUnavailable for a missing package, but
        for one that only retired members import.
        """
        if not (Path(path) / "data.mdb").is_file():
            raise NoPool(f"there is no pool in {path}")  # one would be made
        writer = PoolWriter.open(path)
        try:
            return cls(writer, policy, settings, _packages(writer, packages))
        except BaseException:
            writer.close()
            raise

    async def __aenter__(self) -> Self:
        await self._run.start()
        self._saving = asyncio.create_task(self._save_now_and_then())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._saving.cancel()
        await asyncio.gather(self._saving, return_exceptions=True)
        await self._run.close()
        await asyncio.to_thread(self._executor.close)
        self._writer.close()

    async def sample(self, client: str, count: int) -> list[Question]:
        """As `Backend.sample`."""
        return await self._backend.sample(client, count)

    async def score(
        self, client: str, request: str, recipe: Recipe, responses: Sequence[str]
    ) -> list[Outcome]:
        """As `Backend.score`. What cannot run here is not run: that a package is missing speaks against no program."""
        if absent := self._absent(recipe.member):
            reason = f"{recipe.member} imports {', '.join(absent)}, which this service has not"
            return [Failed(reason)] * len(responses)
        return await self._backend.score(client, request, recipe, responses)

    async def status(self) -> dict[str, Any]:
        """As `Backend.status`."""
        status = await self._backend.status()
        return {**status, "kind": "pool", "path": str(self._writer.path), "curation": self._run.gauges()}

    def _absent(self, id: str) -> list[str]:
        member = self._writer.get(id)
        return lacking(member.evidence.get(PACKAGES) or (), self._packages) if member else []

    def _member(self, id: str) -> Member:
        member = self._writer.get(id)
        if member is None:
            raise KeyError(f"no member {id} in the pool")
        return member

    async def _save_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(SAVE_SECONDS)
            try:
                await self._run.save()
            except StoreError:
                logger.exception("the curriculum was not saved")


def _packages(pool: PoolWriter, places: Sequence[str]) -> list[str]:
    """The third-party packages that members say they import, where they lie if that is said.

    An answer to a retired member may come late, but nobody is asked it: what only those import may be missing.
    """
    needed, late = _imports(pool, PLAYING), _imports(pool, [Status.RETIRED])
    return placed(needed | {name for name in late - needed if _is_there(name, places)}, places)


def _imports(pool: PoolWriter, statuses: Iterable[Status]) -> set[str]:
    members = (pool.get(id) for status in statuses for id in pool.ids(status))
    return {name for member in members if member for name in member.evidence.get(PACKAGES) or ()}


def _is_there(name: str, places: Sequence[str]) -> bool:
    try:
        Packages.found(placed({name}, places))
    except SandboxUnavailable as error:
        logger.warning("late answers to retired members that import %s get no verdict: %s", name, error)
        return False
    return True
