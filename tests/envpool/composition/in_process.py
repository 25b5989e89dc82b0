"""Shipped bricks run in this process: fast enough for thousands of composites, and without any wall.

For bricks of this repository only; what the sandbox adds is tested with the real one. Each brick stands here twice:
as a member whose source `InProcessExecutor` runs as a sandbox's child would, and as its class, imported as a module,
with which the tests work out on their own what should come out.
"""

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from envpool.bricks import read_bricks
from envpool.contract import Environment
from envpool.members import Member, Origin, Program
from envpool.sandbox.inside.form import parse, read_form
from envpool.sandbox.inside.program import Program as Loaded
from envpool.sandbox.results import Call, Fault, FaultKind, Mode, Result, Value
from envpool.signatures import IllegalValue, ValueType, check, check_type, parse_type

CPU_SECONDS = 0.5
"""Of this process, for one answer: orders run bricks on values on which some never end."""


class Refused(Exception):
    """A value that the brick does not take, or has no answer for."""


class Endless(Refused):
    """A value on which a brick works for longer than it is let."""


class _Rung(BaseException):
    """The time is up; no `except Exception` of a brick may hold it."""


@dataclass(frozen=True)
class Brick:
    """A shipped brick as a member and as a class."""

    name: str
    member: Member
    program: Program
    environment: type[Environment]

    @property
    def id(self) -> str:
        return self.member.id

    @property
    def domain(self) -> ValueType:
        """What `apply` takes."""
        return parse_type(self.program.domain)

    def apply(self, x: object) -> object:
        """The answer to a plain value. Raises Refused for one of another type, or that the brick does not accept."""
        self._refuse_type(x)
        if not self.environment().accepts(x):
            raise Refused(f"{self.name} does not accept it")
        return self.environment().solve(x)

    def proposed(self, x: object) -> object:
        """The answer where an order proposes it, accepted or not. Raises Refused where there is none, or Endless."""
        return self.answered_by(self.environment().solve, x)

    def answered_by(self, solve: Callable[[object], object], x: object) -> object:
        """As `proposed`, with another function in the place of its own."""
        self._refuse_type(x)
        try:
            with _limited():
                y = solve(x)
            check(y, parse_type(self.program.codomain))
        except _Rung:
            raise Endless(f"{self.name} does not end") from None
        except Exception as error:  # nobody promised what comes of a value that it does not accept
            raise Refused(repr(error)) from error
        return y

    def _refuse_type(self, x: object) -> None:
        """Raises Refused for a value of another type."""
        try:
            check_type(x, self.domain)
        except IllegalValue as error:
            raise Refused(str(error)) from error


@cache
def bricks() -> tuple[Brick, ...]:
    """All shipped bricks, in the order of their names."""
    return tuple(_brick(name, source) for name, source in read_bricks())


def _brick(name: str, source: str) -> Brick:
    form = read_form(parse(source))
    domain, codomain = map(str, (form.signature.domain, form.signature.codomain))
    program = Program(source, form.node.name, form.rule, domain, codomain, form.oracle)
    module = import_module(f"envpool.bricks.{name.replace('/', '.')}")
    return Brick(name, Member(program, Origin.BRICK), program, getattr(module, program.name))


class InProcessExecutor:
    """Runs sources at once, each loaded once."""

    def __init__(self) -> None:
        self._loaded: dict[str, Loaded] = {}

    async def run(
        self,
        source: str,
        calls: Sequence[Call],
        *,
        mode: Mode = Mode.VERIFY,
        replica: int = 0,
        packages: bool = False,
    ) -> list[Result]:
        if source not in self._loaded:
            self._loaded[source] = Loaded(source)
        return [_result(self._loaded[source], call) for call in calls]


@contextmanager
def _limited() -> Iterator[None]:
    """Raises _Rung once the time is up, in the main thread."""
    signal.signal(signal.SIGVTALRM, _ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _ring(*_: object) -> None:
    raise _Rung


def _result(program: Loaded, call: Call) -> Result:
    try:
        with _limited():
            return Value(program.call(call.method, list(call.args)))
    except _Rung:
        return Fault(FaultKind.CPU_LIMIT, f"{CPU_SECONDS} s")
    except IllegalValue as error:
        return Fault(FaultKind.ILLEGAL_VALUE, str(error))
    except Exception as error:  # noqa: BLE001 - a program may raise anything
        return Fault(FaultKind.CODE_ERROR, repr(error))
