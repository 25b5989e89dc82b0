"""The rank of a learner: verl's TrainingWorker, on either platform, plus weight export.

Purpose: choose the engine, start gloo where there is no accelerator, measure how far trainer and sampler disagree,
and write weights for the solver. Invariant: every method is called on all ranks at once, for export and training are
collective. It holds no version and no file policy: the learner does.
"""

from __future__ import annotations

import os
import resource
from pathlib import Path
from typing import Any

from training.grpo.platform import ON_CPU  # first: verl asks for its platform while it is imported

# isort: split
import torch
import torch.distributed as dist
from safetensors.torch import save_file
from tensordict import TensorDict
from verl.single_controller.base.decorator import Dispatch, register
from verl.utils.metric import AggregationType, Metric
from verl.workers.config import ActorConfig, TrainingWorkerConfig
from verl.workers.engine import EngineRegistry, FSDPEngineWithLMHead
from verl.workers.engine_workers import TrainingWorker
from verl.workers.utils.losses import ppo_loss
from verl.workers.utils.padding import no_padding_2_padding

from training.grpo.engine import PrefixTreeEngine


def register_cpu_engine(share_prefix: bool) -> None:
    """Give verl an FSDP engine for CPU: its own, or the one that computes shared prefixes once."""
    engine = PrefixTreeEngine if share_prefix else FSDPEngineWithLMHead
    EngineRegistry.register(model_type="language_model", backend=["fsdp", "fsdp2"], device="cpu")(engine)


def grpo_loss(
    config: ActorConfig, model_output: dict[str, torch.Tensor], data: TensorDict, dp_group: Any = None
) -> tuple[torch.Tensor, dict[str, Any]]:
    """verl's clipped policy loss, and the agreement of trainer and sampler before any clipping."""
    loss, metrics = ppo_loss(config, model_output, data, dp_group)
    return loss, metrics | agreement(no_padding_2_padding(model_output["log_probs"], data).detach(), data)


def agreement(log_probs: torch.Tensor, data: TensorDict) -> dict[str, Metric]:
    """Raw importance ratio (min, mean, max), mean absolute log-prob difference and k3 KL, over response tokens."""
    padded = data.select("response_mask", "old_log_probs").to_padded_tensor()
    mask = padded["response_mask"].bool()
    difference = (log_probs - padded["old_log_probs"])[mask]
    ratio = difference.exp()
    share = data["dp_size"] / data["batch_num_tokens"]
    sums = {"ratio_mean": ratio, "logprob_diff": difference.abs(), "kl": ratio - 1 - difference}
    metrics = {name: Metric(AggregationType.SUM, value.sum() * share) for name, value in sums.items()}
    if ratio.numel() == 0:  # a micro-batch of filling rows only
        ratio = torch.tensor([1.0])
    metrics["ratio_min"] = Metric(AggregationType.MIN, ratio.min())
    metrics["ratio_max"] = Metric(AggregationType.MAX, ratio.max())
    return metrics


class LearnerWorker(TrainingWorker):
    """One rank; environment variables set by verl's worker group say which."""

    def __init__(self, config: TrainingWorkerConfig, share_prefix: bool = True) -> None:
        if ON_CPU:
            register_cpu_engine(share_prefix)
            # verl would ask for the back end "cpu:gloo,cpu:gloo", which torch refuses
            rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
            dist.init_process_group("gloo", rank=rank, world_size=world)
        super().__init__(config)

    @register(dispatch_mode=Dispatch.ONE_TO_ALL, blocking=False)
    def describe(self) -> dict[str, Any]:
        """Process id and peak resident memory (bytes) of this rank."""
        return {"pid": os.getpid(), "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}

    @register(dispatch_mode=Dispatch.ONE_TO_ALL, blocking=False)
    def set_lr(self, lr: float) -> None:
        """The learning rate of the next step; verl's schedule sets its own again after that."""
        for parameters in self.engine.optimizer.param_groups:
            parameters["lr"] = lr

    @register(dispatch_mode=Dispatch.ONE_TO_ALL, blocking=False)
    def export_weights(self, path: str, dtype: str | None) -> int:
        """Write all parameters under their Hugging Face names; returns the number of tensors rank 0 wrote."""
        config = self.model_config.hf_config
        target = getattr(torch, dtype) if dtype else (config.dtype or torch.float32)
        tied = {"lm_head.weight"} if config.tie_word_embeddings else set()
        parameters, _ = self.engine.get_per_tensor_param()
        tensors: dict[str, torch.Tensor] = {}
        for name, value in parameters:  # every rank walks along: gathering a tensor is collective
            if self.rank == 0 and name not in tied:
                tensors[name] = value.detach().to("cpu", target, copy=True).contiguous()
        if self.rank == 0:
            _replace(Path(path), tensors)
        return len(tensors)


def _replace(path: Path, tensors: dict[str, torch.Tensor]) -> None:
    """Write beside the target, then rename: a reader sees the old file or the new one, never a part."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        save_file(tensors, partial, metadata={"format": "pt"})
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
