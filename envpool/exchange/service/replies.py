"""Replies by request, so that a request that is sent again has the reply of the first.

Invariant: the work of a request is begun once, however often and at whatever moment it is sent again, and goes on when
the one who sent it hangs up. Work that failed is forgotten, so that another try does it anew. Belongs to one event
loop; what is remembered beyond this process is the backend's.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class OtherRequest(ValueError):
    """A request's name was used for something else before."""


class Replies(Generic[T]):
    """The last `kept` replies, and those under way."""

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self._tasks: OrderedDict[str, tuple[object, asyncio.Task[T]]] = OrderedDict()

    async def of(self, request: str, asked: object, work: Callable[[], Awaitable[T]]) -> T:
        """The reply to a request, from `work` where it is new; raises what that raises.

        Raises OtherRequest where the request was sent before and `asked` for something else.
        """
        if request not in self._tasks:
            self._make_room()
            task = asyncio.create_task(self._done(request, work))
            task.add_done_callback(_seen)
            self._tasks[request] = asked, task
        before, task = self._tasks[request]
        if before != asked:
            raise OtherRequest(f"request {request!r} asked for something else before; each has its own name")
        self._tasks.move_to_end(request)
        return await asyncio.shield(task)

    async def _done(self, request: str, work: Callable[[], Awaitable[T]]) -> T:
        try:
            return await work()
        except BaseException:
            self._tasks.pop(request, None)
            raise

    def _make_room(self) -> None:
        """What is under way stays: there is no more of that than the service lets in."""
        while len(self._tasks) >= self._kept:
            oldest = next((name for name, (_, task) in self._tasks.items() if task.done()), None)
            if oldest is None:
                return
            del self._tasks[oldest]


def _seen(task: asyncio.Task[T]) -> None:
    """Or asyncio would complain of an error whose sender hung up."""
    if not task.cancelled():
        task.exception()
