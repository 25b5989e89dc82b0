"""Frontier search in the child: all bricks of a search together, the whole walk in one process.

The source of the job is a bundle, a JSON list of bricks with their types; the call brings the plan. Of each edge of
the walk, in its order, the parent is told what the step brought: nothing where it did not run. So the parent, which
takes the same walk, knows which step is under way when a child ends.
Invariant: the outcome of a step hangs on the plan and the bricks alone: values are bounded in size, and a program's
executed lines are counted. A brick can falsify its neighbours here: whoever uses what is told recomputes it.
"""

import json
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from envpool.frontier import START, Edge, Plan, Trace, Walk, agreed
from envpool.sandbox.inside.program import FILE, Program
from envpool.signatures import Signature, canonical_bytes, from_wire, literal

Tell = Callable[[list[Any]], None]
Traces = tuple[Trace, ...]


class OutOfLines(BaseException):
    """A program executed more lines than a step may."""


class CountedProgram(Program):
    """A program whose own executed lines are counted, call by call: the step limit that is the same on each machine."""

    def __init__(self, brick: dict[str, str], lines: int) -> None:
        signature = Signature.parse(f"{brick['domain']} -> {brick['codomain']}")
        super().__init__(brick["source"], known=(brick["name"], signature, brick["oracle"]))
        self._limit = lines

    def _do(self, method: str, *args: Any) -> Any:
        """As of any program. Raises OutOfLines, also where the program caught it on the way."""
        limit, lines = self._limit, 0

        def line(_frame: FrameType, event: str, _arg: Any) -> Any:
            nonlocal lines
            if event == "line":
                lines += 1
                if lines > limit:
                    raise OutOfLines
            return line

        def call(frame: FrameType, _event: str, _arg: Any) -> Any:
            # Not those of the library: they differ between versions of Python.
            return line if frame.f_code.co_filename == FILE else None

        sys.settrace(call)
        try:
            return super()._do(method, *args)
        finally:
            sys.settrace(None)
            if lines > limit:
                raise OutOfLines


Load = Callable[[dict[str, str], int], Program]


class Search:
    """One walk over a bundle. A brick is loaded at its first use."""

    def __init__(self, bundle: str, plan: dict[str, Any], load: Load = CountedProgram) -> None:
        self._bricks: list[dict[str, str]] = json.loads(bundle)
        self._load = load
        self._loaded: dict[int, Program | None] = {}
        self._draws: list[list[tuple[str, int]]] = plan["draws"]
        self._agreeing, self._max_literal, self._lines = plan["agreeing"], plan["max_literal"], plan["lines"]
        self._plan = Plan(
            seed=plan["seed"],
            domains=tuple(brick["domain"] for brick in self._bricks),
            codomains=tuple(brick["codomain"] for brick in self._bricks),
            functions=tuple(brick["oracle"] == "equality" for brick in self._bricks),
            weights=tuple(plan["weights"]),
            starts=tuple(plan["starts"]),
            skipped=frozenset((before, brick) for before, brick in plan["skipped"]),
            depth=plan["depth"],
            expansions=plan["expansions"],
            frontier=plan["frontier"],
        )

    def run(self, tell: Tell) -> None:
        """Tells of each edge in turn the new values of its concrete draw. Raises MemoryError."""
        walk = Walk(self._plan)
        reached: list[Traces] = []
        for edges in walk.levels():
            for edge in edges:
                traces = self._step(edge, reached)
                if traces is None:
                    tell([])
                else:
                    walk.ran(edge)
                    reached.append(traces)
                    tell(list(traces[0].values[0 if edge[0] == START else -1 :]))

    def _step(self, edge: Edge, reached: list[Traces]) -> Traces | None:
        node, number = edge
        if node != START:
            return self._through(number, reached[node])
        brick = self._plan.starts[number]
        planted = not self._plan.functions[brick]
        drawn = [self._attempted(self._drawn, brick, key, level, planted) for key, level in self._draws[number]]
        if drawn[0] is None:
            return None
        traces = tuple(trace for trace in drawn if trace is not None)
        return traces if planted else self._through(brick, traces)

    def _through(self, brick: int, traces: Traces) -> Traces | None:
        grown: list[Trace | None] = []
        for trace in traces:
            grown.append(self._attempted(self._solved, brick, trace))
            if grown[0] is None:  # the concrete draw: no other is worth the time
                return None
        return agreed(grown, self._agreeing)

    def _attempted(self, attempt: Callable[..., Trace | None], brick: int, *args: Any) -> Trace | None:
        """What an attempt gives; whatever it raises, the step did not run."""
        try:
            program = self._program(brick)
            return attempt(program, *args) if program is not None else None
        except MemoryError:
            raise
        except BaseException:  # noqa: BLE001  a program may raise anything
            return None

    def _program(self, brick: int) -> Program | None:
        """None of a brick that does not load; it is not tried again."""
        if brick not in self._loaded:
            self._loaded[brick] = None
            self._loaded[brick] = self._load(self._bricks[brick], self._lines)
        return self._loaded[brick]

    def _drawn(self, program: Program, key: str, level: int, planted: bool) -> Trace | None:
        sample = program.call("sample", [key, level])
        trace = self._then(Trace((), ()), sample["input"])
        if trace is None or len(sample["shown"]) > self._max_literal:
            return None
        return self._then(trace, sample["planted"]) if planted else trace

    def _solved(self, program: Program, trace: Trace) -> Trace | None:
        x = trace.values[-1]
        if program.call("accepts", [x]) is not True:
            return None
        return self._then(trace, program.call("solve", [x]))

    def _then(self, trace: Trace, wire: Any) -> Trace | None:
        """The trace with one more value, if that is short."""
        value = from_wire(wire)
        if len(literal(value)) > self._max_literal:
            return None
        return trace.then(wire, canonical_bytes(value))
