"""Processes killed or stopped at bad moments: the job is done again or reported, and nothing is left behind."""

import os
import secrets
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

import pytest
from hostile import HONEST, KERNEL, program
from processes import alive, children, descriptors, marked, wait_for

from envpool.sandbox import Call, InfrastructureFault, Sandbox, SandboxLimits, Value

BUSY = program("for _ in range(6_000_000): pass\nreturn 7")  # some tenths of a second
PATIENT = SandboxLimits(cpu_seconds=8.0, wall_seconds=4.0, memory_mib=64)
SUM = [Call("solve", ([1, 2],))]

OWNER = """
import sys
from envpool.sandbox import Call, Sandbox, SandboxLimits
source, state, mark = sys.argv[1:]
sandbox = Sandbox(SandboxLimits(cpu_seconds=60, wall_seconds=60, memory_mib=int(mark)))
sandbox.run(source, [Call("accepts", (1,))])
print(sandbox.zygote_pid, flush=True)
while state == "forking":
    sandbox.run(source, [Call("accepts", (1,))], fresh=True)
if state == "busy":
    sandbox.run(source, [Call("solve", (1,))])
sys.stdin.read()
"""
ENDLESS = program("while True: pass")
STUBBORN = program("""
    while True:
        try:
            while True: pass
        except BaseException: pass
""")


@pytest.fixture
def own() -> Iterator[Sandbox]:
    with Sandbox(PATIENT) as started:
        yield started


def meanwhile(sandbox: Sandbox, act: Callable[[int], None], times: int) -> threading.Thread:
    """Acts on the first child of each of the next zygotes, as soon as it works."""

    def watch() -> None:
        seen: set[int] = set()
        for _ in range(times):
            wait_for(
                lambda: (pid := sandbox.zygote_pid) is not None and pid not in seen and bool(children(pid)),
                20,
            )
            zygote = sandbox.zygote_pid
            if zygote is not None:
                seen.add(zygote)
                act(zygote)

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def kill_zygote(zygote: int) -> None:
    os.kill(zygote, signal.SIGKILL)


def kill_child(zygote: int) -> None:
    os.kill(children(zygote)[0], signal.SIGKILL)


def stop_child(zygote: int) -> None:
    os.kill(children(zygote)[0], signal.SIGSTOP)


@pytest.mark.parametrize("harm", [kill_zygote, kill_child, stop_child])
def test_a_job_that_the_machine_spoils_is_done_again(own: Sandbox, harm: Callable[[int], None]) -> None:
    thread = meanwhile(own, harm, times=1)
    assert own.run(BUSY, [Call("solve", (1,))]) == [Value(7)]
    thread.join()
    assert own.metrics()["restarts"] >= 1


def test_a_job_spoiled_three_times_is_an_infrastructure_fault_and_the_next_one_works(own: Sandbox) -> None:
    thread = meanwhile(own, kill_zygote, times=3)
    with pytest.raises(InfrastructureFault):
        own.run(BUSY, [Call("solve", (1,))])
    thread.join()
    assert own.run(HONEST, SUM) == [Value(3)]


def test_a_zygote_killed_between_jobs_is_replaced(own: Sandbox) -> None:
    assert own.run(HONEST, SUM) == [Value(3)]
    assert own.zygote_pid is not None
    offspring = children(own.zygote_pid)
    kill_zygote(own.zygote_pid)
    assert wait_for(lambda: not any(map(alive, offspring)), 3.0), "a child outlived its zygote"
    assert own.run(HONEST, SUM) == [Value(3)]


def test_an_open_child_killed_between_calls_is_replaced(own: Sandbox) -> None:
    assert own.run(HONEST, SUM) == [Value(3)]
    assert own.zygote_pid is not None
    kill_child(own.zygote_pid)
    assert own.run(HONEST, SUM * 3) == [Value(3)] * 3


@pytest.mark.parametrize("source", [ENDLESS, STUBBORN, HONEST], ids=["endless", "stubborn", "honest"])
@pytest.mark.parametrize("state", ["busy", "idle", "forking"])
def test_when_the_owner_is_killed_nothing_is_left_after_three_seconds(source: str, state: str) -> None:
    mark = secrets.randbelow(1 << 20) + (1 << 20)
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, source, state, str(mark)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert owner.stdout is not None
    zygote = int(owner.stdout.readline())
    assert wait_for(lambda: bool(children(zygote)), 20)
    assert {zygote, *children(zygote)} & set(marked(mark)), "the mark finds what it is to find"
    owner.kill()
    owner.communicate()
    assert wait_for(lambda: not marked(mark), 3.0), "something outlived its owner"


@pytest.mark.parametrize("source", [ENDLESS, STUBBORN], ids=["endless", "stubborn"])
def test_when_the_zygote_is_killed_within_a_job_nothing_is_left_of_it_after_three_seconds(
    own: Sandbox, source: str
) -> None:
    left: list[bool] = []

    def kill_and_look(zygote: int) -> None:
        family = [zygote, *children(zygote)]
        kill_zygote(zygote)
        left.append(not wait_for(lambda: not any(map(alive, family)), 3.0))

    thread = meanwhile(own, kill_and_look, times=3)
    with pytest.raises(InfrastructureFault):
        own.run(source, [Call("solve", (1,))])
    thread.join()
    assert left == [False] * 3
    assert own.run(HONEST, SUM) == [Value(3)]


def test_a_sandbox_outlives_the_thread_that_started_it() -> None:
    started: list[Sandbox] = []
    thread = threading.Thread(target=lambda: started.append(Sandbox(PATIENT)))
    thread.start()
    thread.join()
    with started[0] as sandbox:
        zygote = sandbox.zygote_pid
        assert sandbox.run(HONEST, SUM) == [Value(3)]
        assert sandbox.zygote_pid == zygote and sandbox.metrics().get("restarts", 0) == 0


def test_closing_leaves_no_process_and_no_descriptor() -> None:
    before = descriptors()
    sandbox = Sandbox(PATIENT)
    sandbox.run(HONEST, SUM)
    zygote = sandbox.zygote_pid
    assert zygote is not None
    family = [zygote, *children(zygote)]
    sandbox.close()
    sandbox.close()
    assert not any(map(alive, family))
    assert descriptors() == before


def test_descriptors_and_processes_stay_flat_over_hostile_jobs(sandbox: Sandbox) -> None:
    jobs = [
        program(body, top=KERNEL) for body in ("os._exit(1)", "os.fork()", "raise ValueError", "return x")
    ]
    sandbox.run(HONEST, SUM)
    before = descriptors()
    for turn in range(120):
        sandbox.run(jobs[turn % len(jobs)], [Call("solve", (1,))], fresh=True)
    assert descriptors() <= before
    assert sandbox.zygote_pid is not None
    kept = sandbox.metrics()["open_children"] + 1  # and one forked ahead
    assert wait_for(lambda: len(children(sandbox.zygote_pid or 0)) == kept, 3.0)
