"""Solver tokens/s: our engine in a Ray actor against bare vLLM, the same requests in the same run.

What the actor adds (chat template, log-probabilities, versions, Ray) must cost little beside the model. Both run
with the same threads, cache and data type and take turns, so that a change in the machine's load meets both. Each
round has prompts of its own, of which only the head is cached; the tokens counted are those each produced.
"""
from __future__ import annotations

import os
import random
import time
from typing import Any

from training.policy import vllm_start
from training.policy.engine import VllmEngine
from training.policy.settings import EngineSettings, GenerationRequest
from training.policy.source import resolve_model

SETTINGS = EngineSettings("smollm2-135m", dtype="float32", max_model_len=512, max_num_seqs=96, kv_cache_gib=0.5)
REQUESTS, TOKENS, ROUNDS = 96, 24, 3
HEAD = ({"role": "system", "content": "End with <answer>the answer</answer>."},
        {"role": "user", "content": "Add the two numbers.\n\nInput: [1, 4]\n\n<answer>an integer</answer>"},
        {"role": "assistant", "content": "<answer>5</answer>"})


def requests(seed: int) -> list[GenerationRequest]:
    """Prompts of about 100 tokens that share all but the last lines."""
    rng = random.Random(seed)
    return [GenerationRequest(messages=(*HEAD, {"role": "user", "content":
            "Return the largest number of the list.\n\n"
            f"Input: {[rng.randint(0, 99) for _ in range(8)]}\n\n<answer>an integer</answer>"}),
        max_tokens=TOKENS, temperature=1.0) for _ in range(REQUESTS)]


class Ours:
    """`VllmEngine`, as the solver actor runs it."""

    async def start(self) -> None:
        """Load the model and warm up."""
        self._engine = VllmEngine(SETTINGS)
        await self._engine.start()
        await self._engine.generate(requests(0)[:2])

    async def measure(self, seed: int) -> tuple[int, float]:
        """Tokens and seconds of one round."""
        asked = requests(seed)
        start = time.perf_counter()
        groups = await self._engine.generate(asked)
        return sum(len(sample.token_ids) for group in groups for sample in group), time.perf_counter() - start

    async def stop(self) -> None:
        """Leave no process behind."""
        await self._engine.close()


class Bare:
    """vLLM's own `LLM.chat`, set up the same way."""

    def start(self) -> None:
        """Load the model and warm up."""
        os.environ.update(vllm_start.environment(SETTINGS, on_cpu=True))
        from vllm import LLM, SamplingParams

        self._parameters = SamplingParams(max_tokens=TOKENS, temperature=1.0)
        self._llm = LLM(
            model=str(resolve_model(SETTINGS.model)), dtype=SETTINGS.dtype, enforce_eager=True, seed=SETTINGS.seed,
            max_model_len=SETTINGS.max_model_len, max_num_seqs=SETTINGS.max_num_seqs, disable_log_stats=True,
            kv_cache_memory_bytes=int(SETTINGS.kv_cache_gib * vllm_start.GIB), block_size=vllm_start.KV_BLOCK)
        self._llm.chat(_conversations(0)[:2], self._parameters, use_tqdm=False)

    def measure(self, seed: int) -> tuple[int, float]:
        """Tokens and seconds of one round."""
        conversations = _conversations(seed)
        start = time.perf_counter()
        outputs = self._llm.chat(conversations, self._parameters, use_tqdm=False)
        return sum(len(output.outputs[0].token_ids) for output in outputs), time.perf_counter() - start


def _conversations(seed: int) -> list[Any]:
    return [list(request.messages) for request in requests(seed)]


def speed(rounds: list[tuple[int, float]]) -> float:
    """Tokens/s of the fastest round: what other work on the machine takes away is not the engine's."""
    return max(tokens / seconds for tokens, seconds in rounds)


def main() -> None:
    """Print both speeds and their ratio."""
    import ray

    ray.init(num_cpus=3, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    try:
        ours, bare = (ray.remote(num_cpus=1)(kind).remote() for kind in (Ours, Bare))
        for actor in (ours, bare):
            ray.get(actor.start.remote())
        rounds = [(ray.get(ours.measure.remote(seed)), ray.get(bare.measure.remote(seed)))
                  for seed in range(1, 1 + ROUNDS)]
        ray.get(ours.stop.remote())
    finally:
        ray.shutdown()
    fast, reference = speed([mine for mine, _ in rounds]), speed([theirs for _, theirs in rounds])
    print(f"solver: {fast:.0f} tokens/s, bare vLLM: {reference:.0f} tokens/s, ratio {fast / reference:.2f}")


if __name__ == "__main__":
    main()
