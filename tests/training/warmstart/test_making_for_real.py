"""A warm start from end to end: the real learner, engine and sandbox, on a model of two layers."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import ray
import torch
from safetensors.torch import load_file
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from envpool.shipped import shipped
from training.policy.source import WEIGHTS, resolve_model
from training.warmstart import making
from training.warmstart.course import Progress
from training.warmstart.making import Asked, Tell, facts_of, make
from training.warmstart.plan import WarmStart

ROOT = Path(__file__).parents[3]
PROGRAMS = shipped(["inversion_count"], ["lists/largest"], ["lists/smallest"])


@contextmanager
def cluster() -> Iterator[None]:
    ray.shutdown()
    environment = {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    ray.init(
        address="local", num_cpus=2, include_dashboard=False, log_to_driver=False,
        runtime_env={"env_vars": environment},
    )  # fmt: skip
    try:
        yield
    finally:
        ray.shutdown()


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two random layers that speak the small model's tokens."""
    tokenizer = AutoTokenizer.from_pretrained(resolve_model("smollm2-135m"))
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=64, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=1, tie_word_embeddings=True, max_position_embeddings=2048,
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.eos_token_id,
    )  # fmt: skip
    folder = tmp_path / "tiny"
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(making, "GRAMMAR_ASKED", 2)
    monkeypatch.setattr(making, "REPLY_TOKENS", 24)
    return folder


def test_a_writer_is_taught_written_served_and_judged(base: Path) -> None:
    seen: list[Progress] = []
    plan = WarmStart(str(base), minutes=5, steps=3, replies=2, answers=2, lr=1e-2, warmup=1)
    folder = make(plan, PROGRAMS, cluster, Tell(progress=seen.append), asked=Asked(4), threads=1)
    assert [progress.step for progress in seen] == [1, 2, 3]
    assert seen[-1].loss < seen[0].loss
    facts = facts_of(folder)
    assert facts["steps"] == 3 and facts["taught"] >= 6
    assert facts["examined"]["proposals"] + facts["examined"]["undecided"] == 4
    taught, before = load_file(folder / WEIGHTS), load_file(base / WEIGHTS)
    assert taught.keys() == before.keys()
    assert any(not torch.equal(taught[name].float(), before[name].float()) for name in taught)
    names = {path.name for path in folder.iterdir()}
    assert {path.name for path in base.iterdir()} <= names
    shutil.rmtree(folder)
