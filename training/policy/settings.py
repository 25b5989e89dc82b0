"""What a policy engine is told at its start, and what it is asked for later. Plain data, nothing to import."""
from __future__ import annotations

import os
from dataclasses import dataclass

from training.policy.chat import Message


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Settings of one engine."""

    model: str
    """packaged name, folder or Hugging Face name"""
    dtype: str = "bfloat16"
    max_model_len: int = 1024
    """tokens of prompt and response together"""
    max_num_seqs: int = 64
    """sequences decoded together"""
    kv_cache_gib: float = 1.0
    """key-value cache on a CPU"""
    gpu_memory: float = 0.85
    """share of a GPU's memory for weights and cache"""
    tensor_parallel: int = 1
    """GPUs of this engine"""
    threads: int = 0
    """OpenMP threads on a CPU; 0: as many as the process may use"""
    weights_backend: str = "file"
    """vLLM weight transfer backend: ours, or vLLM's `nccl` or `ipc` on GPU"""
    control_seconds: float = 120.0
    """limit of each control call: pause, load, resume, health"""
    seed: int = 0

    @property
    def thread_count(self) -> int:
        """OpenMP threads on a CPU."""
        return self.threads or len(os.sched_getaffinity(0))


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """One prompt and how many responses to sample; exactly one of the two forms of prompt is given."""

    messages: tuple[Message, ...] = ()
    prompt_ids: tuple[int, ...] = ()
    n: int = 1
    max_tokens: int = 64
    temperature: float = 1.0
    seed: int | None = None
    """the same seed under the same weights and load gives the same responses"""

    def __post_init__(self) -> None:
        if bool(self.messages) == bool(self.prompt_ids):
            raise ValueError("a request has either messages or prompt_ids")
        if self.n < 1 or self.max_tokens < 1 or self.temperature < 0:
            raise ValueError("n and max_tokens are at least 1 and temperature is not negative")
