"""When a program counts as refuted, and which draws are looked at: with opinions that are written here."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envpool.contract import Recipe
from envpool.sandbox import Call, Done, Fault, FaultKind, InfrastructureFault, Job, Mode, Value
from envpool.sandbox.audit import AT_ONCE, BATCH, Auditor, Observation, Opinion, Refutation, chosen
from envpool.sandbox.results import Result

LOST = InfrastructureFault("the machine is gone")
SLOW, STARVED = Fault(FaultKind.CPU_LIMIT, "2 s"), Fault(FaultKind.CPU_LIMIT, "20 s", by_clock=True)
FULL, CRASH = Fault(FaultKind.MEM_LIMIT), Fault(FaultKind.CRASH, "status 1")
A, B, C = Value(1), Value(2), Value(3)


class Opinions:
    """An executor that gives the same call, in turn, the results that are written down for it."""

    def __init__(self, *results: Result | InfrastructureFault) -> None:
        self.left = list(results)
        self.jobs: list[Job] = []
        self.batches: list[int] = []

    async def run_many(self, jobs: Sequence[Job]) -> list[Done]:
        self.jobs += jobs
        self.batches.append(len(jobs))
        given = [self.left.pop(0) for _ in jobs]
        return [each if isinstance(each, InfrastructureFault) else [each] for each in given]


def observed(used: Result, seed: int = 3, member: str = "p1") -> Observation:
    return Observation(member, "source", Recipe(member, seed, 5), (Call("solve", (7,)),), (used,))


async def audited(executor: Opinions, *observations: Observation) -> tuple[Auditor, list[Refutation]]:
    """An auditor that looks at every draw, after it has worked on these."""
    auditor = Auditor(executor, b"s", share=1.0)  # type: ignore[arg-type]
    for each in observations:
        auditor.observe(each)
    return auditor, await round_of(auditor)


async def round_of(auditor: Auditor) -> list[Refutation]:
    return [each async for each in auditor.work()]


@pytest.mark.parametrize(
    ("used", "others", "opinion"),
    [
        (A, [A], Opinion.AGREED),
        (CRASH, [CRASH], Opinion.AGREED),
        (CRASH, [Fault(FaultKind.CRASH, "status 2")], Opinion.AGREED),
        (A, [B, B], Opinion.REFUTED),
        (A, [B, C], Opinion.REFUTED),
        (A, [B, A, B], Opinion.REFUTED),
        (A, [B, A, C], Opinion.REFUTED),
        (A, [CRASH, CRASH], Opinion.REFUTED),
        (CRASH, [A, A], Opinion.REFUTED),
        (Value(1), [Value(True), Value(True)], Opinion.REFUTED),
        (Value(1.0), [Value(1), Value(1)], Opinion.REFUTED),
        # One that stands alone is no confirmation, wherever it comes from.
        (A, [B, A, A], Opinion.UNCONFIRMED),
        (A, [CRASH, A, A], Opinion.UNCONFIRMED),
        # What the machine does is no evidence, at no moment.
        (A, [LOST], Opinion.NO_EVIDENCE),
        (A, [B, LOST], Opinion.NO_EVIDENCE),
        (A, [B, A, LOST], Opinion.NO_EVIDENCE),
        (A, [STARVED], Opinion.NO_EVIDENCE),
        (STARVED, [A], Opinion.NO_EVIDENCE),
        (A, [B, STARVED], Opinion.NO_EVIDENCE),
        (A, [B, A, STARVED], Opinion.NO_EVIDENCE),
        # Out of CPU time: the child in use had less of it than a fork has, which contradicts what came within less.
        (SLOW, [A], Opinion.NO_EVIDENCE),
        (SLOW, [SLOW], Opinion.NO_EVIDENCE),
        (A, [SLOW, SLOW], Opinion.REFUTED),
        (A, [SLOW, B], Opinion.REFUTED),
        (A, [SLOW, A, SLOW], Opinion.REFUTED),
        (A, [SLOW, A, A], Opinion.UNCONFIRMED),
        (A, [SLOW, LOST], Opinion.NO_EVIDENCE),
        (A, [SLOW, STARVED], Opinion.NO_EVIDENCE),
        (CRASH, [SLOW, SLOW], Opinion.REFUTED),
        # Out of memory: the child in use may have held more; a fresh fork that says so contradicts a value.
        (FULL, [A], Opinion.NO_EVIDENCE),
        (A, [FULL, FULL], Opinion.REFUTED),
        (A, [FULL, A, A], Opinion.UNCONFIRMED),
    ],
)
async def test_what_opinions_come_to(
    used: Result, others: list[Result | InfrastructureFault], opinion: Opinion
) -> None:
    executor = Opinions(*others)
    auditor, found = await audited(executor, observed(used))
    assert auditor.metrics()[f"audits_{opinion}"] == 1 and executor.left == [] and auditor.waiting == 0
    assert len(found) == (opinion is Opinion.REFUTED)
    assert all(each.used == used and list(each.recomputed) == others for each in found)


async def test_every_opinion_is_a_fork_of_its_own_in_another_zygote_than_the_first() -> None:
    executor = Opinions(B, A, A)
    await audited(executor, observed(A))
    assert [job.mode for job in executor.jobs] == [Mode.AUDIT] * 3
    assert [job.replica for job in executor.jobs] == [1, 2, 1]


async def test_second_opinions_travel_together() -> None:
    executor = Opinions(*[A] * 40)
    auditor, found = await audited(executor, *(observed(A, member=f"p{n}") for n in range(40)))
    assert found == [] and executor.batches == [40]
    assert auditor.waiting == 0 and await round_of(auditor) == []
    assert auditor.metrics()["audits_agreed"] == 40


async def test_one_finding_about_a_member_is_enough_and_what_else_waits_of_it_is_let_go() -> None:
    executor = Opinions(*[SLOW] * AT_ONCE, A, A, SLOW)
    draws = [*(observed(A, seed) for seed in range(40)), observed(A, member="p2"), observed(A, 4, member="p2")]
    auditor, found = await audited(executor, *draws)
    assert [each.member for each in found] == ["p1"] and auditor.waiting == 0
    assert len(executor.jobs) == AT_ONCE + 2 + 1, "the second opinions of a batch, and the third on the first of them"
    auditor.observe(observed(A, 41))
    assert auditor.waiting == 0


async def test_what_has_no_room_is_counted_as_skipped() -> None:
    auditor = Auditor(Opinions(), b"s", share=1.0, room=3)  # type: ignore[arg-type]
    for seed in range(5):
        auditor.observe(observed(A, seed))
    told = auditor.metrics()
    assert (told["audits_waiting"], told["audits_skipped"]) == (3, 2)


@pytest.mark.parametrize("share", [0.0, 0.03, 0.5, 1.0])
def test_the_share_of_draws_that_is_chosen(share: float) -> None:
    keys = (Recipe("p1", seed, 0).key() for seed in range(20_000))
    found = sum(chosen(b"secret", "p1", key, 0, share) for key in keys) / 20_000
    assert found == pytest.approx(share, abs=0.01)
    assert found == share or 0 < share < 1


@given(st.text(), st.text(), st.integers(0, 9), st.floats(0, 1), st.binary(min_size=1, max_size=64))
def test_a_draw_is_chosen_or_not_once_and_for_all(
    member: str, key: str, level: int, share: float, secret: bytes
) -> None:
    member, key = (text.encode("utf-8", "replace").decode() for text in (member, key))
    first = chosen(secret, member, key, level, share)
    assert chosen(secret, member, key, level, share) is first
    assert not first or chosen(secret, member, key, level, 1.0)


def test_without_the_secret_nothing_is_known_of_the_choice() -> None:
    draws = [Recipe("p1", seed, 0).key() for seed in range(4000)]
    ours, guessed = ({key for key in draws if chosen(secret, "p1", key, 0, 0.5)} for secret in (b"ours", b"theirs"))
    assert 0.45 < len(ours & guessed) / len(ours) < 0.55, "another secret is no better than a coin"


def test_all_calls_of_a_draw_share_its_fate_and_another_level_is_another_draw() -> None:
    draws = [Recipe("p1", seed, level) for seed in range(200) for level in (0, 1)]
    fates = {draw: chosen(b"s", "p1", draw.key(), draw.level, 0.5) for draw in draws}
    assert any(fates[Recipe("p1", seed, 0)] != fates[Recipe("p1", seed, 1)] for seed in range(200))


@pytest.mark.parametrize(("lying", "enough"), [(1.0, 152), (1 / 97, 14_888)])
def test_a_program_that_lies_on_a_share_of_draws_is_caught_in_time_for_99_secrets_in_100(
    lying: float, enough: int
) -> None:
    secrets = [f"secret {n}".encode() for n in range(400 if lying == 1.0 else 100)]
    keys = [Recipe("p1", seed, 0).key() for seed in range(round(enough * lying))]
    escaped = sum(not any(chosen(secret, "p1", key, 0, 0.03) for key in keys) for secret in secrets)
    assert escaped / len(secrets) <= 0.03


async def test_what_an_error_leaves_undone_still_waits_and_what_was_found_is_told() -> None:
    class Breaking(Opinions):
        async def run_many(self, jobs: Sequence[Job]) -> list[Done]:
            if not self.left:
                raise RuntimeError("the sandbox is being stopped")
            return await super().run_many(jobs)

    executor = Breaking(B, B, B)
    auditor = Auditor(executor, b"s", share=1.0)  # type: ignore[arg-type]
    for n in range(2):
        auditor.observe(observed(A, member=f"p{n}"))
    found = []
    with pytest.raises(RuntimeError):
        async for each in auditor.work():  # the second opinions on both, and the third on the first one
            found.append(each.member)
    assert found == ["p0"] and auditor.waiting == 1
    with pytest.raises(RuntimeError):
        await round_of(auditor)
    assert auditor.waiting == 1


async def test_a_finding_is_handed_on_before_what_else_waits_is_judged() -> None:
    executor = Opinions(B, B, B)
    auditor = Auditor(executor, b"s", share=1.0)  # type: ignore[arg-type]
    for n in range(2):
        auditor.observe(observed(A, member=f"p{n}"))
    found = await anext(auditor.work())
    assert found.member == "p0" and auditor.waiting == 1 and len(executor.jobs) == 3


async def test_a_round_is_one_batch_and_a_member_with_many_draws_does_not_hold_back_another() -> None:
    executor = Opinions(*[A] * AT_ONCE, B, B)
    auditor = Auditor(executor, b"s", share=1.0)  # type: ignore[arg-type]
    for seed in range(40):
        auditor.observe(observed(A, seed))
    auditor.observe(observed(A, member="liar"))
    assert [each.member for each in await round_of(auditor)] == ["liar"]
    assert auditor.waiting == 40 - AT_ONCE and executor.batches == [AT_ONCE + 1, 1]


async def test_a_batch_is_bounded() -> None:
    auditor = Auditor(executor := Opinions(*[A] * BATCH), b"s", share=1.0)  # type: ignore[arg-type]
    for n in range(BATCH + 5):
        auditor.observe(observed(A, member=f"p{n}"))
    assert await round_of(auditor) == []
    assert auditor.waiting == 5 and executor.batches == [BATCH]


async def test_two_rounds_at_once_count_and_find_each_thing_once() -> None:
    class Slow(Opinions):
        async def run_many(self, jobs: Sequence[Job]) -> list[Done]:
            await asyncio.sleep(0.01)
            return [[B if job.source == "lies" else A] for job in jobs]

    auditor = Auditor(Slow(), b"s", share=1.0)  # type: ignore[arg-type]
    for member in ("honest", "lies"):
        auditor.observe(replace(observed(A, member=member), source=member))
    found = await asyncio.gather(round_of(auditor), round_of(auditor))
    assert [each.member for some in found for each in some] == ["lies"] and auditor.waiting == 0
    assert (auditor.metrics()["audits_agreed"], auditor.metrics()["audits_refuted"]) == (1, 1)
