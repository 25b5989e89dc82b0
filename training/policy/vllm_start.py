"""Starting and ending vLLM's `AsyncLLM` in this process, on a CPU or on GPUs.

On a CPU the engine core runs the model itself (no worker process of its own): one process less to start, and no
spinning wait between the two. Its OpenMP threads are not bound to cores and sleep while they wait, since solver,
learner and sandboxes share the machine. Imports vLLM only inside functions, after the environment is set.
"""
from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import Any

import psutil

from training.policy.settings import EngineSettings, GenerationRequest
from training.policy.source import resolve_model

logger = logging.getLogger(__name__)

GIB = 1 << 30
KV_BLOCK = 16
"""tokens a block of the cache on a CPU; only whole blocks are shared, and vLLM's 128 exceed most prompts"""
STEP_TOKENS = 2048
"""prompt tokens computed in one step on a CPU, unless a prompt may be longer"""
GRACE_SECONDS = 1.0
END_SECONDS = 5.0
START_FAILURES = (RuntimeError, ValueError, OSError, TimeoutError)


def environment(settings: EngineSettings, on_cpu: bool) -> dict[str, str]:
    """Variables that vLLM and its child read. What the user has set already wins, except for the threads."""
    wanted = {"VLLM_LOGGING_LEVEL": "WARNING", "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1",
              "TOKENIZERS_PARALLELISM": "false"}
    if on_cpu:
        wanted |= {"VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_WAIT_POLICY": "passive"}
        if settings.tensor_parallel == 1:
            wanted["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
    missing = {name: value for name, value in wanted.items() if name not in os.environ}
    return missing | ({"OMP_NUM_THREADS": str(settings.thread_count)} if on_cpu else {})


def launch(settings: EngineSettings) -> tuple[Any, list[psutil.Process]]:
    """A running `AsyncLLM` and its processes, engine core first. Blocks for as long as loading takes."""
    model = str(resolve_model(settings.model))
    os.environ.update(environment(settings, on_cpu=False))
    from vllm.platforms import current_platform

    on_cpu = current_platform.is_cpu()
    os.environ.update(environment(settings, on_cpu))
    from vllm.v1.engine.async_llm import AsyncLLM

    engine = AsyncLLM.from_engine_args(_arguments(settings, model, on_cpu))
    cores = [psutil.Process(core.pid) for core in engine.engine_core.resources.engine_manager.processes]
    return engine, cores + [worker for core in cores for worker in core.children(recursive=True)]


async def connect_weights(engine: Any) -> None:
    """Open vLLM's weight transfer."""
    from vllm.distributed.weight_transfer.base import WeightTransferInitRequest

    await engine.init_weight_transfer_engine(WeightTransferInitRequest({}))


def sampling(request: GenerationRequest, max_tokens: int) -> Any:
    """vLLM's sampling parameters. Nothing truncates the distribution, or the learner's importance ratio is biased."""
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind

    return SamplingParams(
        n=request.n, max_tokens=max_tokens, temperature=request.temperature, seed=request.seed,
        top_p=1.0, top_k=0, logprobs=0, output_kind=RequestOutputKind.FINAL_ONLY)


def engine_failures() -> tuple[type[Exception], ...]:
    """What vLLM raises for a dead core, a failed or refused request, and what a hanging control call raises."""
    from vllm.exceptions import VLLMClientError
    from vllm.v1.engine.exceptions import EngineDeadError, EngineGenerateError

    return EngineDeadError, EngineGenerateError, VLLMClientError, TimeoutError


def kill(processes: Sequence[psutil.Process]) -> None:
    """End processes at once; one that is gone already is fine."""
    for process in processes:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue


def end(engine: Any, processes: Sequence[psutil.Process]) -> None:
    """Shut an engine down, then make sure of it."""
    if engine is not None:
        engine.shutdown(timeout=GRACE_SECONDS)
    kill(processes)
    _, alive = psutil.wait_procs(processes, timeout=END_SECONDS)
    if alive:
        logger.error("processes that could not be ended: %s", [process.pid for process in alive])


def _arguments(settings: EngineSettings, model: str, on_cpu: bool) -> Any:
    from vllm import AsyncEngineArgs
    from vllm.config import WeightTransferConfig

    place = _on_cpu(settings) if on_cpu else {"gpu_memory_utilization": settings.gpu_memory}
    return AsyncEngineArgs(
        model=model, dtype=settings.dtype, max_model_len=settings.max_model_len, max_num_seqs=settings.max_num_seqs,
        tensor_parallel_size=settings.tensor_parallel, seed=settings.seed, enable_prefix_caching=True,
        logprobs_mode="processed_logprobs", disable_log_stats=True,
        weight_transfer_config=WeightTransferConfig(backend=settings.weights_backend), **place)


def _on_cpu(settings: EngineSettings) -> dict[str, Any]:
    """Prompts are not split: vLLM 0.28 dies of a seeded request whose prompt it computes in two parts on a CPU."""
    return {"enforce_eager": True, "kv_cache_memory_bytes": int(settings.kv_cache_gib * GIB), "block_size": KV_BLOCK,
            "enable_chunked_prefill": False, "max_num_batched_tokens": max(STEP_TOKENS, settings.max_model_len)}
