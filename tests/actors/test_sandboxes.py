"""Which sandbox a program goes to when sandboxes come and go."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors import sandboxes
from actors.peers import PeerRetired
from actors.sandboxes import SandboxGroup, SandboxLeaving, ranked
from envpool.sandbox import InfrastructureFault, Value
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
