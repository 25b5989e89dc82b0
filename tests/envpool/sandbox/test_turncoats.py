"""Programs that turn hostile after admission are caught by the audit, in real sandboxes, within a number of draws.

With a share p of draws recomputed, a draw that lies is caught with probability p. So of the draws that lie, 1/p are
expected until the first is caught, and ln(0.01)/ln(1 - p) are enough with probability 0.99: 33.3 and 152 at the default
p = 3 %. What a program lies on decides how many draws that is in all:

    from the 100th `solve` of a child on  746 draws at 99 %: a child serves 128 of them, and only the last 29 are lies
    on one seed in 97                     97 x 33.3 = 3,233 draws expected, 14,888 at 99 %
    from level 5 on, after 40 calls       33 draws at level 5 expected, 152 at 99 %, once the child is that old
    spinning where an audit asks          152 draws at level 5, as the one before: whichever is looked at is a finding
    wrong verdicts from the 50th on       250 answers at 99 %: of the 128 that a child judges the last 79 are lies

The secret of the run below is fixed, so the draws that are chosen, and with them these figures, are the same each time.
"""

import itertools
import math
import os
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest
from turncoats import (
    AFTER_100_CALLS,
    FROM_LEVEL_5,
    GENEROUS_AFTER_50_VERDICTS,
    HONEST_SUM,
    ONE_SEED_IN_97,
    OPENLY_FROM_LEVEL_5,
    SPINS_WHEN_ASKED_ALONE,
    turncoat,
)

from envpool.admission import Admission, AdmissionSettings, Register
from envpool.contract import Recipe
from envpool.execution import Examiner
from envpool.members import Member, Origin, Program
from envpool.sandbox import Call, Fault, FaultKind, LocalExecutor, Mode, SandboxLimits, Value
from envpool.sandbox.audit import Auditor, Observation, Refutation
from envpool.signatures import from_wire

SHARE = 0.03
SECRET = b"a fixed secret, for a fixed fate"
AT_A_TIME = 16  # draws between two rounds of the auditor, as a busy solver has them
ENOUGH = math.ceil(math.log(0.01) / math.log(1 - SHARE))
A_CHILD = SandboxLimits().calls_per_child // 2  # draws it serves, of two calls each, before a new one takes its place


def draws_until(lies: int, first: int) -> int:
    """Draws that hold so many lies, where each child lies from its `first` draw on."""
    full, rest = divmod(lies - 1, A_CHILD - first + 1)
    return full * A_CHILD + first + rest


@pytest.fixture(scope="module")
async def executor() -> AsyncIterator[LocalExecutor]:
    started = LocalExecutor(SandboxLimits(cpu_seconds=5.0, memory_mib=64))
    yield started
    started.close()


def member(source: str) -> Member:
    return Member(Program(source, "Turncoat", "Rule.", "tuple[list[int], int]", "int"), Origin.POLICY)


async def findings(auditor: Auditor) -> list[Refutation]:
    """All there is to find in what waits."""
    found = []
    while auditor.waiting:
        found += [each async for each in auditor.work()]
    return found


async def caught(
    executor: LocalExecutor, source: str, draws: int, level: int = 0
) -> tuple[int, Refutation | None]:
    """Plays draws until one is refuted; how many that took, and what was found."""
    auditor = Auditor(executor, SECRET, SHARE)
    playing = member(source)
    examiner = Examiner(executor, lambda _: playing, observe=auditor.observe)
    for seed in range(draws):
        await examiner.build(Recipe(playing.id, seed, level))
        if seed % AT_A_TIME == AT_A_TIME - 1 and (found := await findings(auditor)):
            return seed + 1, found[0]
    found = await findings(auditor)
    return draws, found[0] if found else None


async def test_one_that_turns_at_its_100th_call_is_caught_within_746_draws(executor: LocalExecutor) -> None:
    enough = draws_until(ENOUGH, 100)
    assert enough == 746
    draws, found = await caught(executor, AFTER_100_CALLS, enough)
    assert found is not None and 100 <= draws <= enough, draws
    numbers, _ = from_wire(found.call.args[0])
    assert found.used.value == sum(numbers) + 1 and found.recomputed[0].value == sum(numbers)
    assert found.recomputed[0] == found.recomputed[1], "a third zygote confirmed it"


async def test_one_that_lies_on_one_seed_in_97_is_caught_within_14888_draws(executor: LocalExecutor) -> None:
    enough = math.ceil(math.log(0.01) / math.log(1 - SHARE / 97))
    assert enough == 14_888
    draws, found = await caught(executor, ONE_SEED_IN_97, enough)
    assert found is not None and draws <= enough
    numbers, _ = from_wire(found.call.args[0])
    assert (numbers[0] * 1000 + numbers[1]) % 97 == 0, "the seed in the evidence is one on which it lies"
    assert len({found.used.value, *(result.value for result in found.recomputed)}) == 3, "it hangs on the hash seed"


async def test_one_that_hides_from_the_gates_is_caught_within_152_draws_of_level_5(executor: LocalExecutor) -> None:
    playing = member(FROM_LEVEL_5)
    examiner = Examiner(executor, lambda _: playing)
    for seed, level in itertools.product(range(10), range(5)):  # it is honest below, and ages
        await examiner.build(Recipe(playing.id, 10_000 + seed, level))
    draws, found = await caught(executor, FROM_LEVEL_5, ENOUGH, level=5)
    assert found is not None and draws <= ENOUGH == 152
    assert found.observation.recipe.level == 5


@pytest.fixture(scope="module")
async def impatient() -> AsyncIterator[LocalExecutor]:
    """With little time for a call, so that one that uses all of it is soon over."""
    started = LocalExecutor(SandboxLimits(cpu_seconds=0.15, wall_seconds=30.0, memory_mib=64))
    yield started
    started.close()


async def test_one_that_spins_where_it_is_recomputed_is_caught_within_152_draws_of_level_5(
    impatient: LocalExecutor,
) -> None:
    draws, found = await caught(impatient, SPINS_WHEN_ASKED_ALONE, ENOUGH, level=5)
    assert found is not None and draws <= ENOUGH == 152
    assert isinstance(found.used, Value) and found.call.method == "solve"
    kinds = [result.kind for result in found.recomputed if isinstance(result, Fault)]
    assert kinds == [FaultKind.CPU_LIMIT] * 2, "twice it used up four times what it had needed at most"
    assert found.evidence()["recomputed"][0]["fault"] == "cpu_limit"


TAKES_ITS_TIME = """
    clock = random._os.sys.modules["time"].process_time
    end = clock() + (0 if numbers == [0] else 0.25 if len(kept) == 1 else 0.08)
    while clock() < end:
        pass
"""
"""Of the 0.15 s of CPU time that a call has it takes 0.08, and more than all of it where nothing is warm yet."""


async def test_one_that_is_slow_on_a_loaded_machine_is_recomputed_and_not_refuted(impatient: LocalExecutor) -> None:
    slow = member(turncoat(TAKES_ITS_TIME))
    calls = [Call("solve", ({"t": [numbers, 0]},)) for numbers in ([0], [1, 2], [1, 2])]
    load = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        _, *used = await impatient.run(slow.material.source, calls, mode=Mode.VERIFY)
        auditor = Auditor(impatient, SECRET, share=1.0)
        for seed, (call, result) in enumerate(zip(calls[1:], used, strict=True)):
            assert result == Value(3)
            auditor.observe(Observation(slow.id, slow.material.source, Recipe(slow.id, seed, 0), (call,), (result,)))
        assert await findings(auditor) == []
    finally:
        for each in load:
            each.kill()
            each.wait()
    assert auditor.metrics()["audits_agreed"] == 2


async def test_a_judge_that_turns_generous_is_caught_within_250_verdicts(executor: LocalExecutor) -> None:
    material = Program(GENEROUS_AFTER_50_VERDICTS, "Factor", "Rule.", "int", "int", "feasibility")
    judge = Member(material, Origin.POLICY)
    auditor = Auditor(executor, SECRET, SHARE)
    examiner = Examiner(executor, lambda _: judge, observe=auditor.observe)
    enough = draws_until(ENOUGH, 50)
    assert enough == 250
    for seed in range(enough):
        instance = await examiner.build(Recipe(judge.id, seed, 0))
        await examiner.score(instance, "<answer>1</answer>")  # never a factor larger than 1
    found = await findings(auditor)
    assert found and {each.call.method for each in found} == {"verify"}
    assert {each.used.value for each in found} == {1.0}
    assert {result.value for each in found for result in each.recomputed} == {0.0}
    assert min(each.observation.recipe.seed for each in found) >= 49, "not before it turned"


@pytest.mark.parametrize(("source", "holds"), [(OPENLY_FROM_LEVEL_5, False), (FROM_LEVEL_5, True), (HONEST_SUM, True)])
async def test_the_gate_before_a_level_sees_what_does_not_hide(
    executor: LocalExecutor, source: str, holds: bool
) -> None:
    admission = Admission(executor, None, Register(()), settings=AdmissionSettings())  # type: ignore[arg-type]
    outcome = await admission.levels_hold(member(source), 5)
    assert outcome.passed is holds, outcome


async def test_an_honest_program_is_never_refuted(executor: LocalExecutor) -> None:
    auditor = Auditor(executor, SECRET, share=1.0)
    honest = member(HONEST_SUM)
    examiner = Examiner(executor, lambda _: honest, observe=auditor.observe)
    for seed in range(150):
        await examiner.build(Recipe(honest.id, seed, seed % 7))
    assert await findings(auditor) == []
    assert auditor.metrics()["audits_agreed"] == 300, "a sample and an answer a draw"


async def test_the_evidence_is_plain_and_names_seed_level_and_every_result(executor: LocalExecutor) -> None:
    _, found = await caught(executor, AFTER_100_CALLS, 746)
    assert found is not None
    evidence = found.evidence()
    assert evidence["seed"] == found.observation.recipe.seed and evidence["level"] == 0
    assert evidence["method"] == "solve" and evidence["recipe"] == found.observation.recipe.to_dict()
    assert evidence["used"]["value"] != evidence["recomputed"][0]["value"] == evidence["recomputed"][1]["value"]
    assert len(evidence["used"]["sha256"]) == 64
    assert "solve for seed" in found.reason and "level 0" in found.reason
