"""Processes killed or stopped at bad moments: the job is done again or reported, and nothing is left behind."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

import pytest
from hostile import HONEST, KERNEL, program
from processes import alive, children, descriptors, wait_for

from envpool.sandbox import Call, InfrastructureFault, Sandbox, SandboxLimits, Value

BUSY = program("for _ in range(6_000_000): pass\nreturn 7")  # some tenths of a second
PATIENT = SandboxLimits(cpu_seconds=8.0, wall_seconds=4.0, memory_mib=64)
SUM = [Call("solve", ([1, 2],))]

OWNER = """
import sys
from envpool.sandbox import Call, Sandbox, SandboxLimits
sandbox = Sandbox(SandboxLimits(cpu_seconds=60, wall_seconds=60))
sandbox.run(sys.argv[1], [Call("accepts", (1,))])
print(sandbox.zygote_pid, flush=True)
if sys.argv[2] == "busy":
    sandbox.run(sys.argv[1], [Call("solve", (1,))])
sys.stdin.read()
"""


@pytest.fixture
def own() -> Iterator[Sandbox]:
    with Sandbox(PATIENT) as started:
        yield started


def meanwhile(sandbox: Sandbox, act: Callable[[int], None], times: int) -> threading.Thread:
    """Acts on the first child of each of the next zygotes, as soon as it works."""

    def watch() -> None:
        seen: set[int] = set()
        for _ in range(times):
            wait_for(lambda: (pid := sandbox.zygote_pid) is not None and pid not in seen and bool(children(pid)), 20)
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


@pytest.mark.parametrize("state", ["busy", "idle"])
def test_when_the_owner_is_killed_nothing_is_left_after_three_seconds(state: str) -> None:
    source = program("while True: pass")
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, source, state], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    zygote = int(owner.stdout.readline())
    assert wait_for(lambda: bool(children(zygote)), 20)
    family = [zygote, *children(zygote)]
    owner.kill()
    owner.communicate()
    assert wait_for(lambda: not any(map(alive, family)), 3.0), "something outlived its owner"


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
    jobs = [program(body, top=KERNEL) for body in ("os._exit(1)", "os.fork()", "raise ValueError", "return x")]
    sandbox.run(HONEST, SUM)
    before = descriptors()
    for turn in range(120):
        sandbox.run(jobs[turn % len(jobs)], [Call("solve", (1,))], fresh=True)
    assert descriptors() <= before
    assert sandbox.zygote_pid is not None
    kept = sandbox.metrics()["open_children"] + 1  # and one forked ahead
    assert wait_for(lambda: len(children(sandbox.zygote_pid or 0)) == kept, 3.0)


def test_no_byte_of_a_job_reaches_the_zygote(sandbox: Sandbox) -> None:
    secret = "the-answer-that-stays-away"
    source = program("return x", domain="str", codomain="str")
    for turn in range(5):
        sandbox.run(source, [Call("solve", (f"{secret}-{turn}",))], fresh=turn % 2 == 0)
    zygote = sandbox.zygote_pid
    try:
        with open(f"/proc/{zygote}/maps") as maps, open(f"/proc/{zygote}/mem", "rb") as memory:
            for line in maps:
                if "[v" in line:
                    continue
                start, end = (int(part, 16) for part in line.split()[0].split("-"))
                if line.split()[1].startswith("r"):
                    memory.seek(start)
                    assert secret.encode() not in memory.read(end - start), line
    except PermissionError:
        pytest.skip("only root may look into a process that is not dumpable")
