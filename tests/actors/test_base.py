"""What every actor has: it starts itself, its background failures are reported, and it stops. No Ray needed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar

import pytest

from actors import base
from actors.base import Actor
from cluster.config import Config

CONFIG = Config.model_validate({"run": {"name": "base"}}).model_dump(mode="json")
ALONE = "supervisor"  # an actor of this name waits for no pool when it starts


class Loops(Actor):
    """Its one loop does what `script` yields: an exception is raised, anything else is a success."""

    script: ClassVar[list[Any]] = []
    vital = True

    async def start(self) -> None:
        self.done = 0
        self.background("work", self._work_once, vital=self.vital)

    async def _work_once(self) -> None:
        if self.done == len(self.script):
            await asyncio.sleep(600)
        self.done += 1
        if isinstance(outcome := self.script[self.done - 1], Exception):
            raise outcome


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "FAILURE_PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(base, "REPORT_SECONDS", 600.0)


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.01)


async def played(script: list[Any], vital: bool = True) -> dict[str, Any]:
    class Scripted(Loops):
        pass

    Scripted.script, Scripted.vital = script, vital
    actor = Scripted(CONFIG, ALONE)
    await actor.ready()
    await until(lambda: actor.done == len(script))
    await asyncio.sleep(0.02)
    report = actor.health()
    await actor.stop()
    return report


async def test_the_first_traceback_of_a_failing_loop_is_reported_and_the_loop_goes_on() -> None:
    report = await played([OSError("first"), KeyError("second"), None, None])
    assert report["failures"] == 2
    assert "OSError: first" in report["first_failures"]["work"]
    assert "_work_once" in report["first_failures"]["work"], "with where it happened"


async def test_a_vital_loop_that_only_fails_is_counted_from_its_last_success() -> None:
    assert (await played([OSError("a"), None, OSError("b"), OSError("c")]))["failing"]["work"][0] == 2
    assert (await played([OSError("a"), OSError("b"), None]))["failing"] == {}


async def test_a_loop_that_the_run_can_do_without_never_counts_as_failing() -> None:
    assert (await played([OSError("a"), OSError("b"), OSError("c")], vital=False))["failing"] == {}


async def test_an_actor_starts_without_being_asked() -> None:
    actor = Loops(CONFIG, ALONE)
    await until(lambda: actor.waiting_for == "")
    assert await actor.ready() == ALONE
    await actor.stop()


async def test_a_failed_start_is_raised_reported_and_tried_again_by_the_next_ready() -> None:
    class Late(Actor):
        tries = 0

        async def start(self) -> None:
            Late.tries += 1
            if Late.tries < 3:
                raise OSError(f"try {Late.tries}")

    actor = Late(CONFIG, ALONE)
    with pytest.raises(OSError, match="try 1"):
        await actor.ready()
    assert actor.health()["failing"]["start"][0] == 1
    with pytest.raises(OSError, match="try 2"):
        await actor.ready()
    assert await actor.ready() == ALONE
    assert await actor.ready() == ALONE, "and only once more"
    assert Late.tries == 3
    assert actor.health()["failing"] == {}
    await actor.stop()


async def test_stop_ends_every_loop_and_may_be_repeated() -> None:
    ended: list[str] = []

    class Busy(Actor):
        async def start(self) -> None:
            self.background("one", self._forever("one"))
            self.background("two", self._forever("two"))

        def _forever(self, name: str) -> Callable[[], Awaitable[None]]:
            async def once() -> None:
                try:
                    await asyncio.sleep(600)
                finally:
                    ended.append(name)

            return once

    actor = Busy(CONFIG, ALONE)
    await actor.ready()
    await asyncio.sleep(0)
    await actor.stop()
    await actor.stop()
    assert sorted(ended) == ["one", "two"]
