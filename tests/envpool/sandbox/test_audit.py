"""When a program counts as refuted, and which draws are looked at: with opinions that are written here."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envpool.contract import Recipe
from envpool.sandbox import Call, Done, Fault, FaultKind, InfrastructureFault, Job, Mode, Value
from envpool.sandbox.audit import Auditor, Observation, Opinion, chosen, recheck
from envpool.sandbox.results import Result

LOST = InfrastructureFault("the machine is gone")
SLOW, CRASH = Fault(FaultKind.CPU_LIMIT, "2 s"), Fault(FaultKind.CRASH, "status 1")
FULL = Fault(FaultKind.MEM_LIMIT)
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


def observed(used: Result, seed: int = 3) -> Observation:
    return Observation("p1", "source", Recipe("p1", seed, 5), (Call("solve", (7,)),), (used,))


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
        (A, [SLOW], Opinion.NO_EVIDENCE),
        (SLOW, [A], Opinion.NO_EVIDENCE),
        (A, [B, SLOW], Opinion.NO_EVIDENCE),
        (A, [B, A, SLOW], Opinion.NO_EVIDENCE),
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
    came_to, refutation = await recheck(executor, observed(used))  # type: ignore[arg-type]
    assert came_to is opinion and executor.left == []
    assert (refutation is not None) == (opinion is Opinion.REFUTED)
    if refutation is not None:
        assert refutation.used == used and list(refutation.recomputed) == others


async def test_every_opinion_is_a_fork_of_its_own_in_another_zygote_than_the_first() -> None:
    executor = Opinions(B, A, A)
    await recheck(executor, observed(A))  # type: ignore[arg-type]
    assert [job.mode for job in executor.jobs] == [Mode.AUDIT] * 3
    assert [job.replica for job in executor.jobs] == [1, 2, 1]


async def test_second_opinions_travel_together() -> None:
    executor = Opinions(*[A] * 40)
    auditor = Auditor(executor, b"s", share=1.0)  # type: ignore[arg-type]
    for seed in range(40):
        auditor.observe(observed(A, seed))
    assert auditor.waiting == 40
    assert await auditor.work() == [] and executor.batches == [40]
    assert auditor.waiting == 0 and await auditor.work() == []
    assert auditor.metrics()["audits_agreed"] == 40


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
    for seed in range(2):
        auditor.observe(observed(A, seed))
    found = await auditor.work()  # the second opinions on both, and the third on the first one
    assert [each.observation.recipe.seed for each in found] == [0]
    assert auditor.waiting == 1
    with pytest.raises(RuntimeError):
        await auditor.work()
    assert auditor.waiting == 1
