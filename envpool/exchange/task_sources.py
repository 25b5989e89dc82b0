"""Where the tasks of a taskset come from: a service that evolves, or a pool as it is.

Invariant: what scores a question needs its recipe alone. A process opens a source once, at its first use, and a process
that was forked opens its own.
"""

import itertools
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, Protocol

from envpool.contract import Instance, Outcome, Recipe
from envpool.exchange.draws import item_seed
from envpool.exchange.provenance import licence_of, lineage_of
from envpool.exchange.service.backend import Question, name_of
from envpool.families import kin
from envpool.pool import Pool
from envpool.returned import ProgramFault

KEPT_INSTANCES = 1024
"""Whose answers are likely to come next (ours)."""
DRAWS_FAILED = 16
"""Draws in a row that may fail before a stream gives up (ours)."""


class Settings(Protocol):
    """What a source is found by; see `verifiers_taskset.PoolTaskConfig`."""

    source: str
    client: str
    token_env: str
    patience: float
    packages: tuple[str, ...]


class TaskSource(Protocol):
    """Questions without end, and their verdicts."""

    def questions(self, seed: int, held_out: bool, ahead: int) -> Iterator[Question]:
        """Raises ValueError where it has none of this kind."""
        ...

    async def score(self, recipe: Recipe, response: str, request: str) -> Outcome:
        """The outcome of one response; counted once for each request, where anything is counted."""
        ...

    def provenance(self, member: str) -> dict[str, Any]:
        """Where a member comes from."""
        ...


class ServiceSource:
    """A service: it decides what is asked, and counts what is answered."""

    def __init__(self, settings: Settings) -> None:
        from envpool.exchange.service.client import (
            ServiceClient,
        )  # needs httpx, which a pool in a folder does not

        token = os.environ.get(settings.token_env, "") if settings.token_env else ""
        self._client = ServiceClient(settings.source, settings.client, token, patience=settings.patience)

    def questions(self, seed: int, held_out: bool, ahead: int) -> Iterator[Question]:
        """As `TaskSource.questions`; the service has seeds of its own."""
        if held_out:
            raise ValueError(
                "a service asks what is trained on; take held-out questions from a folder or a snapshot"
            )
        return self._client.questions(ahead)

    async def score(self, recipe: Recipe, response: str, request: str) -> Outcome:
        """As `TaskSource.score`. Raises ServiceError."""
        (outcome,) = await self._client.score_async(recipe, [response], request)
        return outcome

    def provenance(self, member: str) -> dict[str, Any]:
        """As `TaskSource.provenance`."""
        return {"service": self._client.url}


class PoolSource:
    """A folder or a snapshot, as it was when it was opened."""

    def __init__(self, settings: Settings) -> None:
        self._pool = Pool.open(settings.source, settings.packages)
        self._instances: OrderedDict[Recipe, Instance] = OrderedDict()

    def questions(self, seed: int, held_out: bool, ahead: int) -> Iterator[Question]:
        """As `TaskSource.questions`; what breaks is passed over, for as long as something else comes.

        Raises NoQuestion, ProgramFault, SandboxUnavailable.
        """
        failed = 0
        for item in itertools.count():
            try:
                instance = self._pool.draw(item_seed(seed, item), held_out=held_out)
            except ProgramFault:
                failed += 1
                if failed == DRAWS_FAILED:
                    raise
                continue
            failed = 0
            member = self._pool.get(instance.recipe.member)
            family = member.family or kin(member)
            self._remember(instance)
            yield Question(instance.recipe, instance.prompt, name_of(member), family)

    async def score(self, recipe: Recipe, response: str, request: str) -> Outcome:
        """As `TaskSource.score`; nothing is counted. Raises UnknownMember, ProgramFault, SandboxUnavailable."""
        if (instance := self._instances.get(recipe)) is None:
            instance = await self._pool.aio.build(recipe)
            self._remember(instance)
        return await self._pool.aio.score(instance, response)

    def provenance(self, member: str) -> dict[str, Any]:
        """As `TaskSource.provenance`."""
        found, unsaid = self._pool.get(member), self._pool.snapshot.provenance.licence
        return {
            "fingerprint": self._pool.fingerprint,
            "licence": licence_of(found, self._pool.get, unsaid),
            **lineage_of(found),
        }

    def _remember(self, instance: Instance) -> None:
        self._instances[instance.recipe] = instance
        if len(self._instances) > KEPT_INSTANCES:
            self._instances.popitem(last=False)


_opening = threading.Lock()
_opened: dict[tuple[str, str, str, float, tuple[str, ...]], TaskSource] = {}


def _forget_sources() -> None:
    """Nothing of the process that this one was forked from works here, nor a lock that a thread of it holds."""
    global _opening
    _opening = threading.Lock()
    _opened.clear()


os.register_at_fork(after_in_child=_forget_sources)


def source_of(settings: Settings) -> TaskSource:
    """The source, opened at its first use in this process. Raises ValueError where none is named; StoreError, NoPool,
    SnapshotError, OSError.
    """
    if not settings.source:
        raise ValueError(
            "task.source names no pool: a service's URL, a run's or pool's folder, or a snapshot "
            "(--env.taskset.task.source with verifiers' own commands)"
        )
    key = settings.source, settings.client, settings.token_env, settings.patience, settings.packages
    with _opening:
        if key not in _opened:
            remote = settings.source.startswith(("http://", "https://"))
            _opened[key] = ServiceSource(settings) if remote else PoolSource(settings)
        return _opened[key]
