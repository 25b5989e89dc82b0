"""What goes into the sandbox and what comes out of it: jobs of calls, limits, results, errors.

Invariant: a `Fault` is the program's doing and may count against it; trouble of the machine is never a `Fault`
but an `InfrastructureFault`. Plain data; nothing here runs anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

METHODS = ("sample", "solve", "verify", "accepts", "show", "inspect", "answer", "search")
ALLOWED_IMPORTS = (
    "__future__", "abc", "array", "bisect", "calendar", "cmath", "collections", "copy", "dataclasses", "datetime",
    "decimal", "enum", "envpool", "fractions", "functools", "heapq", "itertools", "math", "numbers", "operator",
    "random", "re", "statistics", "string", "textwrap", "typing",
)  # fmt: skip


class InfrastructureFault(RuntimeError):
    """The machine, not the program, failed three times: there is no verdict."""


class SandboxUnavailable(RuntimeError):
    """A rung cannot be had: the message says what is missing, what would help, and what else there is.

    `missing` maps each layer that does not hold to what the kernel answered.
    """

    def __init__(self, reason: str, missing: Mapping[str, str] | None = None) -> None:
        super().__init__(reason)
        self.missing = dict(missing or {})


class FaultKind(StrEnum):
    """How a program failed."""

    CODE_ERROR = "code_error"  # it raised, or it is no well-formed program
    ILLEGAL_VALUE = "illegal_value"  # a value outside its type or the limits, or a score outside [0, 1]
    CPU_LIMIT = "cpu_limit"  # it used up its CPU time, waited for what never comes, or worked until the wall limit
    MEM_LIMIT = "mem_limit"
    OUTPUT_LIMIT = "output_limit"
    PROTOCOL_ERROR = "protocol_error"  # it wrote into the harness's channel
    CRASH = "crash"  # it ended its process, or the process died of a signal
    POLICY_KILL = "policy_kill"  # it made a system call that ends a child at once


AUDIT_PATIENCE = 4
"""How many times the limits on time an audit gives a call (ours): a program that answered within them once and not
within so much more, in fork after fork, is not slow but unwilling."""


SEARCH_CPU_SECONDS = 1.0
"""CPU time of one step of a search (ours): a net behind the count of executed lines, which is the same everywhere."""
SEARCH_PATIENCE = 30
"""How many times the limits on time of a step a whole search may take (ours), so that none holds a zygote for long."""


class Mode(StrEnum):
    """What a job shares a process with; `replica` says in which zygote, and so under which hash seed."""

    VALIDATE = "validate"  # new code: a fork for each call; whoever asks compares two replicas
    SAMPLE = "sample"  # a stock of instances: one fork for the job, gone after it
    VERIFY = "verify"  # rewards: the program's open child, recycled; the least recently used goes first
    AUDIT = "audit"  # one result again, with more time: a fork of its own, of another sandbox where there are several
    SOLUTION = "solution"  # a solver's own program on inputs: a fork that no environment's code or answer enters
    SEARCH = "search"  # many programs together, none of which can be believed: a fork for one search


@dataclass(frozen=True, slots=True)
class Call:
    """One call of one method; arguments in wire form.

    sample(key, level), solve(x), verify(x, answer), accepts(x), show(x), inspect(); answer(x) of a solver's program;
    search(plan) of a bundle of programs.
    """

    method: str
    args: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"no such method: {self.method!r}")


@dataclass(frozen=True, slots=True)
class Job:
    """Calls of one source, in order. Raises ValueError where an environment, a solver's program and a bundle are mixed
    up, or a solver's program or a bundle may use packages.
    """

    source: str
    calls: tuple[Call, ...]
    mode: Mode = Mode.VERIFY
    replica: int = 0
    packages: bool = False  # whether it may run where third-party packages are, which is for what people brought in

    def __post_init__(self) -> None:
        if self.packages and self.mode in (Mode.SOLUTION, Mode.SEARCH):
            raise ValueError(f"no package is for a job of mode {self.mode}")
        if any((call.method == "answer") != (self.mode is Mode.SOLUTION) for call in self.calls):
            raise ValueError("`answer`, and nothing else, is called of a solver's own program")
        searches = self.mode is Mode.SEARCH
        if searches != any(call.method == "search" for call in self.calls) or (searches and len(self.calls) > 1):
            raise ValueError("`search`, once and nothing else, is called of a bundle")


@dataclass(frozen=True, slots=True)
class Value:
    """What a call returned, re-validated outside the child: wire form, str, bool, float in [0, 1] or dict."""

    value: Any
    unsafe: bool = False  # it was computed without a sandbox, on the rung of that name


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a call has no value. `detail` is text of the child: shown, never interpreted."""

    kind: FaultKind
    detail: str = ""
    unsafe: bool = False
    by_clock: bool = False  # the wall limit came first: on a machine with more time for it, it might have ended


Result = Value | Fault
Done = list[Result] | InfrastructureFault
"""What became of a job: one result a call, or no verdict at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxLimits:
    """Limits of one call, and how many children are kept. Time limits are a net, set far above normal use."""

    cpu_seconds: float = 2.0  # verdict; measured from outside, per call
    wall_seconds: float = 20.0  # net for waiting and for stalls of the machine
    memory_mib: int = 256  # address space above what the zygote has mapped
    output_kib: int = 256  # one result frame
    open_children: int = 8  # kept for later calls, least recently used dropped first
    calls_per_child: int = 256  # then recycled
    source_kib: int = 64
    jobs_per_zygote: int = 5_000  # then recycled
