"""A search in one child, as the sandbox sees it: a stream of steps that is read strictly, bounded, and has an end."""

import json
import os
import signal

import pytest
from hostile import program
from small_limits import TIGHT

from envpool.sandbox import (
    Call,
    Fault,
    FaultKind,
    Job,
    LocalExecutor,
    Mode,
    Result,
    Sandbox,
    Value,
    child,
    wire,
)

FRAME = """
frame = random._os.sys._getframe()
while "identity" not in frame.f_locals:
    frame = frame.f_back
identity = frame.f_locals["identity"]
def say(kind, content):
    body = b'[%d,"%b",%b]' % (identity, kind, content)
    random._os.write(4, len(body).to_bytes(4, "big") + body)
"""
PLUS = program("return x + 1", sample="rng.randint(1, 99)")
TIMES = program("return x * 3", sample="rng.randint(1, 99)")


def bundle(*sources: str) -> str:
    types = {"name": "Subject", "domain": "int", "codomain": "int", "oracle": "equality"}
    return json.dumps([{"source": source, **types} for source in sources])


def plan(count: int, **changes: object) -> Call:
    """Starts with the first of so many programs, and goes two steps deep."""
    whole = {
        "seed": 1, "weights": [1.0] * count, "starts": [0], "draws": [[["a", 0], ["b", 0], ["c", 0]]], "skipped": [],
        "depth": 2, "expansions": 3, "frontier": 4, "agreeing": 2, "max_literal": 80, "lines": 1000,
    }  # fmt: skip
    return Call("search", ({**whole, **changes},))


def hostile(body: str) -> str:
    return program(f"{FRAME}\n{body}\nreturn x - 1", sample="rng.randint(1, 99)")


def search(sandbox: Sandbox, *sources: str, **changes: object) -> list[Result]:
    return sandbox.search(bundle(*sources), plan(len(sources), **changes))


def test_each_step_is_told_and_then_the_end(sandbox: Sandbox) -> None:
    start, step, end = search(sandbox, PLUS, TIMES)
    x, y = start.value  # type: ignore[union-attr]
    assert (y, step, end) == (x + 1, Value([3 * y]), Value(None))


def test_the_child_of_a_search_ends_with_it(sandbox: Sandbox) -> None:
    before = sandbox.metrics()
    for _ in range(3):
        search(sandbox, PLUS, TIMES)
    after = sandbox.metrics()
    assert after["forks"] == before["forks"] + 3
    assert after["open_children"] == before["open_children"]


def test_a_brick_that_does_not_load_or_run_is_a_step_that_brought_nothing(sandbox: Sandbox) -> None:
    broken = program("return 1 // 0"), program("return x", top="raise SystemExit"), "class Subject: pass", "?"
    start, *steps, end = search(sandbox, PLUS, *broken, expansions=9)
    assert len(start.value) == 2  # type: ignore[union-attr]
    assert steps == [Value([])] * 4
    assert end == Value(None)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        pytest.param("while True: say(b'part', b'[]')", FaultKind.OUTPUT_LIMIT, id="a flood of steps"),
        pytest.param("while True: say(b'part', b'[[%b7]]' % (b'7,' * 999))", FaultKind.OUTPUT_LIMIT, id="large steps"),
        pytest.param("say(b'part', b'[1,2,3]')", FaultKind.PROTOCOL_ERROR, id="a step of three values"),
        pytest.param("say(b'part', b'7')", FaultKind.PROTOCOL_ERROR, id="a step that is no list"),
        pytest.param("say(b'part', b'[NaN]')", FaultKind.PROTOCOL_ERROR, id="no number"),
        pytest.param("say(b'part', b'[{\"t\":7}]')", FaultKind.PROTOCOL_ERROR, id="no wire form"),
        pytest.param("say(b'value', b'[1]')", FaultKind.PROTOCOL_ERROR, id="an end with a value"),
        pytest.param("say(b'infra', b'\"lost\"')", FaultKind.PROTOCOL_ERROR, id="a fault it may not report"),
        pytest.param("identity += 1\nsay(b'part', b'[]')", FaultKind.PROTOCOL_ERROR, id="of another call"),
        pytest.param("random._os.write(4, b'????' * 9)", FaultKind.OUTPUT_LIMIT, id="no frame"),
        pytest.param("sum(range(10**12))", FaultKind.CPU_LIMIT, id="time"),
        pytest.param("bytearray(1 << 30)", FaultKind.MEM_LIMIT, id="memory"),
        pytest.param("random._os._exit(0)", FaultKind.CRASH, id="its end"),
    ],
)  # fmt: skip
def test_a_step_that_breaks_a_limit_or_the_protocol_ends_the_search_and_what_came_before_is_told(
    sandbox: Sandbox, body: str, kind: FaultKind
) -> None:
    start, *_, end = search(sandbox, PLUS, hostile(body), lines=10**9)
    assert isinstance(end, Fault) and end.kind is kind
    x, y = start.value  # type: ignore[union-attr]
    assert y == x + 1


def test_a_search_that_is_let_no_more_time_ends_though_each_step_is_within_its_limit(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "SEARCH_PATIENCE", 0.5)
    burning = program(f"{FRAME}\nwhile True:\n    sum(range(10**6)); say(b'part', b'[]')")
    results = search(sandbox, PLUS, burning, lines=10**9)
    assert isinstance(results[-1], Fault) and results[-1].kind is FaultKind.CPU_LIMIT
    assert len(results) < 1000


def test_a_bundle_that_is_too_large_is_refused_before_a_fork(sandbox: Sandbox) -> None:
    forks = sandbox.metrics()["forks"]
    (result,) = sandbox.search(" " * (wire.MAX_BUNDLE + 1), plan(1))
    assert isinstance(result, Fault) and result.kind is FaultKind.CODE_ERROR
    assert sandbox.metrics()["forks"] == forks


def test_the_largest_bundle_is_taken(sandbox: Sandbox) -> None:
    whole = bundle(PLUS)
    padded = whole + " " * (wire.MAX_BUNDLE - len(whole))
    assert sandbox.search(padded, plan(1))[-1] == Value(None)
    assert wire.request(0, "source", ('"' * wire.MAX_BUNDLE,)), "also where each character takes two"


def test_a_program_is_none_that_a_search_may_be_asked_of_and_a_bundle_nothing_else() -> None:
    call = plan(1)
    with pytest.raises(ValueError, match="bundle"):
        Job(PLUS, (call,))
    for calls in ((), (call, call), (Call("solve", (1,)),)):
        with pytest.raises(ValueError, match="bundle"):
            Job(bundle(PLUS), calls, Mode.SEARCH)


def test_a_search_whose_zygote_is_lost_is_made_again_from_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = program("sum(range(10**6))\nreturn x * 3", sample="rng.randint(1, 99)")
    read, lost = wire.read_reply, []

    def losing(*args: object) -> Result:
        """As the trusted end reads, with the zygote killed at the first step."""
        if not lost:
            lost.append(sandbox.zygote_pid)
            os.kill(lost[0], signal.SIGKILL)
        return read(*args)  # type: ignore[arg-type]

    with Sandbox(TIGHT) as sandbox:
        expected = search(sandbox, PLUS, *[slow] * 6, expansions=9)
        monkeypatch.setattr(wire, "read_reply", losing)
        assert search(sandbox, PLUS, *[slow] * 6, expansions=9) == expected
        assert lost and sandbox.metrics()["restarts"] == 1


async def test_a_search_is_one_job_of_an_executor_like_any_other() -> None:
    executor = LocalExecutor(TIGHT)
    jobs = [
        Job(bundle(PLUS, TIMES), (plan(2),), Mode.SEARCH, replica=1), Job(PLUS, (Call("solve", (1,)),)),
        Job(bundle(PLUS, TIMES), (plan(2),), Mode.SEARCH, replica=2),
    ]  # fmt: skip
    here, other, there = await executor.run_many(jobs)
    executor.close()
    assert here == there and other == [Value(2)]
    assert isinstance(here, list) and here[-1] == Value(None)
