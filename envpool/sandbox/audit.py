"""Recomputing a share of what frozen programs said: the one way to find a program that behaves only while it is judged.

Invariant: a program is refuted only by a disagreement that was confirmed. What the machine does (a lost zygote, a limit
that depends on a clock) is no evidence, and a second opinion that stands alone against the first and a
third is not either. Auditing never delays or changes a result; what follows from a refutation is the caller's.

    first = the result that was used      second = a fresh fork of another zygote      third = of yet another
    first == second                            agreed
    first != second, third != first            refuted: two computations contradict what was used
    first != second, third == first            second is asked again; refuted where it stays apart from the first
                                               (the hash seed, or the zygote, decides), else unconfirmed

It does not find a program that lies alike in every fork: that one is sound or not by its own rule, which is what the
gates look at, at admission and again before a level is used. Nor one that spins until its CPU limit in a fork that was
asked nothing before: it is only counted (`audits_no_evidence`).
"""

import json
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b, sha256
from typing import Any

from envpool.contract import Recipe
from envpool.sandbox.executor import ARBITER, SECOND, BatchExecutor
from envpool.sandbox.results import Call, Done, Fault, FaultKind, InfrastructureFault, Job, Mode, Result

NO_EVIDENCE = frozenset({FaultKind.CPU_LIMIT, FaultKind.MEM_LIMIT})
"""Faults in use that depend on the machine, or on what else the child had to hold. A fresh fork holds nothing else, so
that it runs out of memory does contradict a value: a program might say so itself, to be left in peace."""
OF_A_FORK = NO_EVIDENCE - {FaultKind.MEM_LIMIT}
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


async def recheck(executor: BatchExecutor, observed: Observation) -> tuple[Opinion, Refutation | None]:
    """Recomputes one observation; with a refutation where it is refuted. Never raises what the machine does."""
    second = await _again(executor, observed, SECOND)
    if not isinstance(second, list):
        return Opinion.NO_EVIDENCE, None
    return await judge(executor, observed, second)


async def judge(
    executor: BatchExecutor, observed: Observation, second: Sequence[Result]
) -> tuple[Opinion, Refutation | None]:
    """What a second opinion means; others are asked only where it differs."""
    apart = [n for n, (a, b) in enumerate(zip(observed.results, second, strict=True)) if _differ(a, b)]
    if not apart:
        told = all(map(_tells, observed.results)) and all(_tells(each, OF_A_FORK) for each in second)
        return (Opinion.AGREED if told else Opinion.NO_EVIDENCE), None
    place = apart[0]
    used, recomputed = observed.results[place], [second[place]]
    for replica in (ARBITER, SECOND):
        done = await _again(executor, observed, replica)
        if not isinstance(done, list) or not _tells(done[place], OF_A_FORK):
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
        self._waiting: deque[Observation] = deque()
        self._counts: Counter[str] = Counter()

    def observe(self, observed: Observation) -> None:
        """Takes note of results that were used, if their draw is chosen. Costs a hash, never waits, never raises."""
        recipe = observed.recipe
        if not chosen(self._secret, observed.member, recipe.key(), recipe.level, self._share):
            return
        if len(self._waiting) >= self._room:
            self._counts["skipped"] += 1  # told, so that an operator sees a share that is not reached
            return
        self._waiting.append(observed)

    @property
    def waiting(self) -> int:
        """Observations chosen and not yet recomputed."""
        return len(self._waiting)

    async def work(self) -> list[Refutation]:
        """Recomputes all that waits: one batch of second opinions, then others where one differs.

        What an error leaves undone still waits.
        """
        batch = list(self._waiting)
        if not batch:
            return []
        seconds = await self._executor.run_many([_job(observed, SECOND) for observed in batch])
        found: list[Refutation] = []
        for observed, second in zip(batch, seconds, strict=True):
            opinion, refutation = Opinion.NO_EVIDENCE, None
            if isinstance(second, list):
                try:
                    opinion, refutation = await judge(self._executor, observed, second)
                except Exception:
                    if found:  # what was found goes first; the rest still waits
                        return found
                    raise
            self._waiting.popleft()
            self._counts[opinion] += 1
            if refutation is not None:
                found.append(refutation)
        return found

    def metrics(self) -> dict[str, float]:
        """Audits by what they came to, those that wait, and those skipped because too many waited."""
        counts = {f"audits_{name}": float(self._counts[name]) for name in (*Opinion, "skipped")}
        return {**counts, "audits_waiting": float(len(self._waiting))}


def _job(observed: Observation, replica: int) -> Job:
    return Job(observed.source, observed.calls, Mode.AUDIT, replica)


async def _again(executor: BatchExecutor, observed: Observation, replica: int) -> Done:
    try:
        (done,) = await executor.run_many([_job(observed, replica)])
    except InfrastructureFault as fault:
        return fault
    return done


def _tells(result: Result, nothing: frozenset[FaultKind] = NO_EVIDENCE) -> bool:
    return not (isinstance(result, Fault) and result.kind in nothing)


def _differ(used: Result, again: Result) -> bool:
    """Whether a fork contradicts what was used. The text of a fault may name an address; its kind may not vary."""
    if not _tells(used) or not _tells(again, OF_A_FORK):
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
