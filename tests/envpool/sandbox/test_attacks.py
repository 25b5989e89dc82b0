"""Attack programs: each ends in a fault it earned or in a lie about its own result, and touches nothing else."""

import os
from pathlib import Path

import pytest
from attack_table import ATTACKS, Attack
from hostile import HONEST, KERNEL, program

from envpool.sandbox import Call, Fault, FaultKind, Sandbox, Value


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_attack_is_contained(sandbox: Sandbox, attack: Attack) -> None:
    before = sandbox.metrics().get("restarts", 0)
    [result] = sandbox.run(attack.source(), [Call("solve", (1,))], fresh=True)

    if isinstance(result, Fault):
        assert result.kind in attack.kinds, result
    else:
        assert not attack.kinds, result
        assert not attack.refused or result == Value(1), "the kernel let it through"
    assert sandbox.run(HONEST, [Call("solve", ([1, 2, 3],))]) == [Value(6)]
    assert sandbox.metrics().get("restarts", 0) == before, "an attack must not pass for trouble of the machine"
    assert not Path("/tmp/envolve-was-here").exists()


def test_a_score_outside_its_range_is_a_fault_of_the_program(sandbox: Sandbox) -> None:
    for score in ("float('nan')", "float('inf')", "1.5", "-0.1", "'1'", "None", "10 ** 400"):
        source = program("pass").replace(
            "def solve(self, x: int) -> int:", "def verify(self, x: int, answer: int) -> float:"
        ) + f"        return {score}\n"  # fmt: skip
        [result] = sandbox.run(source, [Call("verify", (1, 1))])
        assert isinstance(result, Fault) and result.kind == FaultKind.ILLEGAL_VALUE, (score, result)


def test_a_child_sees_none_of_the_owners_environment(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    source = program("return sorted(os.environ)", top=KERNEL, codomain="list[str]")
    [result] = sandbox.run(source, [Call("solve", (1,))], fresh=True)
    assert isinstance(result, Value)
    assert set(result.value) <= {
        "HOME", "LANG", "LC_ALL", "MALLOC_ARENA_MAX", "PATH", "PYTHONHASHSEED", "PYTHONUTF8", "TZ",
    }  # fmt: skip


def test_a_child_holds_five_descriptors_and_no_more(sandbox: Sandbox) -> None:
    body = """
        held = []
        for fd in range(16):
            if libc.fcntl(fd, 1) != -1:
                held.append(fd)
        return held
    """
    [result] = sandbox.run(program(body, top=KERNEL, codomain="list[int]"), [Call("solve", (1,))], fresh=True)
    assert result == Value([0, 1, 2, 3, 4])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has a uid to drop")
def test_a_child_of_root_is_not_root(sandbox: Sandbox) -> None:
    source = program("return os.getuid()", top=KERNEL)
    [result] = sandbox.run(source, [Call("solve", (1,))], fresh=True)
    assert isinstance(result, Value) and result.value >= 61_184
