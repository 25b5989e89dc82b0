"""Answers that are code: judged on canonical values outside, with the reference and the environment out of reach."""

import json
from collections.abc import AsyncIterator

import pytest
from hostile import HONEST, KERNEL, program
from small_limits import TIGHT

from envpool.sandbox import (
    Call,
    Case,
    Fault,
    FaultKind,
    InfrastructureFault,
    Job,
    Judged,
    LocalExecutor,
    Mode,
    Value,
    judge_solution,
)

SECRET = "the-reference-that-stays-outside"
LATER = "an-input-that-comes-later"


@pytest.fixture
async def executor() -> AsyncIterator[LocalExecutor]:
    started = LocalExecutor(TIGHT)
    yield started
    started.close()


async def judged(executor: LocalExecutor, source: str, *cases: Case, codomain: str = "int") -> list[object]:
    return list(await judge_solution(executor, source, cases, codomain))


async def test_a_right_and_a_wrong_answer(executor: LocalExecutor) -> None:
    source = "def solve(x):\n    return sum(x)"
    verdicts = await judged(executor, source, Case([1, 2], 3), Case([5], 6))
    assert verdicts == [Judged(True, 3), Judged(False, 5)]


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("def solve(x):\n    return x / 0", FaultKind.CODE_ERROR),
        ("def solve(x): return (", FaultKind.CODE_ERROR),
        ("def answer(x): return x", FaultKind.CODE_ERROR),
        ("solve = 7", FaultKind.CODE_ERROR),
        ("raise SystemExit", FaultKind.CODE_ERROR),
        ("def solve(x): return str(x)", FaultKind.ILLEGAL_VALUE),
        ("def solve(x): return True", FaultKind.ILLEGAL_VALUE),
        ("def solve(x): return 3.0", FaultKind.ILLEGAL_VALUE),
        ("def solve(x): return float('nan')", FaultKind.ILLEGAL_VALUE),
        ("def solve(x): return object()", FaultKind.ILLEGAL_VALUE),
        ("def solve(x):\n    while True: pass", FaultKind.CPU_LIMIT),
        ("def solve(x): return bytearray(10 ** 10)", FaultKind.MEM_LIMIT),
        (f"{KERNEL}\ndef solve(x): os._exit(0)", FaultKind.CRASH),
        (f"{KERNEL}\ndef solve(x): os.write(4, bytes([0, 0, 0, 2]) + b'[]')", FaultKind.PROTOCOL_ERROR),
        (f"{KERNEL}\ndef solve(x): call('ptrace', 0, 0, 0, 0)", FaultKind.POLICY_KILL),
    ],
)
async def test_what_is_no_answer_is_a_typed_fault_of_the_solver(
    executor: LocalExecutor, source: str, kind: FaultKind
) -> None:
    [verdict] = await judged(executor, source, Case(3, 3))
    assert isinstance(verdict, Fault) and verdict.kind is kind, verdict


@pytest.mark.parametrize(
    "body",
    [
        "class Same(int):\n    __eq__ = lambda a, b: True\n    __hash__ = int.__hash__\ndef solve(x): return Same(1)",
        "class Any:\n    __eq__ = lambda a, b: True\ndef solve(x): return Any()",
        "class Any:\n    __reduce__ = lambda a: (print, ())\ndef solve(x): return Any()",
        "import builtins\nbuiltins.isinstance = builtins.all = lambda *a: True\ndef solve(x): return {1}",
    ],
)
async def test_an_object_that_equals_everything_is_never_right(executor: LocalExecutor, body: str) -> None:
    [verdict] = await judged(executor, body, Case(3, 3))
    assert not (isinstance(verdict, Judged) and verdict.right)


async def test_equal_is_equal_in_type_too(executor: LocalExecutor) -> None:
    source = "def solve(x): return [x, x]"
    tuples = await judged(executor, source, Case(1, {"t": [1, 1]}), codomain="tuple[int, int]")
    assert isinstance(tuples[0], Fault) and tuples[0].kind is FaultKind.ILLEGAL_VALUE
    assert await judged(executor, source, Case(1, [1, 1]), codomain="list[int]") == [Judged(True, [1, 1])]


async def test_a_fault_on_one_input_does_not_touch_the_next(executor: LocalExecutor) -> None:
    source = f"{KERNEL}\ndef solve(x):\n    if x == 2: os._exit(1)\n    return x"
    first, second, third = await judged(executor, source, *(Case(n, n) for n in (1, 2, 3)))
    assert first == Judged(True, 1) and third == Judged(True, 3)
    assert isinstance(second, Fault) and second.kind is FaultKind.CRASH


SNOOP = f"BACKWARDS = {[SECRET[::-1], LATER[::-1]]!r}" + '''
import gc, random
os = random._os
sys = os.sys

def reachable():
    frame, texts = sys._getframe(), []
    while frame:
        texts += map(repr, frame.f_locals.values())
        frame = frame.f_back
    for thing in gc.get_objects():
        if type(thing) in (list, tuple, dict, set):
            texts += [part for part in thing if type(part) is str]
            texts += [part for part in thing.values() if type(part) is str] if type(thing) is dict else []
        for referent in gc.get_referents(thing):
            if type(referent) in (str, bytes):
                texts.append(repr(referent))
    return texts

def solve(x):
    backwards = BACKWARDS  # or the search would find its own words
    texts = [text[::-1] for text in reachable()]
    return [x, *[any(word in text for text in texts) for word in (*backwards, x[::-1])]]
'''


async def test_reference_environment_and_later_inputs_are_nowhere_in_the_childs_reach(
    executor: LocalExecutor,
) -> None:
    # The environment has just said the reference, in a child of the same zygote that is still open.
    environment = program(f"return {SECRET!r}", codomain="str")
    assert await executor.run(environment, [Call("solve", (1,))]) == [Value(SECRET)]
    calls = tuple(Call("answer", (x,)) for x in ("the-input-itself", LATER))
    [[first, second]] = await executor.run_many([Job(SNOOP, calls, Mode.SOLUTION)])  # type: ignore[misc]
    assert first == Value(["the-input-itself", False, False, True]), "it finds what it was given, and nothing else"
    assert second.value[2:] == [True, True], "the search does find what is there"


async def test_neither_reference_nor_environment_is_ever_sent(
    executor: LocalExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    from envpool.sandbox import child

    sent: list[bytes] = []
    exchange = child.Child.exchange

    def noted(self: child.Child, request: bytes) -> bytes:
        sent.append(self._opening + request)
        return exchange(self, request)

    monkeypatch.setattr(child.Child, "exchange", noted)
    source = "def solve(x): return x"
    await judged(executor, source, Case("question", SECRET), codomain="str")
    bodies = b"".join(sent)
    assert len(sent) == 1 and SECRET.encode() not in bodies and b"Environment" not in bodies
    assert json.dumps(source).encode() in bodies and b"question" in bodies


async def test_a_solution_leaves_no_child_behind_and_shares_none(executor: LocalExecutor) -> None:
    source = "seen = []\ndef solve(x):\n    seen.append(x)\n    return len(seen)"
    for _ in range(2):
        verdicts = await judged(executor, source, Case(1, 1), Case(1, 1))
        assert verdicts == [Judged(True, 1), Judged(False, 2)], "state lives for one job, and no longer"
    assert executor.metrics()["open_children"] == 0


async def test_trouble_of_the_machine_is_raised_and_never_wrong() -> None:
    class Broken:
        async def run_many(self, jobs: list[Job]) -> list[InfrastructureFault]:
            return [InfrastructureFault("the machine is gone") for _ in jobs]

    with pytest.raises(InfrastructureFault):
        await judge_solution(Broken(), "def solve(x): return 1", [Case(1, 1)], "int")  # type: ignore[arg-type]


def test_a_solution_and_an_environment_are_not_mixed_up() -> None:
    with pytest.raises(ValueError, match="solver's own"):
        Job(HONEST, (Call("answer", (1,)),), Mode.VERIFY)
    with pytest.raises(ValueError, match="solver's own"):
        Job(HONEST, (Call("solve", (1,)),), Mode.SOLUTION)
