"""The sandbox as others use it: sources and calls in, typed results out.

Invariant: every result is either re-validated data or a `Fault` the program earned; trouble of the machine is tried
again on a new zygote twice and then raised. Thread-confined: one thread at a time.
It never parses, compiles or runs a source.
"""

import contextlib
import logging
import secrets
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import TracebackType
from typing import NamedTuple, Self

from envpool.sandbox import ladder, wire
from envpool.sandbox.child import Child, Ended
from envpool.sandbox.packages import Packages
from envpool.sandbox.results import (
    SEARCH_CPU_SECONDS,
    Call,
    Fault,
    FaultKind,
    InfrastructureFault,
    Result,
    SandboxLimits,
    SandboxUnavailable,
    Value,
)  # fmt: skip
from envpool.sandbox.seat import Seat
from envpool.sandbox.server import ForkServer, Lost

log = logging.getLogger(__name__)

_ATTEMPTS = 3
_SWEEP_SECONDS = 1.0  # between two looks at what open children do of their own accord


class _Key(NamedTuple):
    """What a child is kept, or made, for."""

    source: str
    fresh: bool  # it serves one job only
    patience: float  # of its limits on time


class Sandbox:
    """One zygote and its children, on a rung of `ladder`; None takes the strongest one that the node offers.

    `packages` are third-party ones that programs may import besides, each as "name" or "name=folder" (`packages`).
    Raises SandboxUnavailable where the rung or a package cannot be had. Later zygotes get the same rung or none.
    """

    def __init__(
        self,
        limits: SandboxLimits | None = None,
        *,
        hash_seed: int = 1,
        rung: str | None = None,
        allow_unsafe: bool = False,
        packages: Sequence[str] = (),
    ) -> None:
        self._packages = Packages.found(packages)
        self._limits = limits or SandboxLimits()
        self._hash_seed = hash_seed
        self._children: OrderedDict[_Key, Child] = OrderedDict()  # least recently used first
        self._counts: Counter[str] = Counter()
        self._next_sweep = 0.0
        self._seat = Seat()
        self._allow_unsafe = allow_unsafe
        self._server: ForkServer | None = ladder.start(
            self._limits, hash_seed, rung, allow_unsafe=allow_unsafe, packages=self._packages
        )
        self._layers, self._rung = list(self._server.layers), self._server.rung

    def run(
        self, source: str, calls: Sequence[Call], *, fresh: bool = False, patience: float = 1.0
    ) -> list[Result]:
        """One result a call, in order. `fresh` gives the job a fork of its own, `patience` that many times the limits
        on time. Raises InfrastructureFault.
        """
        if len(source.encode("utf-8", "surrogatepass")) > self._limits.source_kib << 10:
            return [
                Fault(FaultKind.CODE_ERROR, f"a source of more than {self._limits.source_kib} KiB")
            ] * len(calls)
        key = _Key(source, fresh, patience)
        self.sweep()
        try:
            return [result for call in calls for result in self._persistently(key, call)]
        finally:
            self._seat.leave()
            if fresh:
                self._forget(key)

    def search(self, bundle: str, call: Call) -> list[Result]:
        """One result for each step that a search told of, and last how it ended: a Value of None, or the Fault.

        A step is let `SEARCH_CPU_SECONDS`. Nothing that is told can be believed. Raises InfrastructureFault.
        """
        if len(bundle) > wire.MAX_BUNDLE:
            return [Fault(FaultKind.CODE_ERROR, f"a bundle of more than {wire.MAX_BUNDLE >> 10} KiB")]
        patience = min(1.0, SEARCH_CPU_SECONDS / self._limits.cpu_seconds)
        key = _Key(bundle, True, patience)
        self.sweep()
        try:
            return self._persistently(key, call)
        finally:
            self._forget(key)

    def layers(self) -> list[str]:
        """The layers that hold, as the zygote reported them after its self-test."""
        return list(self._layers)

    @property
    def rung(self) -> str:
        """The rung of `ladder` that this sandbox stands on."""
        return self._rung

    @property
    def zygote_pid(self) -> int | None:
        """The process whose children run programs; None while there is none."""
        return self._server.pid if self._server else None

    def metrics(self) -> dict[str, int]:
        """Counts since the start: calls, forks, restarts, faults by kind; and the children open now."""
        return {**self._counts, "open_children": len(self._children)}

    def sweep(self) -> None:
        """Ends the open children that work while nobody asks them, which no limit of a call sees.

        Looks at most once a second. `run` does it too; call it where nothing runs for long.
        """
        now = time.monotonic()
        if now < self._next_sweep:
            return
        self._next_sweep = now + _SWEEP_SECONDS
        for key, child in list(self._children.items()):
            with contextlib.suppress(Lost):  # of one that is gone the next call of it will tell
                if not child.idles():
                    self._forget(key)
                    self._counts["restless"] += 1

    def close(self) -> None:
        """Ends the zygote and every child. A later run starts a new one."""
        for child in self._children.values():
            child.abandon()
        self._children.clear()
        if self._server:
            self._server.close()
            self._server = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()

    def _persistently(self, key: _Key, call: Call) -> list[Result]:
        """The results of a call; what the machine spoils is tried again from a new zygote."""
        trouble = ""
        for _ in range(_ATTEMPTS):
            try:
                return self._attempt(key, call)
            except Lost as error:
                trouble = str(error)
                log.warning("sandbox: %s; starting a new zygote", trouble)
                self._counts["restarts"] += 1
                self.close()
        self._counts["infrastructure_faults"] += 1
        raise InfrastructureFault(f"{call.method} failed {_ATTEMPTS} times, last: {trouble}")

    def _attempt(self, key: _Key, call: Call) -> list[Result]:
        """One result, or of a search all. Raises Lost."""
        identity = secrets.randbits(63)
        try:
            request = wire.request(identity, call.method, call.args)
        except wire.Malformed as error:
            return [Fault(FaultKind.ILLEGAL_VALUE, str(error))]
        child = self._child(key)
        results: list[Result] = []
        keep = False
        try:
            child.expect_silence()
            for body in _replies(child, request, call.method):
                results.append(wire.read_reply(body, identity, call.method))
                if call.method != "search" or _ends(results[-1]):
                    break
            keep = isinstance(results[-1], Value) and child.calls < self._limits.calls_per_child
        except Ended as error:
            results.append(error.fault)
        except wire.Malformed as error:
            results.append(Fault(FaultKind.PROTOCOL_ERROR, str(error)))
        finally:
            if not keep:  # also after an interrupt: a late reply must not meet another call
                self._forget(key)
        self._counts["calls"] += 1
        if isinstance(results[-1], Fault):
            self._counts[results[-1].kind.value] += 1
        unsafe = self._rung == ladder.Rung.UNSAFE
        return [replace(result, unsafe=True) for result in results] if unsafe else results

    def _child(self, key: _Key) -> Child:
        """The open child of a source, or a new one. Raises Lost."""
        if key in self._children:
            self._children.move_to_end(key)
            return self._children[key]
        server = self._started()
        while len(self._children) >= self._limits.open_children:
            self._forget(next(iter(self._children)))
        child = self._children[key] = Child(
            server, self._limits, wire.request(0, "source", (key.source,)), self._seat, key.patience
        )
        self._counts["forks"] += 1
        return child

    def _started(self) -> ForkServer:
        if self._server and self._server.jobs >= self._limits.jobs_per_zygote:
            self.close()
        if self._server is None:
            self._seat.leave()  # or the new zygote would be born on one CPU
            try:
                self._server = ladder.start(
                    self._limits,
                    self._hash_seed,
                    self._rung,
                    allow_unsafe=self._allow_unsafe,
                    packages=self._packages,
                )
            except SandboxUnavailable as error:
                raise Lost(f"no zygote can be started: {error}") from None
        return self._server

    def _forget(self, key: _Key) -> None:
        if key in self._children:
            self._children.pop(key).end()


def _replies(child: Child, request: bytes, method: str) -> Iterator[bytes]:
    """The bodies that answer a request, as they come. Raises Ended or Lost."""
    if method == "search":
        return child.stream(request)
    return iter((child.exchange(request),))


def _ends(result: Result) -> bool:
    return isinstance(result, Fault) or result.value is None
