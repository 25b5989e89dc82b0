"""The battery: each attack earns the verdict that its row names, on every rung of this machine, as root and as nobody.

Beside each attack an honest program keeps its open child; it must get its answer after every one of them.
"""

import asyncio
import functools
import os
import time
from typing import Any

import profiles
import pytest
from attack import ITSELF, PYTHON, Attack
from attack_table import ATTACKS
from attacks_on_trust import LIES
from battery import TIGHT
from hostile import HONEST, KERNEL, PLANTED, program

from envpool.admission import Admission
from envpool.members import Origin
from envpool.sandbox import (
    Call,
    Fault,
    FaultKind,
    LocalExecutor,
    Sandbox,
    SandboxLimits,
    SandboxUnavailable,
    Value,
)
from envpool.sandbox.doctor import LAYERS

RUNGS = ("strict", "standard")
IDENTITIES = ("root", "nobody") if os.geteuid() == 0 else ("self",)
INPUT = "rng.randint(10 ** level, 10 ** (level + 6))"
LIARS = [attack for attack in ATTACKS if attack.found]


@functools.cache
def battery(identity: str, rung: str) -> dict[str, Any]:
    return profiles.run_as(identity, "battery", rung)


def outcome(identity: str, rung: str, attack: Attack) -> dict[str, Any]:
    """What came of one attack; skips where there is no such user or no such rung, by name."""
    if reason := profiles.unavailable(identity):
        pytest.skip(reason)
    told = battery(identity, rung)
    if "not offered" in told:
        pytest.skip(f"rung {rung} is not offered to {identity} here: {told['not offered']}")
    return next(one for one in told["outcomes"] if one["name"] == attack.name)


@pytest.mark.parametrize("rung", [*RUNGS, "wasm"])
@pytest.mark.parametrize("identity", IDENTITIES)
def test_the_battery_runs_on_each_rung_that_is_offered(identity: str, rung: str) -> None:
    assert outcome(identity, rung, ATTACKS[0])["contained"]


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("identity", IDENTITIES)
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_attack_is_contained(identity: str, rung: str, attack: Attack) -> None:
    came = outcome(identity, rung, attack)
    assert came["contained"], came
    assert came["honest"], "another program was disturbed"
    assert came["restarts"] == 0, "an attack must not pass for trouble of the machine"
    assert not came["trace"], "a file was made outside"


def test_the_battery_is_large_and_each_row_names_the_layer_that_stops_it() -> None:
    assert len(ATTACKS) >= 120
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    assert {attack.layer for attack in ATTACKS} <= {*LAYERS, PYTHON, ITSELF}
    assert all(attack.found for attack in LIES), "a lie says who finds it out"


@pytest.mark.parametrize("attack", [attack for attack in ATTACKS if attack.harmless], ids=lambda attack: attack.name)
def test_what_the_filter_refuses_succeeds_without_it(attack: Attack) -> None:
    """So that no row passes because its attempt was clumsy. Not as root, who gives up its files on every rung."""
    identity = "nobody" if os.geteuid() == 0 else "self"
    if reason := profiles.unavailable(identity):
        pytest.skip(reason)
    told = _without_walls(identity)
    came = next(one for one in told["outcomes"] if one["name"] == attack.name)
    assert (came["fault"], came["value"]) == (None, 0), came


@functools.cache
def _without_walls(identity: str) -> dict[str, Any]:
    return profiles.run_as(identity, "battery", "unsafe", "harmless")


@pytest.mark.parametrize("attack", LIARS, ids=lambda attack: attack.name)
async def test_a_lie_about_its_own_results_is_found_out_by_admission(attack: Attack) -> None:
    source = program(attack.body, top=KERNEL, codomain=attack.codomain, method=attack.method, sample=INPUT)
    if attack.method == "verify":  # a feasibility oracle plants its answers
        source = source.replace("import Environment", "import Environment, Planted").replace(
            f"return {INPUT}", f"return Planted({INPUT}, {INPUT})"
        )
    executor = LocalExecutor(TIGHT)
    try:
        verdict = await Admission(executor).judge(source, Origin.POLICY)
    finally:
        executor.close()
    assert (verdict.member, verdict.gate) == (None, attack.found), verdict.reason


async def test_a_program_that_does_not_lie_passes_the_gates_that_find_the_liars() -> None:
    executor = LocalExecutor(TIGHT)
    try:
        verdict = await Admission(executor).judge(PLANTED, Origin.POLICY)
    finally:
        executor.close()
    assert verdict.member is not None, verdict.reason


SEVENS = 777_777_777
SEEKS_SEVENS = """
    if x != 1:
        KEPT.extend([x, str(x).encode()])
        return 0
    gc, re = sys.modules['gc'], sys.modules['re']
    gc.unfreeze()
    seven = re.compile(rb'7{9}')  # which does not hold what it looks for, as the numbers below do not
    things = gc.get_objects()
    parts = [part for thing in things for part in gc.get_referents(thing)]
    numbers = sum(type(part) is int and part % 111_111_111 == 0 and part // 111_111_111 == 7 for part in parts)
    pages = {id(thing) >> 12 for thing in (*things, *parts)}
    texts = sum(seven.search(ctypes.string_at(page << 12, 4096)) is not None for page in pages)
    texts += sum(type(part) in (bytes, bytearray) and seven.search(part) is not None for part in parts)
    return 1000 * texts + numbers
"""
"""Looks through all objects of its child, and the memory that they lie in, for a number that was not asked yet."""


@pytest.mark.parametrize("rung", RUNGS)
def test_a_later_input_is_not_in_a_childs_memory_before_its_call_and_an_earlier_one_is_found(rung: str) -> None:
    source = program(SEEKS_SEVENS, top=f"{KERNEL}\nKEPT = []\n")
    with started(rung, SandboxLimits(cpu_seconds=5.0)) as sandbox:
        later, earlier = [Call("solve", (x,)) for x in (1, SEVENS)], [Call("solve", (x,)) for x in (SEVENS, 1)]
        assert sandbox.run(source, later, fresh=True) == [Value(0), Value(0)]
        [_, found] = sandbox.run(source, earlier, fresh=True)
    assert isinstance(found, Value), found
    assert found.value >= 1000 and found.value % 1000 >= 1, "it finds text and number where they are"


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.skipif(os.geteuid() != 0, reason="only root has a uid to drop")
def test_a_child_of_root_is_not_root(rung: str) -> None:
    with started(rung) as sandbox:
        source = program("return os.getuid()", top=KERNEL)
        [result] = sandbox.run(source, [Call("solve", (1,))], fresh=True)
        assert isinstance(result, Value) and result.value >= 61_184


def started(rung: str, limits: SandboxLimits = TIGHT) -> Sandbox:
    try:
        return Sandbox(limits, rung=rung)
    except SandboxUnavailable as error:
        pytest.skip(f"rung {rung} is not offered here: {error}")


WORKS_AFTERWARDS = """
    real = os.read
    def read(*args):
        for _ in range(100_000_000): pass
        return real(*args)
    os.read = read
    return x
"""


@pytest.mark.parametrize("rung", RUNGS)
def test_a_child_that_works_after_its_reply_is_found_at_the_next_call_of_it_or_of_another(rung: str) -> None:
    busy = program(WORKS_AFTERWARDS, top=KERNEL)
    with started(rung) as sandbox:
        assert sandbox.run(busy, [Call("solve", (1,))]) == [Value(1)]
        time.sleep(0.5)
        [again] = sandbox.run(busy, [Call("solve", (2,))])
        assert isinstance(again, Fault) and again.kind is FaultKind.CPU_LIMIT, again
        assert sandbox.run(busy, [Call("solve", (3,))]) == [Value(3)]
        end = time.monotonic() + 20
        while not sandbox.metrics().get("restless") and time.monotonic() < end:
            time.sleep(0.3)
            assert sandbox.run(HONEST, [Call("solve", ([1],))]) == [Value(1)]
        assert sandbox.metrics()["restless"] == 1


async def test_a_child_that_works_after_its_reply_is_ended_where_nobody_asks_anything_any_more() -> None:
    executor = LocalExecutor(TIGHT)
    try:
        busy = program(WORKS_AFTERWARDS, top=KERNEL)
        assert await executor.run(busy, [Call("solve", (1,))]) == [Value(1)]
        end = time.monotonic() + 60
        while not executor.metrics().get("restless") and time.monotonic() < end:
            await asyncio.sleep(0.3)
            await executor.sweep()
        assert executor.metrics()["restless"] == 1
    finally:
        executor.close()
