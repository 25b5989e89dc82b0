"""What a reviewer finds: the corpus's semantic rows, which only a reader can tell from sound ones, through all gates.

    python -m tests.benchmarks review                                    # the local preset's model
    REVIEWER=https://HOST/v1 REVIEWER_MODEL=M REVIEWER_KEY_ENV=KEY python -m tests.benchmarks review

Reported, never required: EvoEnv has precision 85.7 % and recall 88.2 % on 79 environments of its own, whose programs
are not public. As many programs here are faulty as are sound; the small model gets a few of them, since what it says is
known beforehand: nothing that can be read.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from envpool.admission import Admission, Verdict
from envpool.generation import parse_reply
from envpool.members import Origin
from envpool.sandbox import LocalExecutor
from tests.corpus import Row, rows
from training.policy.endpoint import EndpointEngine, EndpointSettings
from training.policy.engine import VllmEngine
from training.policy.settings import EngineSettings, GenerationRequest

ENDPOINT, MODEL, KEY_ENV = (os.environ.get(name, "") for name in ("REVIEWER", "REVIEWER_MODEL", "REVIEWER_KEY_ENV"))
TOKENS = int(os.environ.get("REVIEWER_TOKENS", "4096" if ENDPOINT else "64"))
OF_EACH = 1_000 if ENDPOINT else 4
LOCAL = EngineSettings("smollm2-135m", dtype="float32", max_model_len=2048, max_num_seqs=24, kv_cache_gib=1.0)
AT_ONCE = 8


class Reviewer:
    """Asks one engine, in the form that the gate wants."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.seconds: list[float] = []

    async def __call__(self, prompt: str, count: int) -> Sequence[str]:
        request = GenerationRequest(({"role": "user", "content": prompt},), n=count, max_tokens=TOKENS)
        started = time.perf_counter()
        (samples,) = await self._engine.generate([request])
        self.seconds.append(time.perf_counter() - started)
        return [sample.text for sample in samples]


def main() -> None:
    """Judge both halves and print what was found."""
    asyncio.run(measure())


async def measure() -> None:
    """Through a sandbox of this process and one engine."""
    faulty = [row for row in rows() if row.by == "semantic"][:OF_EACH]
    sound = [row for row in rows() if row.by == "mechanical" and not row.gate and not row.needs][: len(faulty)]
    engine = EndpointEngine(EndpointSettings(ENDPOINT, MODEL, KEY_ENV)) if ENDPOINT else VllmEngine(LOCAL)
    executor = LocalExecutor()
    await engine.start()
    try:
        reviewer = Reviewer(engine)
        admission = Admission(executor, review=reviewer)
        free = asyncio.Semaphore(AT_ONCE)

        async def judged(row: Row) -> Verdict:
            async with free:
                return await admission.judge(parse_reply(row.path.read_text(encoding="utf-8")), Origin.POLICY)

        verdicts = await asyncio.gather(*map(judged, [*faulty, *sound]))
    finally:
        executor.close()
        await engine.close()
    report([*faulty, *sound], verdicts, reviewer.seconds)


def report(judged: Sequence[Row], verdicts: Sequence[Verdict], seconds: Sequence[float]) -> None:
    """Recall, precision, and how far the reviews could be read and agree."""
    pairs = [(row, verdict) for row, verdict in zip(judged, verdicts, strict=True) if "reviews" in verdict.evidence]
    found = [row for row, verdict in pairs if "likely bug" in verdict.evidence["reviews"]]
    right = sum(row.by == "semantic" for row in found)
    faulty = sum(row.by == "semantic" for row, _ in pairs)
    said = Counter(opinion for _, verdict in pairs for opinion in verdict.evidence["reviews"])
    refused = sum(verdict.gate == "review" for _, verdict in pairs)
    measured = [verdict.evidence["review_agreement"] for _, verdict in pairs]
    agreeing = [agreement for agreement in measured if agreement is not None]
    agreement = f"{statistics.mean(agreeing):.3f}" if agreeing else "-"
    print(f"reviewer: {f'{MODEL} at {ENDPOINT}' if ENDPOINT else LOCAL.model}, {TOKENS} tokens a review")
    print(f"programs reviewed: {len(pairs)}, {faulty} of them faulty; refused {refused}")
    print(f"faults found: {right}, recall {ratio(right, faulty)}")
    print(f"sound ones called faulty: {len(found) - right}, precision {ratio(right, len(found))}")
    print(f"verdicts: {dict(said)}; agreement {agreement}; {statistics.median(seconds):.1f} s a request (median)")
    if missed := [row.name for row, verdict in pairs if row.by == "semantic" and row not in found]:
        print(f"missed: {', '.join(missed)}")


def ratio(part: int, whole: int) -> str:
    """Three digits; a dash where there is nothing to take a part of."""
    return f"{part / whole:.3f}" if whole else "-"


if __name__ == "__main__":
    main()
