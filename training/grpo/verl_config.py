"""Our settings in verl's words: one place where its configuration classes are filled in."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import training.grpo.platform  # noqa: F401  (first: verl asks for its platform while it is imported)

# isort: split
from verl.trainer.config import CheckpointConfig
from verl.workers.config import (
    ActorConfig,
    FSDPEngineConfig,
    FSDPOptimizerConfig,
    HFModelConfig,
    TrainingWorkerConfig,
)

from training.grpo.settings import LearnerSettings
from training.precision import CPU_FLAGS, multiplies_bfloat16


def passes_in(settings: LearnerSettings, cpu_flags: Path = CPU_FLAGS) -> str:
    """The precision of forward and backward pass; "auto" stands for what the hardware multiplies."""
    if settings.precision != "auto":
        return settings.precision
    return "bf16" if multiplies_bfloat16(settings.gpus, cpu_flags) else "fp32"


def worker_config(settings: LearnerSettings) -> TrainingWorkerConfig:
    """Model, engine and optimiser of a rank: FSDP2, fp32 parameters, constant learning rate."""
    flash = settings.gpus and importlib.util.find_spec("flash_attn") is not None
    model = HFModelConfig(
        path=str(settings.model_path),
        load_tokenizer=False,
        use_remove_padding=flash,
        enable_gradient_checkpointing=settings.gpus,
        override_config={"attn_implementation": "flash_attention_2" if flash else "sdpa"},
    )
    engine = FSDPEngineConfig(
        strategy="fsdp2",
        use_dynamic_bsz=False,
        micro_batch_size_per_gpu=settings.micro_batch,
        use_remove_padding=flash,
        use_torch_compile=False,
        reshard_after_forward=settings.ranks > 1,
        mixed_precision={"param_dtype": passes_in(settings), "reduce_dtype": "fp32"},
        seed=settings.seed,
    )
    optimizer = FSDPOptimizerConfig(
        lr=settings.lr,
        weight_decay=settings.weight_decay,
        clip_grad=settings.max_grad_norm,
        override_optimizer_config={"fused": True},
    )
    return TrainingWorkerConfig(
        model_type="language_model",
        model_config=model,
        engine_config=engine,
        optimizer_config=optimizer,
        checkpoint_config=CheckpointConfig(),
    )


def actor_config(settings: LearnerSettings) -> ActorConfig:
    """verl's clipped loss: token mean, no KL term, no entropy bonus."""
    return ActorConfig(
        strategy="fsdp2",
        rollout_n=1,
        ppo_mini_batch_size=1,
        ppo_micro_batch_size_per_gpu=settings.micro_batch,
        clip_ratio_low=settings.clip_low,
        clip_ratio_high=settings.clip_high,
        use_kl_loss=False,
        entropy_coeff=0.0,
        loss_agg_mode="token-mean",
    )


def rank_environment(settings: LearnerSettings) -> dict[str, str]:
    """Environment of a rank; threads that wait for work sleep, for solver and learner share the cores."""
    shared = {
        "OMP_NUM_THREADS": str(settings.threads),
        "MKL_NUM_THREADS": str(settings.threads),
        "OMP_WAIT_POLICY": "PASSIVE",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }
    return shared | {"VERL_PLATFORM": "nvidia" if settings.gpus else "cpu"}
