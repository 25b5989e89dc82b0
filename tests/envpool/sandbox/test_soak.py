"""A thousand jobs, most of them hostile: memory, descriptors and processes stay flat. `make soak` runs 20,000."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from envpool.sandbox import Sandbox
from envpool.sandbox.child import Child
from tests.soak import footprint
from tests.soak.footprint import NEVER, ROOM, Footprint, grown
from tests.soak.marathon import LIMITS, run

FLAT = [Footprint(jobs, 20_000, 20_000, 16, 12, 0, 0) for jobs in range(0, 1_000, 50)]


@pytest.fixture
def own() -> Iterator[Sandbox]:
    with Sandbox(LIMITS) as started:
        yield started


@pytest.mark.timeout(1200)  # a hang, not slowness
def test_all_stays_flat_over_a_thousand_jobs_and_every_honest_one_has_its_right_answer(own: Sandbox) -> None:
    outcome = run(own, jobs=1_000, every=50, seed=1)
    assert outcome.violations() == []
    assert outcome.verdicts["ok"] > 100 and len(outcome.verdicts) >= 8, "the mix reaches every way to fail"


def test_children_that_are_never_ended_are_found(own: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Child, "end", lambda self: None)
    monkeypatch.setattr(footprint, "SETTLE_SECONDS", 0.1)
    found = " ".join(run(own, jobs=60, every=10, seed=1).violations())
    assert "owner_descriptors grew" in found and "strays" in found


@pytest.mark.parametrize("name", ROOM)
def test_what_grows_with_the_jobs_is_named(name: str) -> None:
    step = ROOM[name] // 10 + 1
    creeping = [replace(each, **{name: getattr(each, name) + n * step}) for n, each in enumerate(FLAT)]
    assert grown(FLAT) == []
    [said] = grown(creeping)
    assert said.startswith(f"{name} grew from ")


@pytest.mark.parametrize("name", NEVER)
def test_what_may_never_be_is_named_wherever_it_was_seen(name: str) -> None:
    [said] = grown([*FLAT[:5], replace(FLAT[5], **{name: 1}), *FLAT[6:]])
    assert said == f"{name}: 1"


def test_what_is_taken_at_the_start_and_kept_is_no_growth() -> None:
    assert grown([replace(FLAT[0], owner_kib=10_000, owner_descriptors=8), *FLAT[1:]]) == []
