"""Searches for tests and benchmarks: as a sandbox answers one, run in this process without any wall; and the plain
one, a sandbox call a step."""

from envpool.composition.apart import apart
from envpool.composition.search import FrontierSearch
from envpool.composition.together import Node, Task
from envpool.sandbox.inside.search import CountedProgram, Load, Search
from envpool.sandbox.results import Call, Fault, FaultKind, Result, Value


def searched(bundle: str, call: Call, load: Load = CountedProgram) -> list[Result]:
    """A result for each step, and how the search ended; a step that runs out of memory stands for any kill."""
    told: list[Result] = []
    try:
        Search(bundle, *call.args, load=load).run(lambda step: told.append(Value(step)))
    except MemoryError:
        return [*told, Fault(FaultKind.MEM_LIMIT)]
    return [*told, Value(None)]


class PlainSearch(FrontierSearch):
    """The same search with one brick a child, whether or not bricks falsify their neighbours."""

    async def _nodes(self, task: Task) -> list[Node]:
        return await apart(self._extender, task.without(self._extender.killed))
