"""A child and its zygote as the kernel describes them from outside: what they are not, and what they do not share."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile import HONEST
from processes import children, first_of_a_namespace, wait_for
from small_limits import TIGHT

from envpool.sandbox import Call, Sandbox, SandboxUnavailable

KINDS = ("user", "mnt", "pid", "net", "ipc", "uts")


@pytest.fixture(scope="module", params=["strict", "standard"])
def family(request: pytest.FixtureRequest) -> Iterator[tuple[str, int, list[int]]]:
    """The rung, the zygote, and all its children: those that serve, and process 1 of their namespace."""
    try:
        sandbox = Sandbox(TIGHT, rung=request.param)
    except SandboxUnavailable as error:
        pytest.skip(f"rung {request.param} is not offered here: {error}")
    with sandbox:
        sandbox.run(HONEST, [Call("solve", ([1],))])
        sandbox.run(HONEST, [Call("solve", ([1],))])
        zygote = sandbox.zygote_pid
        assert zygote is not None
        listed = Path(f"/proc/{zygote}/task/{zygote}/children").read_text().split()
        offspring = [int(pid) for pid in listed]
        # One is forked ahead and may still be at it.
        assert wait_for(lambda: all(status(pid)["Seccomp"] == "2" for pid in offspring), 60.0)
        yield request.param, zygote, offspring


def status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def test_every_child_stands_under_a_filter_and_can_gain_nothing(family: tuple[str, int, list[int]]) -> None:
    rung, zygote, offspring = family
    for pid in offspring:
        said = status(pid)
        assert (said["Seccomp"], said["NoNewPrivs"], said["Threads"]) == ("2", "1", "1")
    for pid in (zygote, *offspring):
        said = status(pid)
        assert {int(said[kind], 16) for kind in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {0}
        assert rung != "strict" or int(said["CapBnd"], 16) == 0
        assert "0" not in said["Uid"].split() + said["Gid"].split()
        assert said["NoNewPrivs"] == "1"
        assert set(said["Groups"].split()) <= ({str(group) for group in os.getgroups()} if os.geteuid() else set())


def test_no_member_of_the_family_can_be_looked_into_by_its_like(family: tuple[str, int, list[int]]) -> None:
    """A process that is not dumpable belongs to root in /proc, and leaves no core."""
    _, zygote, offspring = family
    for pid in (zygote, *offspring):
        assert Path(f"/proc/{pid}/maps").stat().st_uid == 0


def test_strict_leaves_every_namespace_of_its_owner_and_mounts_nothing_but_an_empty_root(
    family: tuple[str, int, list[int]],
) -> None:
    rung, zygote, offspring = family
    if os.geteuid() != 0:
        pytest.skip("only root may look into a process that is not dumpable")
    served = children(zygote)
    assert len(offspring) - len(served) == (rung == "strict"), "one more, which is process 1"
    assert all(first_of_a_namespace(pid) for pid in set(offspring) - set(served))
    for pid in served:
        shared = [k for k in KINDS if os.readlink(f"/proc/{pid}/ns/{k}") == os.readlink(f"/proc/self/ns/{k}")]
        assert shared == ([] if rung == "strict" else list(KINDS))
        assert os.listdir(f"/proc/{pid}/root/") == []
        if rung == "strict":
            [mount] = Path(f"/proc/{pid}/mountinfo").read_text().splitlines()
            assert " / / ro," in mount


def test_no_page_is_written_and_executed_or_written_and_shared(family: tuple[str, int, list[int]]) -> None:
    _, zygote, offspring = family
    if os.geteuid() != 0:
        pytest.skip("only root may look into a process that is not dumpable")
    for pid in (zygote, *offspring):
        permissions = {line.split()[1] for line in Path(f"/proc/{pid}/maps").read_text().splitlines()}
        assert permissions and not any("w" in one and ("x" in one or "s" in one) for one in permissions)
