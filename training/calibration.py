"""How well a policy that joins does on each member of the pool: a few fresh questions, one answer each.

Levels are probed upward, as at admission (EvoEnv: 0 < a < 1). Invariant: what was counted is what a frozen program
judged. A failure of the machine is dropped and asked again, never counted as wrong; the counts in the pool are the only
progress there is, so whoever goes on after a crash asks just what is missing. Questions are those of the training side
of the split, the same for every policy. The engine comes in as an async callable; nothing here writes to the pool.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from envpool.answer_counts import AnswerCount, Counts
from envpool.contract import Failed, Instance, Outcome, Recipe, Scored
from envpool.curation.standings import lowest_level
from envpool.execution import Examiner, ProgramFault
from envpool.members import Origin, Status
from envpool.sandbox import InfrastructureFault
from envpool.store.reading import PoolReads
from training.policy.errors import GenerationRefused

FIRST_SEED = 1 << 62
"""Above all seeds that curation and evaluation give out, so that no question is shared by a draw."""

Ask = Callable[[Sequence[str]], Awaitable[Sequence[str | GenerationRefused]]]
"""Prompts to one response each, or why the policy cannot be asked that one."""


@dataclass(frozen=True, slots=True)
class Due:
    """A member of which answers are missing."""

    member: str
    level: int
    missing: int
    asked: int = 0
    """Questions it was asked before, answered or failed: the next ones are others."""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """What came of asking some members."""

    counts: list[AnswerCount] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)
    """Members whose program failed, and how: to be quarantined."""
    refused: dict[str, str] = field(default_factory=dict)
    """Members that the policy cannot be asked at this level, and why."""
    troubles: list[str] = field(default_factory=list)
    """Failures of the machine."""


def due(pool: PoolReads, policy: str, wanted: int, levels: int = 1) -> list[Due]:
    """Active members, none held out, with fewer than `wanted` answers of the policy at the level to be asked at.

    That is its own level there, and of a program that it always solves the next one, as far as the first `levels`,
    at which the gates held; so each is measured where success is neither certain nor out of reach, if there is such a
    level. A composite is asked where it was measured before.
    """
    found = []
    with pool.snapshot():
        answers = pool.all_stats(policy)
        for id in pool.ids(status=Status.ACTIVE):
            row = pool.status_row(id)
            if row is None or row.held_out:
                continue
            first, last = pool.level(id, policy), levels - 1
            if row.origin is Origin.COMPOSER and (member := pool.get(id)):
                first = last = max(first, lowest_level(member))
            level = _unsolved(answers.get(id, {}), first, last, wanted)
            counts = answers.get(id, {}).get(level, Counts())
            if counts.attempts < wanted:
                asked = counts.attempts + counts.failures
                found.append(Due(id, level, wanted - counts.attempts, asked))
    return found


def _unsolved(answers: Mapping[int, Counts], level: int, last: int, wanted: int) -> int:
    """From `level` upward the first at which not all of so many answers succeed; `last` at most."""
    while level < last:
        counts = answers.get(level, Counts())
        if counts.attempts < wanted or counts.successes < counts.attempts:
            break
        level += 1
    return level


def answered(pool: PoolReads, policy: str, wanted: int) -> tuple[int, float | None]:
    """Members with at least `wanted` answers at one level, and the mean success of their answers at all levels."""
    sums = [sum(levels.values(), Counts()) for levels in _enough(pool, policy, wanted)]
    rates = [counts.rate for counts in sums if counts.rate is not None]
    return len(sums), sum(rates) / len(rates) if rates else None


class Calibration:
    """Asks and judges for one policy."""

    def __init__(self, policy: str, examiner: Examiner, ask: Ask) -> None:
        self._policy = policy
        self._examiner = examiner
        self._ask = ask

    async def calibrate(self, members: Sequence[Due]) -> Calibrated:
        """All missing answers of these members, asked together. Raises what the engine raises but for refusals."""
        result = Calibrated()
        made = await asyncio.gather(*(self._questions(member, result) for member in members))
        pairs = [
            (each, question) for each, questions in zip(members, made, strict=True) for question in questions
        ]
        if not pairs:
            return result
        answers = await self._ask([question.prompt for _, question in pairs])
        outcomes = await asyncio.gather(
            *(self._judged(question, answer) for (_, question), answer in zip(pairs, answers, strict=True))
        )
        for each in members:
            mine = [outcome for (owner, _), outcome in zip(pairs, outcomes, strict=True) if owner is each]
            if mine:
                self._conclude(each, mine, result)
        return result

    async def _questions(self, due: Due, result: Calibrated) -> list[Instance]:
        first = FIRST_SEED + due.asked
        recipes = [Recipe(due.member, first + k, due.level) for k in range(due.missing)]
        try:
            drawn = [await self._examiner.build_split(recipe, held_out=False) for recipe in recipes]
        except ProgramFault as fault:
            result.broken[fault.member] = str(fault)
            return []
        except InfrastructureFault as fault:
            result.troubles.append(f"{due.member}: no question: {fault}")
            return []
        questions = [instance for instance in drawn if instance is not None]
        if not questions:
            result.refused[due.member] = f"no question of the training side at level {due.level}"
        return questions

    async def _judged(
        self, question: Instance, answer: str | GenerationRefused
    ) -> Outcome | GenerationRefused:
        if isinstance(answer, GenerationRefused):
            return answer
        return await self._examiner.score(question, answer)

    def _conclude(
        self, due: Due, outcomes: Collection[Outcome | GenerationRefused], result: Calibrated
    ) -> None:
        refusals = [outcome for outcome in outcomes if isinstance(outcome, GenerationRefused)]
        failed = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
        scored = [outcome for outcome in outcomes if isinstance(outcome, Scored)]
        nobodys = [outcome for outcome in failed if not outcome.culprit]
        if refusals:
            result.refused[due.member] = str(refusals[0])
        result.broken.update({outcome.culprit: outcome.reason for outcome in failed if outcome.culprit})
        result.troubles.extend(f"{due.member}: {outcome.reason}" for outcome in nobodys if outcome.machine)
        attempts = len(outcomes) - len(refusals) - len(failed)
        if attempts or nobodys:
            successes = sum(outcome.success for outcome in scored)
            row = AnswerCount(
                due.member, self._policy, due.level, attempts, successes, len(scored), len(nobodys)
            )
            result.counts.append(row)


def _enough(pool: PoolReads, policy: str, wanted: int) -> list[dict[int, Counts]]:
    stats = pool.all_stats(policy).values()
    return [levels for levels in stats if any(counts.attempts >= wanted for counts in levels.values())]
