"""All sandbox actors of a run as one executor.

Invariant: a program keeps to one sandbox, where its child is open, and keeps to it when others come or go
(highest random weight). A sandbox that leaves, is away or fails is passed over; when three places failed it is an
infrastructure fault, never a verdict.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from hashlib import blake2b

from actors.peers import PeerRetired, Peers, PeerUnavailable
from envpool.sandbox import Call, InfrastructureFault, Result, SandboxUnavailable

PLACES_TRIED = 3
LEAVING_SECONDS = 3.0
"""Before a job is offered again where every sandbox leaves: they end only once nobody has asked for a moment."""


class SandboxLeaving(RuntimeError):
    """This sandbox takes no more jobs: it is scaled away or moved."""


class SandboxGroup:
    """An `Executor` over however many sandboxes the run has at the moment."""

    def __init__(self, peers: Peers, count: Callable[[], int]) -> None:
        self._peers = peers
        self._count = count

    async def run(
        self, source: str, calls: Sequence[Call], *, fresh: bool = False, replica: int = 0
    ) -> list[Result]:
        """As `Executor.run`. Raises InfrastructureFault when no actor of the group could do the job."""
        faults: list[Exception] = []
        left: set[str] = set()
        while len(faults) < PLACES_TRIED:
            places = [name for name in ranked(source, self._count()) if name not in left]
            if not places:
                left.clear()
                faults.append(SandboxLeaving("every sandbox is leaving"))
                await asyncio.sleep(LEAVING_SECONDS)
                continue
            name = places[min(len(faults), len(places) - 1)]
            try:
                return await self._peers[name].run(source, list(calls), fresh, replica)
            except (SandboxLeaving, PeerRetired):
                left.add(name)
            except (InfrastructureFault, SandboxUnavailable, PeerUnavailable) as fault:
                faults.append(fault)
        raise InfrastructureFault(f"{PLACES_TRIED} sandboxes failed; the last said: {faults[-1]}")


def ranked(source: str, count: int) -> list[str]:
    """The sandboxes in the order in which a program prefers them."""
    key = blake2b(source.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    names = [f"sandbox-{index}" for index in range(count)]
    return sorted(names, key=lambda name: blake2b(name.encode(), key=key, digest_size=8).digest())
