"""The modes of a job: what it shares a process with, and in which zygote it runs."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from hostile import HONEST, KERNEL, program
from small_limits import TIGHT

from envpool.sandbox import (
    Call,
    Fault,
    FaultKind,
    InfrastructureFault,
    Job,
    LocalExecutor,
    Mode,
    SandboxUnavailable,
    Value,
    server,
)
from envpool.sandbox.meter import Meter, program_id

PID = program("return os.getpid()", top=KERNEL)
HASH = program("return hash('text') % 1_000_000_007")
ONE = Call("solve", (1,))


@pytest.fixture
async def executor() -> AsyncIterator[LocalExecutor]:
    started = LocalExecutor(TIGHT)
    yield started
    started.close()


async def pids(executor: LocalExecutor, mode: Mode, calls: int = 3, replica: int = 0) -> list[int]:
    [results] = await executor.run_many([Job(PID, (ONE,) * calls, mode, replica)])
    assert not isinstance(results, InfrastructureFault)
    return [result.value for result in results if isinstance(result, Value)]


async def test_validating_gives_each_call_a_fork_of_its_own(executor: LocalExecutor) -> None:
    assert len(set(await pids(executor, Mode.VALIDATE))) == 3


async def test_all_but_the_first_fork_of_a_validation_were_forked_while_the_one_before_worked(
    executor: LocalExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = []
    fork = server.ForkServer.fork

    def noted(self: server.ForkServer) -> server.Birth:
        waiting.append(self._spare is not None)
        return fork(self)

    monkeypatch.setattr(server.ForkServer, "fork", noted)
    assert len(set(await pids(executor, Mode.VALIDATE, calls=5))) == 5
    assert waiting == [False, True, True, True, True]


async def test_a_batch_of_samples_shares_a_fork_that_ends_with_it(executor: LocalExecutor) -> None:
    first, second = await pids(executor, Mode.SAMPLE), await pids(executor, Mode.SAMPLE)
    assert len({*first}) == len({*second}) == 1 and first != second
    assert executor.metrics()["open_children"] == 0


async def test_one_job_is_run_in_the_mode_that_is_asked_for(executor: LocalExecutor) -> None:
    forks = {mode: await executor.run(PID, [ONE] * 3, mode=mode) for mode in (Mode.VALIDATE, Mode.SAMPLE, Mode.VERIFY)}
    assert [len({result.value for result in each}) for each in forks.values()] == [3, 1, 1]  # type: ignore[union-attr]
    assert await executor.run(PID, [ONE] * 3) == forks[Mode.VERIFY], "verifying is the default"


async def test_verifying_goes_on_in_the_child_that_is_open(executor: LocalExecutor) -> None:
    first = await pids(executor, Mode.VERIFY)
    await pids(executor, Mode.SAMPLE)
    assert await pids(executor, Mode.VERIFY) == first and len({*first}) == 1
    assert executor.metrics()["open_children"] == 1


async def test_an_audit_runs_in_a_fork_of_its_own_beside_the_open_child(executor: LocalExecutor) -> None:
    counting = program("Subject.seen = getattr(Subject, 'seen', 0) + 1\nreturn Subject.seen")
    done = [
        await executor.run_many([Job(counting, (ONE,), mode, replica)])
        for mode, replica in ((Mode.VERIFY, 0), (Mode.VERIFY, 0), (Mode.AUDIT, 1), (Mode.AUDIT, 1), (Mode.VERIFY, 0))
    ]
    assert done == [[[Value(n)]] for n in (1, 2, 1, 1, 3)]
    assert len({sandbox.zygote_pid for sandbox in executor._sandboxes.values()}) == 2


async def test_every_replica_has_another_hash_seed(executor: LocalExecutor) -> None:
    done = await executor.run_many([Job(HASH, (ONE,), Mode.VALIDATE, replica) for replica in (0, 1, 2, 0)])
    first, second, third, again = [results[0].value for results in done]  # type: ignore[index,union-attr]
    assert len({first, second, third}) == 3 and again == first


async def test_many_jobs_of_several_replicas_come_back_in_order(executor: LocalExecutor) -> None:
    jobs = [Job(HONEST, (Call("solve", ([n],)), Call("solve", ([n, n],))), Mode.VERIFY, n % 2) for n in range(9)]
    assert await executor.run_many(jobs) == [[Value(n), Value(2 * n)] for n in range(9)]


async def test_a_job_that_the_machine_spoils_takes_no_other_with_it(executor: LocalExecutor) -> None:
    class Lost(LocalExecutor):
        def _run(self, replica: int, job: Job) -> object:  # type: ignore[override]
            return InfrastructureFault("gone") if job.source == PID else super()._run(replica, job)

    lost = Lost(TIGHT)
    try:
        jobs = [Job(HONEST, (Call("solve", ([1],)),)), Job(PID, (ONE,)), Job(HONEST, (Call("solve", ([2],)),))]
        first, spoiled, last = await lost.run_many(jobs)
        assert (first, last) == ([Value(1)], [Value(2)]) and isinstance(spoiled, InfrastructureFault)
        with pytest.raises(InfrastructureFault, match="gone"):
            await lost.run(PID, [ONE])
    finally:
        lost.close()


async def test_a_sandbox_that_cannot_be_had_is_no_verdict_in_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_BOOT", "raise SystemExit('not here')")
    refused = LocalExecutor(TIGHT)
    try:
        [done] = await refused.run_many([Job(HONEST, (Call("solve", ([1],)),))])
        assert isinstance(done, InfrastructureFault) and "refuses to start" in str(done)
        with pytest.raises(SandboxUnavailable):
            await refused.start()
    finally:
        refused.close()


async def test_the_meter_tells_what_runs_how_fast_and_with_which_verdicts(executor: LocalExecutor) -> None:
    looped, seen = program("while True: pass"), []
    job = asyncio.create_task(executor.run_many([Job(looped, (ONE,), Mode.SAMPLE)]))
    while not job.done():
        seen += executor.running()
        await asyncio.sleep(0.01)
    assert {(each.program, each.mode, each.calls) for each in seen} == {(program_id(looped), Mode.SAMPLE, 1)}
    [[fault]] = await job  # type: ignore[misc]
    assert isinstance(fault, Fault) and fault.kind is FaultKind.CPU_LIMIT
    await executor.run(HONEST, [Call("solve", ([1],))] * 9)
    told = executor.metrics()
    assert executor.running() == []
    assert (told["verdict_ok"], told["verdict_cpu_limit"], told["calls"]) == (9, 1, 10)
    assert 0 < told["p50_seconds"] <= told["p99_seconds"]


def test_speed_is_that_of_the_last_ten_seconds_and_p99_is_of_jobs() -> None:
    now = [0.0]
    meter = Meter(clock=lambda: now[0])
    for seconds in [0.01] * 98 + [0.5, 4.0]:
        with meter.job(Job(HONEST, (ONE, ONE))) as judged:
            now[0] += seconds
            judged([Value(1), Fault(FaultKind.CRASH)])
    told = meter.snapshot()
    assert told["runs_per_second"] == 20.0, "200 calls in ten seconds"
    assert [round(told[name], 6) for name in ("p50_seconds", "p99_seconds")] == [0.01, 0.5]
    assert (told["verdict_ok"], told["verdict_crash"]) == (100, 100)
    now[0] += 11
    assert meter.snapshot()["runs_per_second"] == 0.0
