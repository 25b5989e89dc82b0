"""An executor that asks once for what several tasks ask of a program in the same turn of the event loop.

Instances that are built side by side come to the same step together, and a round trip costs more than most calls.
Invariant: each caller gets the results of its own calls, as if it had asked alone: a sandbox gives one result a call,
and a call that kills its child takes no other one with it. Calls of different programs, replicas or rights are never
put together, nor those that want a fork of their own.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from envpool.sandbox.executor import Executor
from envpool.sandbox.results import Call, Mode, Result


class _Place(NamedTuple):
    """What calls that are put together have in common."""

    source: str
    replica: int
    packages: bool


@dataclass(frozen=True, slots=True)
class _Lot:
    """Calls that gather until the job begins."""

    calls: list[Call]
    job: asyncio.Task[list[Result]]


class Merging:
    """`executor`, for many tasks of one event loop."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._gathering: dict[_Place, _Lot] = {}

    async def run(
        self,
        source: str,
        calls: Sequence[Call],
        *,
        mode: Mode = Mode.VERIFY,
        replica: int = 0,
        packages: bool = False,
    ) -> list[Result]:
        """As `Executor.run`."""
        if mode is not Mode.VERIFY:
            return await self._executor.run(source, calls, mode=mode, replica=replica, packages=packages)
        place = _Place(source, replica, packages)
        lot = self._gathering.get(place) or self._begin(place)
        begin = len(lot.calls)
        lot.calls.extend(calls)
        results = await asyncio.shield(lot.job)  # whoever is cancelled leaves it to the others
        return results[begin : begin + len(calls)]

    def _begin(self, place: _Place) -> _Lot:
        lot = self._gathering[place] = _Lot([], asyncio.create_task(self._ask(place)))
        return lot

    async def _ask(self, place: _Place) -> list[Result]:
        """Begins in the next turn of the loop, when all that are due in this one have asked."""
        calls = self._gathering.pop(place).calls
        return await self._executor.run(place.source, calls, replica=place.replica, packages=place.packages)
