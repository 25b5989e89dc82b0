"""The ladder: the strongest rung of itself, a named one or none, and what is said where one cannot be had."""

import logging
import os
import pickle
from typing import Any

import profiles
import pytest
from hostile import HONEST, KERNEL, program
from small_limits import TIGHT

from envpool.sandbox import (
    Call,
    Fault,
    FaultKind,
    InfrastructureFault,
    LocalExecutor,
    Sandbox,
    SandboxLimits,
    SandboxUnavailable,
    Value,
    ladder,
    server,
)
from envpool.sandbox.inside import selftest
from envpool.sandbox.ladder import Rung

SUM = [Call("solve", ([1, 2],))]


def begin(identity: str, profile: str, rung: str, allow: str = "") -> dict[str, Any]:
    """What became of a sandbox, started as such a user under such a profile."""
    if reason := profiles.unavailable(identity):
        pytest.skip(reason)
    return profiles.run_as(identity, "report_apart", "start", rung, allow, profile=profile)


def offered(rung: str) -> None:
    """Skips the test where this machine has no such rung, and names it."""
    try:
        Sandbox(TIGHT, rung=rung).close()
    except SandboxUnavailable as error:
        pytest.skip(f"rung {rung} is not offered here: {error.missing}")


@pytest.mark.parametrize("identity", ["root", "nobody"])
def test_of_itself_a_sandbox_takes_the_strongest_rung_and_says_so_in_one_line(identity: str) -> None:
    said = begin(identity, "plain", "auto")
    assert said["rung"] in ("strict", "standard") and said["value"] == 3 and not said["unsafe"]
    [[level, line]] = said["log"]
    assert level == "INFO" and f": {said['rung']} (" in line and all(layer in line for layer in said["layers"])


@pytest.mark.parametrize("identity", ["root", "nobody"])
def test_in_the_default_container_standard_is_taken_and_the_one_line_says_what_strict_lacks(identity: str) -> None:
    said = begin(identity, "container", "auto")
    assert (said["rung"], said["value"]) == ("standard", 3)
    [[_, line]] = said["log"]
    assert "strict is not offered (namespaces: unshare" in line


@pytest.mark.parametrize("identity", ["root", "nobody"])
@pytest.mark.parametrize(
    ("profile", "rung", "named", "way_out"),
    [
        ("container", "strict", "namespaces", "user.max_user_namespaces"),
        ("no landlock", "strict", "landlock", "a kernel from 5.13"),
        ("no seccomp", "auto", "seccomp", "lets prctl(PR_SET_SECCOMP) pass"),
        ("no seccomp", "standard", "seccomp", "unsafe must be asked for and allowed by name"),
    ],
)
def test_a_rung_that_is_not_offered_is_refused_with_what_is_missing_and_what_would_help(
    identity: str, profile: str, rung: str, named: str, way_out: str
) -> None:
    said = begin(identity, profile, rung)
    assert set(said["missing"]) == {named}
    assert f"{named}: " in said["refused"] and way_out in said["refused"]
    assert said["log"] == [], "a refusal is an error and no line in a log"


def test_root_that_may_not_become_another_user_is_refused() -> None:
    said = begin("root", "no setuid", "auto")
    assert "uid drop" in said["missing"] and "SETUID" in said["refused"]


def test_unsafe_works_without_seccomp_warns_at_its_start_and_stamps_layers_and_results() -> None:
    said = begin("root" if os.geteuid() == 0 else "self", "no seccomp", "unsafe", "allowed")
    assert said["rung"] == "unsafe" and said["layers"][0] == "unsafe" and "seccomp" not in said["layers"]
    assert said["value"] == 3 and said["unsafe"]
    [[level, banner]] = said["log"]
    assert level == "WARNING" and "THE SANDBOX IS OFF" in banner


def test_unsafe_needs_two_keys() -> None:
    with pytest.raises(SandboxUnavailable, match=r"allow_unsafe=True"):
        Sandbox(TIGHT, rung="unsafe")
    with Sandbox(TIGHT, allow_unsafe=True) as allowed:
        assert allowed.rung != Rung.UNSAFE, "the second key alone opens nothing"


def test_faults_on_the_rung_unsafe_are_stamped_too() -> None:
    with Sandbox(TIGHT, rung="unsafe", allow_unsafe=True) as sandbox:
        [fault] = sandbox.run(program("raise ValueError"), [Call("solve", (1,))])
        assert isinstance(fault, Fault) and fault.unsafe
        assert sandbox.run(HONEST, SUM) == [Value(3, unsafe=True)] != [Value(3)]


def test_wasm_is_a_rung_that_no_node_offers_yet() -> None:
    with pytest.raises(SandboxUnavailable, match="wasm is not offered: there is no WASI interpreter"):
        Sandbox(TIGHT, rung="wasm")


def test_a_rung_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(SandboxUnavailable, match="strict, standard, wasm, unsafe, and auto"):
        Sandbox(TIGHT, rung="stricter")


@pytest.mark.parametrize(
    ("system", "python", "word"),
    [("darwin", (3, 12), "darwin"), ("win32", (3, 11), "win32"), ("linux", (3, 10), "Python 3.10")],
)
def test_a_platform_without_the_means_is_refused(system: str, python: tuple[int, int], word: str) -> None:
    assert word in ladder.unsupported(system, python)
    assert ladder.unsupported("linux", (3, 12)) == ""


def test_on_a_foreign_system_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ladder, "unsupported", lambda: "this is an abacus")
    monkeypatch.setattr(ladder, "ForkServer", lambda *_: pytest.fail("a process was started"))
    with pytest.raises(SandboxUnavailable, match="abacus"):
        Sandbox(TIGHT)


def test_a_zygote_that_is_started_anew_keeps_the_rung_or_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str | None] = []
    begin_one = ladder.start

    def watched(*args: Any, **more: Any) -> Any:
        asked.append(args[2])
        if len(asked) > 2:
            raise SandboxUnavailable("the node has changed")
        return begin_one(*args, **more)

    monkeypatch.setattr(ladder, "start", watched)
    with Sandbox(TIGHT) as sandbox:
        taken = sandbox.rung
        sandbox.close()
        assert sandbox.run(HONEST, SUM) == [Value(3)]
        sandbox.close()
        with pytest.raises(InfrastructureFault, match="the node has changed"):
            sandbox.run(HONEST, SUM)
    assert asked == [None, taken, taken, taken, taken], "never a weaker one in its place"


def test_each_start_is_announced(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "envpool.sandbox")
    with Sandbox(TIGHT, rung="standard") as sandbox:
        sandbox.close()
        sandbox.run(HONEST, SUM)
    assert [record.getMessage().count("standard (") for record in caplog.records if "ready" in record.getMessage()] == [
        1, 1,
    ]  # fmt: skip


async def test_an_executor_hands_the_rung_on() -> None:
    executor = LocalExecutor(TIGHT, rung="unsafe", allow_unsafe=True)
    try:
        assert await executor.run(HONEST, SUM) == [Value(3, unsafe=True)]
    finally:
        executor.close()


def test_a_refusal_travels_between_processes_with_what_is_missing() -> None:
    sent = pickle.loads(pickle.dumps(SandboxUnavailable("no", {"landlock": "absent"})))
    assert (str(sent), sent.missing) == ("no", {"landlock": "absent"})


def test_behind_the_filter_strict_has_walls_that_hold_alone() -> None:
    """The same attempts that the filter answers on every rung, here with no filter at all: see `second_walls`."""
    offered("strict")
    walls = {probe.name.partition(":")[0] for probe in selftest.second_walls(["landlock", "namespaces"])}
    assert walls == {"landlock", "namespaces"}
    assert list(selftest.second_walls(["zygote", "seccomp"])) == []


@pytest.mark.parametrize(
    ("harm", "named"),
    [("import envpool.sandbox.inside.landlock as l; l.enter = lambda: 7", "landlock: read a folder"),
     ("import envpool.sandbox.inside.namespaces as n; n._empty_root = lambda: None", "namespaces: see the old root"),
     ("import envpool.sandbox.inside.namespaces as n; n.NETWORK = 0", "namespaces: reach the network"),
     ("import envpool.sandbox.inside.namespaces as n; n._drop_capabilities = lambda: None; "
      "import envpool.sandbox.inside.landlock as l; l.enter = lambda: 7", "namespaces: mount")],
)  # fmt: skip
def test_a_second_wall_that_only_seems_to_stand_is_found_out_at_the_start(
    monkeypatch: pytest.MonkeyPatch, harm: str, named: str
) -> None:
    offered("strict")
    monkeypatch.setattr(server, "_BOOT", server._BOOT.replace("main(int", f"{harm}; main(int"))
    with pytest.raises(SandboxUnavailable, match=f"self-test: {named}"):
        Sandbox(TIGHT, rung="strict")


def boot_with(monkeypatch: pytest.MonkeyPatch, harm: str) -> None:
    """Something that a zygote would bring along, done in it before it locks itself."""
    monkeypatch.setattr(server, "_BOOT", server._BOOT.replace("main(int", f"{harm}; main(int"))


@pytest.mark.parametrize(
    ("harm", "named"),
    [("import envpool.sandbox.inside.kernel as k; k.machine = lambda: 'riscv64'", "no system call table for riscv64"),
     ("import envpool.sandbox.inside.kernel as k; k.PR_SET_NO_NEW_PRIVS = 9999", r"prctl\(9999, 1\): Invalid argument"),
     ("import os; os.nice = os._exit", "its zygote died or hung")],
)  # fmt: skip
def test_a_zygote_that_lacks_what_may_not_be_missing_refuses(
    monkeypatch: pytest.MonkeyPatch, harm: str, named: str
) -> None:
    boot_with(monkeypatch, harm)
    with pytest.raises(SandboxUnavailable, match=named):
        Sandbox(TIGHT)


def test_a_zygote_with_memory_that_children_would_share_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    boot_with(monkeypatch, "import mmap; sys.page = mmap.mmap(-1, 4096)")
    with pytest.raises(SandboxUnavailable, match="share"):
        Sandbox(TIGHT)


def test_limits_that_the_owner_has_are_kept_where_they_are_lower(monkeypatch: pytest.MonkeyPatch) -> None:
    boot_with(
        monkeypatch, "import resource as r; r.setrlimit(r.RLIMIT_CPU, (9, 9)); r.setrlimit(r.RLIMIT_AS, (1 << 28,) * 2)"
    )
    with Sandbox(SandboxLimits(memory_mib=4096)) as sandbox:
        body = "return [sys.modules['resource'].getrlimit(which)[1] for which in (0, 9)]"
        source = program(body, top=KERNEL, codomain="list[int]")
        assert sandbox.run(source, [Call("solve", (1,))]) == [Value([9, 1 << 28])]


def test_code_pages_that_a_library_left_writable_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    boot_with(
        monkeypatch,
        "import ctypes, mmap; sys.page = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7); "
        "sys.at = ctypes.addressof(ctypes.c_char.from_buffer(sys.page))",
    )
    with Sandbox(TIGHT) as sandbox:
        for body, kind in (("return ctypes.memset(sys.at, 0xc3, 1) and 1", FaultKind.CRASH), ("return 1", None)):
            [result] = sandbox.run(program(body, top=KERNEL), [Call("solve", (1,))])
            assert (result.kind if isinstance(result, Fault) else None) is kind


def test_a_child_of_strict_sees_neither_its_zygote_nor_the_name_of_its_node() -> None:
    offered("strict")
    body = "return [os.getppid(), int(os.getpid() > 1), int(os.uname().nodename == 'sandbox')]"
    with Sandbox(TIGHT, rung="strict") as sandbox:
        source = program(body, top=KERNEL, codomain="list[int]")
        assert sandbox.run(source, [Call("solve", (1,))]) == [Value([0, 1, 1])]
