"""A policy served by vLLM in this process: sampling with log-probabilities, and new weights while requests run.

Life of an engine, and what `generate` and `update_weights` do in each phase:

    phase      generate            update_weights        leaves by
    stopped    PolicyEngineLost    PolicyEngineLost      start -> live
    live       samples             starts an update      update -> updating; close -> stopped; death -> lost
    updating   waits its turn      waits its turn        whole weights -> live; half weights -> lost
    lost       PolicyEngineLost    PolicyEngineLost      nothing: a new engine takes its place

Invariant: a token is never sampled from half-loaded weights, and a cache entry never survives the weights that made it:
an update freezes all requests, loads, drops the prefix cache and recomputes what was in flight, then resumes whatever
happened. The version is stamped when the weights are live, before the first token under them. One engine a process; it
does not decide when weights change, and it does not judge responses.
"""
from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Mapping, Sequence
from enum import StrEnum
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from training.policy import vllm_start
from training.policy.chat import encode
from training.policy.errors import GenerationRefused, PolicyEngineLost, WeightUpdateFailed
from training.policy.gathering import all_or_first_error
from training.policy.meter import Meter
from training.policy.settings import EngineSettings, GenerationRequest
from training.trajectory import Sample

logger = logging.getLogger(__name__)

T = TypeVar("T")


class Phase(StrEnum):
    """Where an engine is in its life."""

    STOPPED = "stopped"
    LIVE = "live"
    UPDATING = "updating"
    LOST = "lost"


class VllmEngine:
    """One vLLM engine and the version of the weights it holds."""

    def __init__(self, settings: EngineSettings) -> None:
        self.settings = settings
        self.phase = Phase.STOPPED
        self.version = 0
        self._engine: Any = None
        self._tokenizer: Any = None
        self._processes: list[Any] = []
        self._updating = asyncio.Lock()
        self._request_numbers = count()
        self._meter = Meter()

    async def start(self, version: int = 0) -> None:
        """Load the model; `version` names the weights it starts with. Raises PolicyEngineLost, ModelUnavailable."""
        if self.phase is not Phase.STOPPED:
            raise PolicyEngineLost(f"an engine starts once; this one is {self.phase}")
        try:
            self._engine, self._processes = await asyncio.to_thread(vllm_start.launch, self.settings)
            self._tokenizer = self._engine.get_tokenizer()
            await self._control(vllm_start.connect_weights(self._engine))
        except vllm_start.START_FAILURES as error:
            self._lose(f"did not start: {error!r}")
            raise PolicyEngineLost(f"the engine did not start: {error!r}") from error
        self.version, self.phase = version, Phase.LIVE

    async def generate(self, requests: Sequence[GenerationRequest]) -> list[list[Sample]]:
        """Responses of each request, `n` a request, all requests at once.

        Log-probabilities are natural, of the sampled tokens, at the request's temperature; the end-of-turn token
        is kept. `version_low` is the version at submission, `version_high` the one at the end. Raises
        PolicyEngineLost, and GenerationRefused for a request that does not fit.
        """
        self._require_alive()
        return await all_or_first_error([self._generate(request) for request in requests])

    async def update_weights(self, update: str | Path | Mapping[str, Any], version: int) -> float:
        """Replace the weights under running requests; seconds they stood still (0 if `version` is live already).

        `update` is a safetensors file with Hugging Face names, or what the configured backend takes. Raises
        WeightUpdateFailed (old weights still live) or PolicyEngineLost (weights half loaded, engine ended).
        """
        async with self._updating:
            self._require_alive()
            if version == self.version:
                return 0.0
            info = update if isinstance(update, Mapping) else {"path": str(_readable(Path(update)))}
            start = time.monotonic()
            self.phase = Phase.UPDATING
            try:
                await self._frozen_update(dict(info), version)
            finally:
                if self.phase is Phase.UPDATING:
                    self.phase = Phase.LIVE
            return self._meter.updated(time.monotonic() - start)

    async def check_health(self) -> None:
        """One round trip to the engine core. Raises PolicyEngineLost when it is dead or does not answer in time."""
        self._require_alive()
        if self.phase is Phase.UPDATING:
            return  # the core is busy loading, and every step of that is timed already
        try:
            await self._control(self._engine.is_paused())
        except vllm_start.engine_failures() as error:
            self._lose(f"the engine core does not answer: {error!r}")
            raise PolicyEngineLost("the engine core is dead or hangs") from error

    def metrics(self) -> dict[str, float]:
        """Counts since the start; `tokens_per_second` is over the time in which a request was running."""
        return {"version": float(self.version), **self._meter.snapshot()}

    def processes(self) -> list[int]:
        """Process ids, the engine core's first, then those of its workers."""
        return [process.pid for process in self._processes]

    async def close(self) -> None:
        """Stop; no process is left behind. Harmless when repeated or after a loss."""
        engine, self._engine = self._engine, None
        if self.phase is not Phase.LOST:
            self.phase = Phase.STOPPED
        await asyncio.to_thread(vllm_start.end, engine, self._processes)

    async def _generate(self, request: GenerationRequest) -> list[Sample]:
        from vllm.inputs.engine import tokens_input

        prompt_ids = list(request.prompt_ids) or encode(self._tokenizer, request.messages)
        room = self.settings.max_model_len - len(prompt_ids)
        if room < 1:
            limit = self.settings.max_model_len
            raise GenerationRefused(f"a prompt of {len(prompt_ids)} tokens leaves no room in {limit}")
        parameters = vllm_start.sampling(request, min(request.max_tokens, room))
        low = self.version
        with self._meter.request() as done:
            output = await self._output(tokens_input(prompt_ids), parameters)
            samples = [self._sample(completion, prompt_ids, low) for completion in output.outputs]
            done(samples)
        return samples

    async def _output(self, prompt: Any, parameters: Any) -> Any:
        """The final output of one request."""
        final = None
        try:
            async for output in self._engine.generate(prompt, parameters, str(next(self._request_numbers))):
                final = output
        except vllm_start.engine_failures() as error:
            if self._engine is None or self._engine.errored:
                self._lose(f"died while generating: {error!r}")
                raise PolicyEngineLost("the engine core died") from error
            raise GenerationRefused(f"the engine refused a request: {error!r}") from error
        if final is None or any(c.finish_reason not in ("stop", "length") for c in final.outputs):
            raise PolicyEngineLost("a request was cut off by the engine")
        return final

    def _sample(self, completion: Any, prompt_ids: list[int], low: int) -> Sample:
        tokens = list(completion.token_ids)
        return Sample(
            text=completion.text, prompt_ids=prompt_ids, token_ids=tokens,
            logprobs=[entry[token].logprob for token, entry in zip(tokens, completion.logprobs, strict=True)],
            version_low=min(low, self.version), version_high=max(low, self.version),
            finished=completion.finish_reason == "stop")

    async def _frozen_update(self, info: dict[str, Any], version: int) -> None:
        """Pause, load, resume. Resuming is tried whatever happened, unless the weights are not whole."""
        try:
            await self._control(self._engine.pause_generation(mode="keep", clear_cache=False))
            await self._load(info, version)
        except vllm_start.engine_failures() as error:
            self._lose_if_dead()
            raise WeightUpdateFailed(f"requests could not be paused for version {version}: {error!r}") from error
        finally:
            if self.phase is not Phase.LOST:
                await self._resume()

    async def _load(self, info: dict[str, Any], version: int) -> None:
        from vllm.distributed.weight_transfer.base import WeightTransferUpdateRequest

        try:
            await self._control(self._engine.start_weight_update())
            await self._control(self._engine.update_weights(WeightTransferUpdateRequest(info)))
            await self._control(self._engine.finish_weight_update(str(version)))
            await self._control(self._engine.reset_prefix_cache(reset_running_requests=True))
        except BaseException as error:
            self._lose(f"version {version} was left half loaded: {error!r}")
            if isinstance(error, Exception):
                raise PolicyEngineLost(f"version {version} was left half loaded") from error
            raise
        self.version = version

    async def _resume(self) -> None:
        try:
            await self._control(self._engine.resume_generation())
        except vllm_start.engine_failures() as error:
            self._lose(f"requests could not be resumed: {error!r}")
            raise PolicyEngineLost("the engine could not resume") from error

    async def _control(self, call: Awaitable[T]) -> T:
        return await asyncio.wait_for(call, self.settings.control_seconds)

    def _require_alive(self) -> None:
        self._lose_if_dead()
        if self.phase in (Phase.STOPPED, Phase.LOST):
            raise PolicyEngineLost(f"the engine is {self.phase}")

    def _lose_if_dead(self) -> None:
        if self._engine is not None and self._engine.errored:
            self._lose("its engine core died")
            raise PolicyEngineLost("the engine core died")

    def _lose(self, reason: str) -> None:
        """Kill what is left, so that running requests fail at once instead of yielding samples nobody can trust."""
        if self.phase is not Phase.LOST:
            logger.error("policy engine lost: %s", reason)
        self.phase = Phase.LOST
        vllm_start.kill(self._processes)


def _readable(path: Path) -> Path:
    """Looked into before anything is paused: a missing or torn file must not cost the engine."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as file:
            if not list(file.keys()):
                raise WeightUpdateFailed(f"{path} holds no tensors")
    except (OSError, SafetensorError) as error:
        raise WeightUpdateFailed(f"{path} is no readable safetensors file: {error}") from error
    return path.resolve()
