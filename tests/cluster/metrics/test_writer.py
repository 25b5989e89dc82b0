"""One writer, several sinks: a sink that breaks, hangs or lags is alone with it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from cluster.metrics.writer import Writer


class Kept:
    """A sink that keeps what it is given."""

    def __init__(self) -> None:
        self.given: list[Any] = []
        self.thread = threading.current_thread().name
        self.closed = False

    def step(self, record: dict[str, Any]) -> None:
        self.given.append(("step", record))

    def gauges(self, status: dict[str, Any]) -> None:
        self.given.append(("gauges", status))

    def event(self, kind: str, record: dict[str, Any]) -> None:
        self.given.append((kind, record))

    def close(self) -> None:
        self.closed = True


class Full(Kept):
    """A sink on a full disk."""

    def event(self, kind: str, record: dict[str, Any]) -> None:
        raise OSError(28, "No space left on device")


class Hung(Kept):
    """A sink whose library does not come back until it is let go."""

    def __init__(self, gate: threading.Event) -> None:
        super().__init__()
        self.gate = gate

    def event(self, kind: str, record: dict[str, Any]) -> None:
        self.gate.wait()
        super().event(kind, record)


@pytest.fixture
def failures() -> list[tuple[str, str]]:
    return []


@pytest.fixture
def failed(failures: list[tuple[str, str]]) -> Callable[[str, str], None]:
    return lambda name, trace: failures.append((name, trace))


def test_every_sink_gets_every_record_in_order(failed: Callable[[str, str], None]) -> None:
    direct, threaded = Kept(), Kept()
    writer = Writer({"direct": lambda: direct}, {"threaded": lambda: threaded}, failed)
    for number in range(20):
        writer.event("line", {"number": number})
    writer.step({"step": 1})
    writer.close()
    expected = [*(("line", {"number": number}) for number in range(20)), ("step", {"step": 1})]
    assert direct.given == threaded.given == expected
    assert direct.closed and threaded.closed


@pytest.mark.parametrize("where", ["direct", "threaded"])
def test_a_full_disk_is_told_once_with_its_traceback_and_the_others_go_on(
    where: str, failures: list[tuple[str, str]], failed: Callable[[str, str], None]
) -> None:
    kept, full = Kept(), Full()
    broken = {"broken": lambda: full}
    writer = Writer(
        broken if where == "direct" else {},
        {"kept": lambda: kept} | (broken if where != "direct" else {}),
        failed,
    )
    for number in range(3):
        writer.event("line", {"number": number})
    writer.close()
    [(name, trace)] = failures
    assert name == "broken"
    assert "in event" in trace and trace.strip().endswith("No space left on device")
    assert len(kept.given) == 3
    assert full.closed  # what it held is given back


def test_a_sink_that_cannot_be_opened_is_told(
    failures: list[tuple[str, str]], failed: Callable[[str, str], None]
) -> None:
    def opener() -> Kept:
        raise RuntimeError("no key")

    kept = Kept()
    writer = Writer({"kept": lambda: kept}, {"closed": opener}, failed)
    writer.event("line", {})
    writer.close()
    assert [name for name, _ in failures] == ["closed"]
    assert kept.given == [("line", {})]


def test_a_sink_that_hangs_holds_up_neither_caller_nor_others_nor_the_end(
    failures: list[tuple[str, str]], failed: Callable[[str, str], None]
) -> None:
    gate, kept = threading.Event(), Kept()
    writer = Writer({}, {"hung": lambda: Hung(gate), "kept": lambda: kept}, failed, room=5)
    for number in range(20):
        writer.event("line", {"number": number})
        while len(kept.given) <= number:  # the other one keeps up
            gate.wait(0.001)
    writer.close(seconds=0.1)
    assert len(kept.given) == 20
    assert [name for name, _ in failures] == ["hung"]
    assert "5 records behind" in failures[0][1]
    gate.set()


def test_a_slow_sink_misses_statuses_but_no_record(failed: Callable[[str, str], None]) -> None:
    gate = threading.Event()
    slow = Hung(gate)
    writer = Writer({}, {"slow": lambda: slow}, failed)
    writer.event("first", {})
    writer.event("second", {})
    for number in range(100):
        writer.gauges({"number": number})
    writer.step({"step": 1})
    gate.set()
    writer.close()
    kinds = [kind for kind, _ in slow.given]
    assert [kind for kind in kinds if kind != "gauges"] == ["first", "second", "step"]
    assert kinds.count("gauges") <= 1
