"""Recomputing a share of what frozen programs said: the one way to find a program that behaves only while it is judged.

Invariant: a program is refuted only by a disagreement that was confirmed. What the machine does (a lost zygote, the
clock) is no evidence, and a second opinion that stands alone against the first and a third is not either. Auditing
never delays or changes a result; what follows from a refutation is the caller's.

    first = the result that was used      second = a fresh fork of another zygote      third = of yet another
    first == second                            agreed
    first != second, third != first            refuted: two computations contradict what was used
    first != second, third == first            second is asked again; refuted where it stays apart from the first
                                               (the hash seed, or the zygote, decides), else unconfirmed

A program could refuse to be recomputed, by spinning until its limit in any fork that was asked nothing before. So a
fork has `AUDIT_PATIENCE` times the CPU time within which the result in use came; one that uses all of that differs from
a result like any other fault. An honest program that is slow needs in a fork what it needed at its first call, and no
machine is so loaded that CPU time, which is not the time that it waits, grows by that factor.

It does not find a program that lies alike in every fork: that one is sound or not by its own rule, which is what the
gates look at, at admission and again before a level is used.
"""

import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b, sha256
from typing import Any

from envpool.contract import Recipe
from envpool.sandbox.executor import ARBITER, SECOND, BatchExecutor
from envpool.sandbox.results import Call, Done, Fault, FaultKind, InfrastructureFault, Job, Mode, Result

NO_EVIDENCE = frozenset({FaultKind.CPU_LIMIT, FaultKind.MEM_LIMIT})
"""Faults in use that depend on the machine, or on what else the child had to hold. A fork holds nothing else and has
more time, so that one runs out of memory or of CPU time, and not of time by the clock, does contradict a value: a
program might do either on purpose, to be left in peace."""
AT_ONCE = 2
"""Observations of one member in a batch: each of one that spins costs all the time that an audit gives."""
BATCH = 64
"""Observations in a batch: nothing is found before the last of them is recomputed."""
SHOWN = 400  # characters of a result in the evidence; its digest stands for the rest


class Opinion(StrEnum):
    """What an audit came to."""

    AGREED = "agreed"
    UNCONFIRMED = "unconfirmed"
    NO_EVIDENCE = "no_evidence"
    REFUTED = "refuted"


@dataclass(frozen=True, slots=True)
class Observation:
    """Results of one program that were used, and the recipe they belong to."""

    member: str
    source: str
    recipe: Recipe
    calls: tuple[Call, ...]
    results: tuple[Result, ...]
    packages: bool = False  # the program's right to them


@dataclass(frozen=True, slots=True)
class Refutation:
    """A confirmed disagreement about one call: what was used, and what others made of the same call."""

    observation: Observation
    call: Call
    used: Result
    recomputed: tuple[Result, ...]
    """By fresh forks of other zygotes, in the order they were asked."""

    @property
    def member(self) -> str:
        return self.observation.member

    @property
    def reason(self) -> str:
        """One line for the journal."""
        recipe = self.observation.recipe
        return f"audit: {self.call.method} for seed {recipe.seed}, level {recipe.level} is not what a fresh fork says"

    def evidence(self) -> dict[str, Any]:
        """Plain data: recipe, call, and every result."""
        recipe = self.observation.recipe
        return {
            "seed": recipe.seed, "level": recipe.level, "recipe": recipe.to_dict(), "method": self.call.method,
            "arguments": _shown(self.call.args), "used": _plain(self.used),
            "recomputed": [_plain(result) for result in self.recomputed],
        }  # fmt: skip


def chosen(secret: bytes, member: str, key: str, level: int, share: float) -> bool:
    """Whether the results of this draw are recomputed; a `share` of all draws are.

    It is a keyed hash of member, key and level, and no roll of dice. So it is settled before the program runs, and
    nothing the program does (its answer, its time, a crash that has the call repeated) changes it or earns it another
    roll; every call of one draw has the same fate; and whoever looks into a finding later comes to the same decision.
    It is keyed because a program can read its own source and the key of the draw in its child: with a public hash it
    would compute the decision itself and behave whenever it is watched. The secret stays in trusted processes.
    """
    digest = blake2b(f"{member}\0{key}\0{level}".encode(), key=secret, digest_size=8).digest()
    return int.from_bytes(digest, "big") < share * 2**64


async def judge(
    executor: BatchExecutor, observed: Observation, second: Sequence[Result]
) -> tuple[Opinion, Refutation | None]:
    """What a second opinion means; others are asked only where it differs. Never raises what the machine does."""
    apart = [n for n, (a, b) in enumerate(zip(observed.results, second, strict=True)) if _differ(a, b)]
    if not apart:
        told = all(map(_tells, observed.results)) and all(_of_a_fork_tells(each) for each in second)
        return (Opinion.AGREED if told else Opinion.NO_EVIDENCE), None
    place = apart[0]
    used, recomputed = observed.results[place], [second[place]]
    for replica in (ARBITER, SECOND):
        done = await _again(executor, observed, replica)
        if not isinstance(done, list) or not _of_a_fork_tells(done[place]):
            return Opinion.NO_EVIDENCE, None
        recomputed.append(done[place])
        if _differ(used, done[place]):
            return Opinion.REFUTED, Refutation(observed, observed.calls[place], used, tuple(recomputed))
    return Opinion.UNCONFIRMED, None


class Auditor:
    """Keeps what is to be recomputed until `work` is called, at most `room` observations. Belongs to one thread."""

    def __init__(self, executor: BatchExecutor, secret: bytes, share: float, room: int = 512) -> None:
        self._executor = executor
        self._secret = secret
        self._share = share
        self._room = room
        self._waiting: list[Observation] = []
        self._refuted: set[str] = set()
        self._counts: Counter[str] = Counter()

    def observe(self, observed: Observation) -> None:
        """Takes note of results that were used, if their draw is chosen. Costs a hash, never waits, never raises."""
        recipe = observed.recipe
        if not chosen(self._secret, observed.member, recipe.key(), recipe.level, self._share):
            return
        if observed.member in self._refuted:
            return
        if len(self._waiting) >= self._room:
            self._counts["skipped"] += 1  # told, so that an operator sees a share that is not reached
            return
        self._waiting.append(observed)

    @property
    def waiting(self) -> int:
        """Observations chosen and not yet recomputed."""
        return len(self._waiting)

    async def work(self) -> AsyncIterator[Refutation]:
        """Recomputes one batch of what waits, and hands each finding on as it is confirmed.

        A batch has few of each member, so that one that is slow does not hold back what is found about others. What an
        error, or a caller that stops listening, leaves undone still waits. Raises what the executor raises.
        """
        if not (batch := _first_of_each(self._waiting)):
            return
        seconds = await self._executor.run_many([_job(observed, SECOND) for observed in batch])
        for observed, second in zip(batch, seconds, strict=True):
            if (refutation := await self._judge(observed, second)) is not None:
                yield refutation

    async def _judge(self, observed: Observation, second: Done) -> Refutation | None:
        """What becomes of one that waited. Raises what the executor raises, and then it still waits."""
        if observed.member in self._refuted:
            return None
        opinion, refutation = Opinion.NO_EVIDENCE, None
        if isinstance(second, list):
            opinion, refutation = await judge(self._executor, observed, second)
        if not any(each is observed for each in self._waiting):
            return None  # another caller was told of it meanwhile
        self._waiting = [each for each in self._waiting if each is not observed]
        self._counts[opinion] += 1
        if refutation is not None:  # one finding is enough
            self._refuted.add(observed.member)
            self._waiting = [each for each in self._waiting if each.member != observed.member]
        return refutation

    def metrics(self) -> dict[str, float]:
        """Audits by what they came to, those that wait, and those skipped because too many waited."""
        counts = {f"audits_{name}": float(self._counts[name]) for name in (*Opinion, "skipped")}
        return {**counts, "audits_waiting": float(len(self._waiting))}


def _first_of_each(waiting: Sequence[Observation]) -> list[Observation]:
    taken: Counter[str] = Counter()
    batch: list[Observation] = []
    for observed in waiting:
        if taken[observed.member] < AT_ONCE and len(batch) < BATCH:
            taken[observed.member] += 1
            batch.append(observed)
    return batch


def _job(observed: Observation, replica: int) -> Job:
    return Job(observed.source, observed.calls, Mode.AUDIT, replica, observed.packages)


async def _again(executor: BatchExecutor, observed: Observation, replica: int) -> Done:
    try:
        (done,) = await executor.run_many([_job(observed, replica)])
    except InfrastructureFault as fault:
        return fault
    return done


def _tells(used: Result) -> bool:
    return not (isinstance(used, Fault) and used.kind in NO_EVIDENCE)


def _of_a_fork_tells(again: Result) -> bool:
    return not (isinstance(again, Fault) and again.by_clock)


def _differ(used: Result, again: Result) -> bool:
    """Whether a fork contradicts what was used. The text of a fault may name an address; its kind may not vary."""
    if not _tells(used) or not _of_a_fork_tells(again):
        return False
    if isinstance(used, Fault) or isinstance(again, Fault):
        return not (isinstance(used, Fault) and isinstance(again, Fault) and used.kind == again.kind)
    return _canonical(used.value) != _canonical(again.value)


def _canonical(value: Any) -> bytes:
    """Bytes that tell 1 from 1.0 and True. A value is a wire form, or what a sample or a verdict is made of."""
    return json.dumps(value, sort_keys=True).encode("ascii")


def _plain(result: Result) -> dict[str, Any]:
    if isinstance(result, Fault):
        return {"fault": str(result.kind), "detail": result.detail[:SHOWN]}
    return {"value": _shown(result.value), "sha256": sha256(_canonical(result.value)).hexdigest()}


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
