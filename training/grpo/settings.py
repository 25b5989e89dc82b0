"""What a learner is configured with. Light to import: neither torch, ray nor verl."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class LearnerSettings:
    """Values marked "paper" are EvoEnv's or RACES's, the others ours."""

    model_path: Path
    ranks: int = 1
    ranks_per_node: int = 0
    """Ranks in one placement group, on one node; 0: all. See `rank_groups`."""
    gpus: bool = False
    """One GPU a rank, verl's own path; otherwise CPU cores, `threads` a rank."""
    threads: int = 2
    lr: float = 1e-5
    weight_decay: float = 0.01
    max_grad_norm: float = 1.0
    clip_low: float = 0.2
    """Lower clip of the importance ratio (paper)."""
    clip_high: float = 0.28
    """Upper clip of the importance ratio (paper)."""
    generator_advantage: float = 0.3
    """Factor on advantages of generator groups (EvoEnv)."""
    temperature: float = 1.0
    """The sampler's temperature; log-probabilities are taken at it on both sides."""
    micro_batch: int = 16
    """Samples a rank forwards at once."""
    precision: str = "auto"
    """Of the forward and backward pass, "bf16" or "fp32"; parameters and optimiser state stay fp32. "auto" is bf16
    wherever the hardware multiplies it: a CPU without such instructions is three times slower in bf16 than in fp32."""
    share_prefix: bool = True
    """Compute shared prefixes once (CPU platform only)."""
    export_dtype: str | None = None
    """Of exported tensors, for example "bfloat16"; None takes the dtype named in the model's configuration."""
    keep_checkpoints: int = 2
    name: str = ""
    """Under which a successor finds, and gives back, the placement group of a learner whose process was killed."""
    seed: int = 0


def rank_groups(ranks: int, per_node: int = 0) -> list[int]:
    """Sizes of the groups that each lie on one node, for example [8, 8] for 16 ranks and 8 a node; 0: all on one.

    All are equal, since verl's worker group takes the first group's size for that of every one: with [8, 4] it asserts,
    with [4, 8] ranks would never start and the others wait for them. Raises ValueError where that cannot be.
    """
    if not per_node or ranks <= per_node:
        return [ranks]
    if ranks % per_node:
        fitting = next(size for size in range(per_node, 0, -1) if ranks % size == 0)
        raise ValueError(
            f"learner.ranks={ranks} does not divide into equal groups of learner.ranks_per_node={per_node}: "
            f"set learner.ranks_per_node={fitting}, or learner.ranks to a multiple of {per_node}"
        )
    return [per_node] * (ranks // per_node)
