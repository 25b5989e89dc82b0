"""Calling another actor of the run by its name, through its deaths and restarts.

Invariant: a call either returns the peer's answer, raises the peer's own error, or raises `PeerUnavailable` when
the peer stayed away for the whole patience; where the run does not want the peer any more, it raises `PeerRetired`
at once. A call may be delivered twice when a peer dies in the middle of it:
methods called through a `Peer` are idempotent, or a double is harmless, and say so. Nothing here starts an actor.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import ray
from ray.exceptions import (
    ActorPlacementGroupRemoved,
    ActorUnschedulableError,
    NodeDiedError,
    ObjectLostError,
    RayActorError,
    RayTaskError,
)

from actors.gathering import WRITES, Gathering

GONE = (RayActorError, ActorUnschedulableError, ActorPlacementGroupRemoved, NodeDiedError, ObjectLostError)
"""What Ray raises where an actor, or its answer, is lost: dead, never placed since its node died, or its group gone."""
PATIENCE_SECONDS = 300.0
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 2.0


class PeerUnavailable(RuntimeError):
    """A named actor did not come back within the caller's patience."""


class PeerRetired(PeerUnavailable):
    """A named actor is gone and the run does not want it back: it was scaled away or detached."""


class _NoSuchActor(RuntimeError):
    """Nobody has the name just now."""


class Peer:
    """One named actor; `await peer.method(arguments)` calls it."""

    def __init__(
        self,
        name: str,
        namespace: str,
        patience: float = PATIENCE_SECONDS,
        wanted: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self.name = name
        self._namespace = namespace
        self._patience = patience
        self._wanted = wanted
        self._known: Any = None

    def __getattr__(self, method: str) -> Any:
        if method.startswith("_"):
            raise AttributeError(method)

        async def call(*args: Any, **kwargs: Any) -> Any:
            return await self._call(method, args, kwargs)

        return call

    async def _call(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        deadline, pause = time.monotonic() + self._patience, FIRST_PAUSE_SECONDS
        while True:
            try:
                return await getattr(self._handle(), method).remote(*args, **kwargs)
            except RayTaskError:
                raise  # the peer's own error, also where it is about an actor that the peer lost
            except (*GONE, _NoSuchActor) as error:
                self._known = None
                if not self._wanted(self.name):
                    raise PeerRetired(f"{self.name} is no part of the run any more") from error
                if time.monotonic() > deadline:
                    raise PeerUnavailable(
                        f"{self.name} did not answer {method} for {self._patience:.0f} s"
                    ) from error
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    def _handle(self) -> Any:
        # Handles from `get_actor` are weak and survive a restart, but not a new actor under the same name.
        if self._known is None:
            try:
                self._known = ray.get_actor(self.name, self._namespace)
            except ValueError as error:
                raise _NoSuchActor(str(error)) from error
        return self._known


class PoolPeer(Peer):
    """The pool actor: changes that are asked for while another is under way travel together (`actors.gathering`)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._changes = Gathering(lambda changes: self._call("write", (changes,), {}))

    async def _call(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if method in WRITES and not kwargs:
            return await self._changes.write(method, args)
        return await super()._call(method, args, kwargs)


class Peers:
    """All named actors of a run; `peers.pool`, `peers["sandbox-0"]`."""

    def __init__(
        self,
        namespace: str,
        patience: float = PATIENCE_SECONDS,
        wanted: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self._namespace = namespace
        self._patience = patience
        self._wanted = wanted
        self._peers: dict[str, Peer] = {}

    def __getitem__(self, name: str) -> Peer:
        if name not in self._peers:
            kind = PoolPeer if name == "pool" else Peer
            self._peers[name] = kind(name, self._namespace, self._patience, self._wanted)
        return self._peers[name]

    def __getattr__(self, name: str) -> Peer:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]
