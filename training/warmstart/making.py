"""Making a writer: lessons, the course, the weights into the cache, and what the writer can do.

Invariant: its folder appears by one atomic rename, once the course is over and the weights are written; whoever finds
it finds it whole, and an interruption at any moment before leaves nothing of it. What was measured follows, by another
atomic rename: a measurement that was interrupted, or is asked for otherwise, is made by the next call and costs no
lesson. One process makes a writer, others wait for it. It starts no Ray: the cluster comes in from outside.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from envpool.generation import Grammar, proposal_prompt
from envpool.generation.lessons import (
    LONGEST,
    STREAM,
    Lesson,
    WritingLessons,
    oracle_text,
    oracles_apart,
    set_apart,
)
from envpool.sandbox import LocalExecutor
from envpool.shipped import Shipped
from training.grpo.settings import LearnerSettings
from training.policy.chat import messages
from training.policy.settings import EngineSettings, GenerationRequest
from training.policy.source import WEIGHTS, locked, models_folder, resolve_model, sha256
from training.precision import engine_dtype
from training.warmstart.answers import solving_lessons
from training.warmstart.course import Progress, questions, teach
from training.warmstart.examination import Examined, examine
from training.warmstart.plan import FACTS, RECIPE, WarmStart

GRAMMAR_ASKED = 60
"""Programs of the grammar in the lessons of solving, beside the shipped ones (ours)."""
QUESTIONS_EACH = 8
"""Questions of each program there (ours)."""
REPLY_TOKENS = 320
"""Room for a proposal: the grammar's longest program has 300 tokens (ours)."""
ROOM_TOKENS = 1280
A_REQUEST = 4
"""Proposals to one request of the examination (ours)."""

Cluster = Callable[[], AbstractContextManager[object]]
"""Opens a Ray cluster for the learner."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a writer is measured by."""

    proposals: int = 64
    temperature: float = 1.0
    """Of sampling, as in the runs that it is made for."""


@dataclass(frozen=True, slots=True)
class Tell:
    """Where news of the making goes."""

    phase: Callable[[str], None] = lambda _: None
    progress: Callable[[Progress], None] = lambda _: None


def facts_of(folder: Path) -> dict[str, Any]:
    """What a writer was made from; under "examined" what was measured of it (None before), as "asked" says."""
    facts: dict[str, Any] = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    return facts


def make(
    plan: WarmStart,
    programs: Sequence[Shipped],
    cluster: Cluster,
    tell: Tell,
    *,
    asked: Asked,
    threads: int,
) -> Path:
    """The writer's folder, made unless it is there. `programs` are those of a run, with the ones set apart.

    Raises ModelUnavailable, SandboxUnavailable, InfrastructureFault, LearnerError, PolicyEngineLost.
    """
    base = resolve_model(plan.base)
    folder = plan.folder(models_folder(), sha256(base / WEIGHTS))
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder.with_name(f"{folder.name}.lock")):
        if not folder.is_dir():
            for torn in folder.parent.glob(f".{folder.name}-*"):
                shutil.rmtree(torn)  # of a process that was killed: whoever lives holds the lock
            with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as scratch:
                made = Path(scratch) / "made"
                _train(plan, programs, base, made, cluster, tell, threads)
                made.rename(folder)
        facts = facts_of(folder)
        if facts["asked"] != asdict(asked):
            tell.phase(f"measuring: {asked.proposals} proposals through the gates")
            examined = _measured(plan, programs, folder, facts, asked, threads)
            _write_facts(folder, facts | {"asked": asdict(asked), "examined": examined.to_dict()})
    return folder


def _train(
    plan: WarmStart,
    programs: Sequence[Shipped],
    base: Path,
    made: Path,
    cluster: Cluster,
    tell: Tell,
    threads: int,
) -> None:
    tell.phase("drawing questions")
    started = time.monotonic()
    solving = asyncio.run(_solving(plan, programs))
    writing = WritingLessons([each.source for each in programs if not each.held_out], plan.seed, plan.replies)
    tell.phase("starting the learner")
    with cluster():
        last = _taught(plan, base, made, writing, solving, tell, threads)
    facts = {
        "plan": asdict(plan), "recipe": RECIPE, "steps": last.step, "reply_tokens": last.tokens,
        "training_seconds": last.seconds, "seconds": time.monotonic() - started, "loss": last.loss,
        "taught": len(writing.taught), "oracles": sorted(map(oracle_text, writing.taught)),
        "asked": None, "examined": None,
    }  # fmt: skip
    _write_facts(made, facts)


def _taught(
    plan: WarmStart, base: Path, made: Path, writing: WritingLessons, solving: Sequence[Sequence[Lesson]],
    tell: Tell, threads: int,
) -> Progress:  # fmt: skip
    """The course, and its weights with all else that a model's folder holds."""
    from transformers import AutoTokenizer

    from training.warmstart.pupil import Pupil, row_of

    tokenizer = AutoTokenizer.from_pretrained(base)
    rows = plan.replies + plan.answers
    pupil = Pupil(LearnerSettings(base, threads=threads, lr=plan.lr, micro_batch=rows, seed=plan.seed))

    def learn(programs: Sequence[Lesson], answers: Sequence[Lesson], lr: float) -> dict[str, float]:
        rows = [row_of(tokenizer, lesson) for lesson in programs]
        return pupil.imitate([*rows, *(row_of(tokenizer, each, plan.answer_weight) for each in answers)], lr)

    pupil.start()
    try:
        tell.phase("training")
        steps = teach(plan, iter(writing), questions(solving, plan.answers, plan.seed), learn, time.monotonic)
        for progress in steps:
            tell.progress(progress)
        shutil.copytree(base, made, ignore=shutil.ignore_patterns("*.safetensors", "*.bin", "*.index.json"))
        pupil.export(made / WEIGHTS)
    finally:
        pupil.close()
    return progress


async def _solving(plan: WarmStart, programs: Sequence[Shipped]) -> list[list[Lesson]]:
    executor = LocalExecutor()
    await executor.start()
    try:
        return await solving_lessons(executor, programs, GRAMMAR_ASKED, plan.seed, QUESTIONS_EACH)
    finally:
        executor.close()


def _measured(
    plan: WarmStart,
    programs: Sequence[Shipped],
    folder: Path,
    facts: dict[str, Any],
    asked: Asked,
    threads: int,
) -> Examined:
    shown = _examples(plan, programs, -(-asked.proposals // A_REQUEST))
    requests = [
        GenerationRequest(
            messages=tuple(messages(proposal_prompt([source]))),
            n=A_REQUEST,
            max_tokens=REPLY_TOKENS,
            temperature=asked.temperature,
        )
        for source in shown
    ]
    replies = asyncio.run(_replies(folder, requests, plan.seed, threads))[: asked.proposals]
    taught, apart = set(facts["oracles"]), oracles_apart(plan.seed)
    return asyncio.run(examine(replies, shown, taught, apart, os.cpu_count() or 1))


def _examples(plan: WarmStart, programs: Sequence[Shipped], count: int) -> list[str]:
    """By turns a program of the grammar that no lesson had, and a shipped one."""
    written = Grammar(STREAM + plan.seed).write(100 * count)
    apart = [each.source for each in written if set_apart(each) and len(each.notes) <= LONGEST]
    shipped = [each.source for each in programs if not each.held_out]
    pairs = zip(apart, shipped * count, strict=False)
    return [source for pair in pairs for source in pair][:count]


async def _replies(folder: Path, requests: Sequence[GenerationRequest], seed: int, threads: int) -> list[str]:
    from training.policy.engine import VllmEngine

    settings = EngineSettings(
        str(folder), dtype=engine_dtype("auto", gpus=False), max_model_len=ROOM_TOKENS, kv_cache_gib=2.0,
        threads=threads, seed=seed,
    )  # fmt: skip
    engine = VllmEngine(settings)
    await engine.start()
    try:
        return [sample.text for group in await engine.generate(requests) for sample in group]
    finally:
        await engine.close()


def _write_facts(folder: Path, facts: dict[str, Any]) -> None:
    scratch = folder / f".{FACTS}"
    scratch.write_text(json.dumps(facts, indent=1), encoding="utf-8")
    os.replace(scratch, folder / FACTS)
