"""Solver tokens/s: our engine in a Ray actor against bare vLLM, the same requests in the same run.

What the actor adds (chat template, log-probabilities, versions, Ray) must cost little beside the model. Both run
with the same threads, cache and data type, one after the other; the tokens counted are those each produced.
"""
from __future__ import annotations

import asyncio
import os
import random
import time
from typing import Any

from training.policy.engine import VllmEngine
from training.policy.settings import EngineSettings, GenerationRequest

SETTINGS = EngineSettings("smollm2-135m", dtype="float32", max_model_len=512, max_num_seqs=96, kv_cache_gib=0.5)
REQUESTS, TOKENS = 96, 24
HEAD = ({"role": "system", "content": "End with <answer>the answer</answer>."},
        {"role": "user", "content": "Add the two numbers.\n\nInput: [1, 4]\n\n<answer>an integer</answer>"},
        {"role": "assistant", "content": "<answer>5</answer>"})


def requests() -> list[GenerationRequest]:
    """Prompts of about 100 tokens that share all but the last lines."""
    rng = random.Random(0)
    return [GenerationRequest(messages=(*HEAD, {"role": "user", "content":
            "Return the largest number of the list.\n\n"
            f"Input: {[rng.randint(0, 99) for _ in range(8)]}\n\n<answer>an integer</answer>"}),
        max_tokens=TOKENS, temperature=1.0) for _ in range(REQUESTS)]


async def through_the_engine() -> float:
    """Tokens/s of `VllmEngine`."""
    engine = VllmEngine(SETTINGS)
    await engine.start()
    try:
        await engine.generate(requests()[:2])
        start = time.perf_counter()
        groups = await engine.generate(requests())
        seconds = time.perf_counter() - start
    finally:
        await engine.close()
    return sum(len(sample.token_ids) for group in groups for sample in group) / seconds


def bare() -> float:
    """Tokens/s of vLLM's own `LLM.chat`, set up the same way."""
    from training.policy import vllm_start

    os.environ.update(vllm_start.environment(SETTINGS, on_cpu=True))
    from vllm import LLM, SamplingParams

    from training.policy.source import resolve_model

    llm = LLM(model=str(resolve_model(SETTINGS.model)), dtype=SETTINGS.dtype, enforce_eager=True, seed=0,
              max_model_len=SETTINGS.max_model_len, max_num_seqs=SETTINGS.max_num_seqs, block_size=vllm_start.KV_BLOCK,
              kv_cache_memory_bytes=int(SETTINGS.kv_cache_gib * vllm_start.GIB), disable_log_stats=True)
    parameters = SamplingParams(max_tokens=TOKENS, temperature=1.0)
    conversations: list[Any] = [list(request.messages) for request in requests()]
    llm.chat(conversations[:2], parameters, use_tqdm=False)
    start = time.perf_counter()
    outputs = llm.chat(conversations, parameters, use_tqdm=False)
    seconds = time.perf_counter() - start
    return sum(len(output.outputs[0].token_ids) for output in outputs) / seconds


def main() -> None:
    """Print both speeds and their ratio."""
    import ray

    ray.init(num_cpus=3, include_dashboard=False, logging_level="ERROR")
    try:
        ours = ray.get(ray.remote(num_cpus=1)(lambda: asyncio.run(through_the_engine())).remote())
        reference = ray.get(ray.remote(num_cpus=1)(bare).remote())
    finally:
        ray.shutdown()
    print(f"solver: {ours:.0f} tokens/s, bare vLLM: {reference:.0f} tokens/s, ratio {ours / reference:.2f}")


if __name__ == "__main__":
    main()
