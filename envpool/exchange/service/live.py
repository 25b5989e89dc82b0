"""Serving a pool that a run evolves: its curriculum asks a trainer elsewhere, and learns from what is answered.

Invariant: a question is of the training side. Its answers are counted under the trainer's policy in the transaction
that notes the request, so that one that is sent again, also to a server that was killed meanwhile, is judged alike and
counted once. A program that fails on its own is quarantined; where the machine fails a response, nothing of the request
is counted. What is drawn, and what answers do to levels and statuses, is the run's.
"""

import asyncio
import logging
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from envpool.answer_counts import AnswerCount
from envpool.contract import Failed, Instance, Outcome, Recipe
from envpool.curation.standings import lowest_level
from envpool.exchange.service.backend import NothingToAsk, Question, UnknownQuestion, name_of
from envpool.exchange.service.counting import count_of, machine_fault
from envpool.execution import Examiner
from envpool.families import kin
from envpool.members import Status
from envpool.returned import ProgramFault
from envpool.sandbox import InfrastructureFault
from envpool.store.reading import PoolReads

logger = logging.getLogger(__name__)
KEPT_INSTANCES = 4096
"""Whose answers are likely to come next (ours)."""
ROUNDS = 4
"""Draws for one request before fewer questions are given than it asked for (ours)."""


class Run(Protocol):
    """What a backend needs of the run."""

    async def choose(self, count: int) -> list[Recipe]:
        """Recipes that are fresh, by the run's curriculum."""
        ...

    async def record_once(self, request: str, count: AnswerCount) -> bool:
        """Count what a request brought, durably; False where it was counted before."""
        ...

    def learn(self, count: AnswerCount) -> None:
        """Let the curriculum draw its conclusions, in its own time."""
        ...

    async def quarantine(self, member: str, reason: str) -> None:
        """A frozen program failed in use."""
        ...


class LiveBackend:
    """A `Backend` over a run; `closed` says why nothing can be asked at the moment, and nothing where it can."""

    def __init__(
        self, run: Run, pool: PoolReads, examiner: Examiner, policy: str, closed: Callable[[], str]
    ) -> None:
        self._run, self._pool, self._examiner = run, pool, examiner
        self._policy = policy
        self._closed = closed
        self._instances: OrderedDict[Recipe, Instance] = OrderedDict()
        self.tally: Counter[str] = Counter(questions=0, answers=0, failures=0)
        self.under_way = 0
        """Requests to score that are at work."""

    async def sample(self, client: str, count: int) -> list[Question]:
        """As `Backend.sample`."""
        self._refuse_while_closed()
        found: list[Question] = []
        faults: list[str] = []
        for _ in range(ROUNDS):
            recipes = await self._run.choose(count - len(found))
            asked = await asyncio.gather(*(self._asked(recipe, faults) for recipe in recipes))
            found += [question for question in asked if question is not None]
            if len(found) >= count or not recipes:
                break
        if not found:
            raise NothingToAsk(faults[0] if faults else "no member of the pool can be asked just now")
        self.tally["questions"] += len(found)
        return found

    async def score(
        self, client: str, request: str, recipe: Recipe, responses: Sequence[str]
    ) -> list[Outcome]:
        """As `Backend.score`."""
        self._refuse_while_closed()
        self.under_way += 1
        try:
            outcomes = await self._judged(recipe, responses)
            count = count_of(recipe, self._policy, outcomes)
            if await self._run.record_once(f"{client}\n{request}", count):
                self.tally.update(answers=count.attempts, failures=count.failures)
                self._run.learn(count)
            return outcomes
        finally:
            self.under_way -= 1

    async def status(self) -> dict[str, Any]:
        """As `Backend.status`."""
        standing = self._pool.counts()
        return {
            "kind": "run",
            "policy": self._policy,
            "counts": True,
            "members": standing[Status.ACTIVE],
            "statuses": {status.value: count for status, count in standing.items()},
            "closed": self._closed(),
            **self.tally,
        }

    def _refuse_while_closed(self) -> None:
        if reason := self._closed():
            raise NothingToAsk(reason)

    async def _asked(self, recipe: Recipe, faults: list[str]) -> Question | None:
        """The recipe's question; None where it makes none of the training side, or none at the moment."""
        member = self._pool.get(recipe.member)
        if member is None or self._pool.status(recipe.member) is Status.QUARANTINED:
            return None
        try:
            instance = await self._examiner.build_split(recipe, held_out=False)
        except ProgramFault as fault:
            await self._run.quarantine(fault.member, str(fault))
            return None
        except InfrastructureFault as fault:
            logger.warning("%s could not be asked: %s", recipe.member, fault)
            faults.append(str(fault))
            return None
        if instance is None:
            return None
        self._remember(instance)
        return Question(instance.recipe, instance.prompt, name_of(member), member.family or kin(member))

    async def _judged(self, recipe: Recipe, responses: Sequence[str]) -> list[Outcome]:
        instance = await self._instance(recipe)
        if instance is None:
            return [Failed("the member is in quarantine")] * len(responses)
        outcomes = await self._examiner.score_all(instance, responses)
        failed = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
        for culprit, reason in {each.culprit: each.reason for each in failed if each.culprit}.items():
            await self._run.quarantine(culprit, reason)
        if fault := machine_fault(outcomes):
            self.tally["failures"] += sum(each.machine for each in failed)
            raise fault
        return outcomes

    async def _instance(self, recipe: Recipe) -> Instance | None:
        """What the recipe asks, also where an earlier life of the server asked it; None where it is in quarantine."""
        row = self._pool.status_row(recipe.member)
        if row is not None and row.status is Status.QUARANTINED:
            return None
        if (known := self._instances.get(recipe)) is not None:
            return known
        member = self._pool.get(recipe.member)
        if member is None or row is None or row.held_out:
            raise UnknownQuestion(f"no member {recipe.member} is asked here")
        lowest = lowest_level(member)
        highest = max(self._pool.level(member.id, self._policy), lowest)
        if not lowest <= recipe.level <= highest:
            raise UnknownQuestion(f"{member.id} is asked at levels {lowest} to {highest}, not {recipe.level}")
        try:
            instance = await self._examiner.build_split(recipe, held_out=False, tries=1)
        except ProgramFault as fault:
            await self._run.quarantine(fault.member, str(fault))
            return None
        if instance is None or instance.recipe != recipe:
            raise UnknownQuestion(f"{recipe.key()} is no question of the training side")
        self._remember(instance)
        return instance

    def _remember(self, instance: Instance) -> None:
        self._instances[instance.recipe] = instance
        while len(self._instances) > KEPT_INSTANCES:
            self._instances.popitem(last=False)
