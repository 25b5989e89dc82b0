"""Every task of reasoning-gym through the gates, and the oracle answers of those that pass: what a user would import.

    python -m tests.benchmarks reasoning_gym
    TASKS="gcd word_*" ITEMS=50 REPORT=rows.json python -m tests.benchmarks reasoning_gym

A row a task: admitted, or the gate and its reason. Of each that is admitted ITEMS questions over its first levels are
built, and their references scored, through the sandbox, as in training; each must score 1. A seed that gives no
question, as where a task takes too long at it, is passed over as in training, and told. Last, what a zygote that has
the package costs, beside one that has not. Nothing is written to any pool.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from envpool.admission import Admission, Verdict
from envpool.answers import write
from envpool.contract import Instance, Recipe, Scored
from envpool.exchange.offers import Offer
from envpool.exchange.reasoning_gym import PACKAGE, programs
from envpool.execution import Examiner
from envpool.members import Origin
from envpool.returned import ProgramFault
from envpool.sandbox import Call, LocalExecutor, Sandbox, SandboxLimits
from envpool.signatures import from_wire, parse_type

TASKS = os.environ.get("TASKS", "all").split()
ITEMS = int(os.environ.get("ITEMS", "50"))
REPORT = os.environ.get("REPORT", "")
LEVELS = 3
PATIENT = SandboxLimits(wall_seconds=120.0)
"""A busy machine is no fault of a task."""
RUNS = 100
PLAIN = """
from envpool import Environment


class Plain(Environment):
    rule = "Say it again."

    def sample(self, rng, level):
        return level

    def solve(self, x: int) -> int:
        return x
"""


def main() -> None:
    """Print the table, the oracle answers and the costs; fail where a reference does not score."""
    rows = asyncio.run(judged())
    admitted = [row for row in rows if not row["gate"]]
    short = [row for row in admitted if row["right"] != ITEMS]
    whole = len(admitted) - len(short)
    print(f"\n{len(admitted)} of {len(rows)} tasks admitted; {whole} with all {ITEMS} references right")
    for gate in sorted({row["gate"] for row in rows} - {""}):
        fell = [row["task"] for row in rows if row["gate"] == gate]
        print(f"{gate:14} {len(fell):3}  {', '.join(fell)}")
    if REPORT:
        Path(REPORT).write_text(json.dumps(rows, indent=1), encoding="utf-8")
    for packages in ((), (PACKAGE,)):
        print(cost(packages))
    if short:
        sys.exit(f"references of admitted tasks that do not score 1: {short}")


async def judged() -> list[dict[str, Any]]:
    """One row a task."""
    started = time.perf_counter()
    offers = programs(TASKS)
    print(f"{len(offers)} programs made in {time.perf_counter() - started:.1f} s")
    executor = LocalExecutor(PATIENT, packages=(PACKAGE,))
    admission = Admission(executor)
    rows = []
    try:
        for offer in offers:
            rows.append(await row(executor, admission, offer))
    finally:
        executor.close()
    print(f"judged and asked in {time.perf_counter() - started:.0f} s")
    return rows


async def row(executor: LocalExecutor, admission: Admission, offer: Offer) -> dict[str, Any]:
    """The verdict on a task; of one that is admitted, how many references score."""
    started = time.perf_counter()
    verdict = await admission.judge(offer.source, Origin.IMPORTED, name=offer.name, held_out=offer.held_out)
    seconds = time.perf_counter() - started
    right, dry = await references(executor, verdict) if verdict.member else (None, 0)
    found = "admitted" if verdict.member else verdict.gate
    remark = verdict.reason[:140]
    if verdict.member:
        levels = f", levels 0 to {levels_of(verdict) - 1}" * ("levels" in verdict.evidence)
        remark = f"{right} of {ITEMS} references score 1{levels}" + f", {dry} seeds gave no question" * bool(dry)
    print(f"{offer.name.rpartition('/')[2]:28} {found:14} {seconds:6.1f} s  {remark}", flush=True)
    return {
        "task": offer.name, "gate": verdict.gate, "reason": verdict.reason, "seconds": round(seconds, 2),
        "held_out": offer.held_out, "right": right, "levels": levels_of(verdict), "dry": dry,
    }  # fmt: skip


def levels_of(verdict: Verdict) -> int:
    """As many as the gates looked at and found sound."""
    return int(verdict.evidence.get("levels", LEVELS))


async def references(executor: LocalExecutor, verdict: Verdict) -> tuple[int, int]:
    """How many of ITEMS oracle answers score 1, over the first levels, and how many seeds gave no question."""
    assert verdict.member is not None
    member = verdict.member
    examiner = Examiner(executor, lambda _: member)
    right, dry = 0, 0
    for item in range(ITEMS):
        while (instance := await built(examiner, member.id, item + dry, item % levels_of(verdict))) is None:
            dry += 1
            if dry > ITEMS:
                return right, dry
        right += await examiner.score(instance, oracle(instance)) == Scored(1.0)
    return right, dry


async def built(examiner: Examiner, member: str, seed: int, level: int) -> Instance | None:
    """A question; None where the program fails at the seed."""
    try:
        return await examiner.build(Recipe(member, 1000 + seed, level))
    except ProgramFault as fault:
        print(f"    seed {1000 + seed}, level {level}: {fault.fault.kind}: {fault.fault.detail}", flush=True)
        return None


def oracle(instance: Instance) -> str:
    """The answer that its reference is."""
    types = [parse_type(text) for text in instance.answer_types]
    return write([from_wire(each) for each in instance.references], types)


def cost(packages: tuple[str, ...]) -> str:
    """Start, memory and forks of a zygote."""
    started = time.perf_counter()
    with Sandbox(packages=packages) as sandbox:
        ready = time.perf_counter() - started
        status = Path(f"/proc/{sandbox.zygote_pid}/status").read_text(encoding="utf-8")
        resident = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
        spans = []
        for _ in range(RUNS):
            begun = time.perf_counter()
            sandbox.run(PLAIN, [Call("solve", (1,))], fresh=True)
            spans.append(time.perf_counter() - begun)
    return (
        f"zygote with {', '.join(packages) or 'no packages'}: start {ready:.2f} s, {resident >> 10} MiB, "
        f"a run in a fork of its own p50 {statistics.median(spans) * 1000:.1f} ms"
    )


if __name__ == "__main__":
    main()
