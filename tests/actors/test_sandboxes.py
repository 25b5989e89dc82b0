"""Which sandbox a program goes to when sandboxes come and go, are full, or are asked for a second opinion."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors import sandboxes
from actors.peers import PeerRetired
from actors.sandboxes import (
    CALLS_AT_ONCE,
    PLACES_TRIED,
    SandboxFull,
    SandboxGroup,
    SandboxLeaving,
    places,
    ranked,
)
from envpool.sandbox import Call, InfrastructureFault, Job, Mode, Value
from tests.actors.test_sandbox_actor import ScriptedPlaces


@given(st.text(), st.integers(1, 12))
def test_a_program_moves_only_to_a_sandbox_that_was_added(source: str, count: int) -> None:
    before, after = ranked(source, count)[0], ranked(source, count + 1)[0]
    assert after in (before, f"sandbox-{count}")


@given(st.text(), st.integers(2, 12))
def test_without_its_first_choice_a_program_goes_to_its_second(source: str, count: int) -> None:
    assert [name for name in ranked(source, count) if name != f"sandbox-{count - 1}"] == ranked(
        source, count - 1
    )


@pytest.mark.parametrize("gone", [SandboxLeaving("scaled away"), PeerRetired("scaled away")])
async def test_a_sandbox_that_leaves_is_no_fault(gone: Exception) -> None:
    names = ranked("program", 5)
    places = ScriptedPlaces(dict.fromkeys(names[:4], gone))
    assert await SandboxGroup(places, lambda: 5).run("program", []) == [Value(names[4])]  # type: ignore[arg-type]
    assert places.asked == names


async def test_when_every_sandbox_leaves_the_job_fails_and_is_no_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandboxes, "LEAVING_SECONDS", 0.0)
    places = ScriptedPlaces(dict.fromkeys(ranked("program", 2), SandboxLeaving("scaled away")))
    with pytest.raises(InfrastructureFault, match="every sandbox is leaving"):
        await SandboxGroup(places, lambda: 2).run("program", [])  # type: ignore[arg-type]


async def test_where_the_only_sandbox_is_moved_the_job_is_done_by_its_successor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandboxes, "LEAVING_SECONDS", 0.2)
    places = ScriptedPlaces({"sandbox-0": SandboxLeaving("moved")})
    job = asyncio.create_task(SandboxGroup(places, lambda: 1).run("program", []))  # type: ignore[arg-type]
    await asyncio.sleep(0.05)
    places.faults.clear()
    assert await job == [Value("sandbox-0")]


async def test_a_job_does_not_fail_by_what_others_were_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others come all the time and renew the mark of the only sandbox, which is moved a few times."""
    monkeypatch.setattr(sandboxes, "LEAVING_SECONDS", 0.2)
    scripted = ScriptedPlaces({"sandbox-0": SandboxLeaving("moved")})
    group = SandboxGroup(scripted, lambda: 1)  # type: ignore[arg-type]

    async def later(seconds: float) -> object:
        await asyncio.sleep(seconds)
        return await group.run(f"program {seconds}", [])

    jobs = [asyncio.create_task(later(seconds)) for seconds in (0.0, 0.15, 0.3)]
    while len(scripted.asked) < 2:  # the third job comes after this
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)
    scripted.faults.clear()
    assert await asyncio.gather(*jobs) == [[Value("sandbox-0")]] * 3


async def test_a_job_fails_only_after_it_has_asked_itself_and_once_more_after_its_last_pause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandboxes, "LEAVING_SECONDS", 0.05)
    scripted = ScriptedPlaces({"sandbox-0": SandboxLeaving("moved")})
    group = SandboxGroup(scripted, lambda: 1)  # type: ignore[arg-type]

    async def asked_by(source: str) -> int:
        with pytest.raises(InfrastructureFault, match="every sandbox is leaving"):
            await group.run(source, [])
        return sum(job.source == source for batch in scripted.batches for job in batch)

    async def after(seconds: float) -> int:
        await asyncio.sleep(seconds)
        return await asked_by(f"program {seconds}")

    assert await asyncio.gather(*(after(n * 0.013) for n in range(12))) == [PLACES_TRIED + 1] * 12


async def test_one_that_leaves_is_asked_by_no_further_job_until_it_has_had_time_to_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandboxes, "LEAVING_SECONDS", 0.2)
    first, second, _ = ranked("program", 3)
    scripted = ScriptedPlaces({first: SandboxLeaving("moved")})
    group = SandboxGroup(scripted, lambda: 3)  # type: ignore[arg-type]
    assert [await group.run("program", []) for _ in range(20)] == [[Value(second)]] * 20
    assert scripted.asked.count(first) == 1
    scripted.faults.clear()
    await asyncio.sleep(0.3)
    assert await group.run("program", []) == [Value(first)], "its successor bears the name"


async def test_a_full_sandbox_sends_the_job_elsewhere_and_is_no_fault() -> None:
    names = ranked("program", 5)
    scripted = ScriptedPlaces(dict.fromkeys(names[:4], SandboxFull("full")))
    assert await SandboxGroup(scripted, lambda: 5).run("program", []) == [Value(names[4])]  # type: ignore[arg-type]
    assert scripted.asked == names


async def test_where_every_sandbox_is_full_the_job_waits_until_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandboxes, "FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(sandboxes, "LONGEST_PAUSE_SECONDS", 0.002)
    scripted = ScriptedPlaces(dict.fromkeys(ranked("program", 2), SandboxFull("full")))
    job = asyncio.create_task(SandboxGroup(scripted, lambda: 2).run("program", []))  # type: ignore[arg-type]
    await asyncio.sleep(0.1)
    assert not job.done() and len(scripted.asked) > 6, "fullness is no fault, however often it is told"
    del scripted.faults["sandbox-1"]
    assert await job == [Value("sandbox-1")]


async def test_a_fault_of_one_job_in_a_batch_sends_that_job_elsewhere_alone() -> None:
    class Torn(ScriptedPlaces):
        def __getitem__(self, name: str) -> Torn._Place:  # type: ignore[override]
            place = super().__getitem__(name)
            whole = place.run_many

            async def run_many(jobs: list[Job]) -> list[object]:
                done = await whole(jobs)
                first = name == ranked("program", 3)[0]
                bad = [first and job.calls == (Call("inspect"),) for job in jobs]
                return [InfrastructureFault("torn") if b else d for b, d in zip(bad, done, strict=True)]

            place.run_many = run_many  # type: ignore[method-assign,assignment]
            return place

    scripted = Torn({})
    first, second, _ = ranked("program", 3)
    jobs = [Job("program", ()), Job("program", (Call("inspect"),)), Job("program", ())]
    done = await SandboxGroup(scripted, lambda: 3).run_many(jobs)  # type: ignore[arg-type]
    assert done == [[Value(first)], [Value(second)], [Value(first)]]


async def test_jobs_for_one_sandbox_travel_together_and_each_zygote_has_its_own_way() -> None:
    scripted = ScriptedPlaces({})
    group = SandboxGroup(scripted, lambda: 1)  # type: ignore[arg-type]
    await asyncio.gather(*(group.run("program", [], replica=n % 2) for n in range(80)))
    assert len(scripted.batches) <= 2 * (CALLS_AT_ONCE + 1)
    assert sum(map(len, scripted.batches)) == 80
    assert all(len({job.replica for job in batch}) == 1 for batch in scripted.batches)


async def test_a_job_that_fails_everywhere_leaves_the_others_of_its_batch_alone() -> None:
    scripted = ScriptedPlaces({f"sandbox-{n}": InfrastructureFault(f"fault {n}") for n in range(3)})
    done = await SandboxGroup(scripted, lambda: 3).run_many([Job("a", ()), Job("b", ())])  # type: ignore[arg-type]
    assert [type(each) for each in done] == [InfrastructureFault] * 2


@given(st.text(), st.integers(1, 12))
def test_each_opinion_of_an_audit_comes_from_another_sandbox_where_there_are_enough(source: str, count: int) -> None:
    used = places(Job(source, ()), count)[0]
    second, third = (places(Job(source, (), Mode.AUDIT, replica), count)[0] for replica in (1, 2))
    assert len({used, second, third}) == min(count, 3)
    assert sorted(places(Job(source, (), Mode.AUDIT, 2), count)) == sorted(ranked(source, count))
