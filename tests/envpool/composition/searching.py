"""A search as a sandbox answers it, run in this process: for executors of the tests, and without any wall."""

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
