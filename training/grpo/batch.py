"""From groups to one verl batch: advantages, order, padding.

Invariant: every response token of every sample appears once with mask 1; rows that only fill the last micro-batch
have mask 0 and weigh nothing. Rows are ordered so that a group stays inside a micro-batch (its prompt is then
computed once) and so that all ranks see micro-batches of like length at the same time. No forward pass is made here:
`old_log_probs` are the sampler's, so the importance ratio covers staleness and engine mismatch at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import training.grpo.platform  # noqa: F401  (first: verl asks for its platform while it is imported)

# isort: split
import numpy as np
import torch
from tensordict import TensorDict
from verl.trainer.ppo.core_algos import compute_grpo_outcome_advantage
from verl.utils import tensordict_utils as tu

from training.trajectory import Group, Sample


class EmptyBatch(ValueError):
    """There is nothing to learn from: no group, or no response token."""


@dataclass(frozen=True, slots=True)
class Row:
    """A sample with its advantage; `weight` is 1.0, or 0.0 for a row that only fills a micro-batch."""

    sample: Sample
    advantage: float
    weight: float = 1.0


def advantages(groups: Sequence[Group], generator_scale: float) -> list[list[float]]:
    """GRPO advantages by verl, one for each trajectory; those of generator groups are scaled (EvoEnv: 0.3)."""
    returns = torch.tensor([[t.value] for group in groups for t in group.trajectories])
    index = np.array([k for k, group in enumerate(groups) for _ in group.trajectories])
    scores, _ = compute_grpo_outcome_advantage(returns, torch.ones_like(returns), index)
    flat = iter(scores[:, 0].tolist())
    scales = (generator_scale if group.role == "generator" else 1.0 for group in groups)
    return [
        [next(flat) * scale for _ in group.trajectories] for group, scale in zip(groups, scales, strict=True)
    ]


def arrange(groups: Sequence[Sequence[Row]], ranks: int, micro_batch: int) -> tuple[list[Row], int]:
    """Rows in the order verl splits them (first by rank, then by micro-batch), and the micro-batch size."""
    ordered = sorted(groups, key=_length, reverse=True)
    rows = [row for group in ordered for row in group if row.sample.token_ids]
    if not rows:
        raise EmptyBatch("no response token in the batch")
    steps = math.ceil(len(rows) / (ranks * micro_batch))
    size = math.ceil(len(rows) / (ranks * steps))
    rows += [Row(rows[-1].sample, 0.0, 0.0)] * (steps * ranks * size - len(rows))
    batches = [rows[start : start + size] for start in range(0, len(rows), size)]
    return [row for rank in range(ranks) for batch in batches[rank::ranks] for row in batch], size


def _length(group: Sequence[Row]) -> int:
    return max(len(row.sample.prompt_ids) + len(row.sample.token_ids) for row in group)


def build_batch(
    groups: Sequence[Group], *, ranks: int, micro_batch: int, temperature: float, generator_scale: float
) -> TensorDict:
    """One batch for `TrainingWorker.train_mini_batch`, a single optimiser step. Raises EmptyBatch."""
    if not groups:
        raise EmptyBatch("no groups")
    scored = zip(groups, advantages(groups, generator_scale), strict=True)
    rows, size = arrange(
        [
            [Row(t.sample, a) for t, a in zip(group.trajectories, values, strict=True)]
            for group, values in scored
        ],
        ranks,
        micro_batch,
    )
    return batch_of(rows, size, temperature)


def batch_of(rows: Sequence[Row], size: int, temperature: float) -> TensorDict:
    """Arranged rows and their micro-batch size as verl takes them, all in one optimiser step."""
    batch = _tensors(rows)
    tu.assign_non_tensor(
        batch,
        temperature=temperature,
        calculate_entropy=False,
        compute_loss=True,
        global_batch_size=len(rows),
        mini_batch_size=len(rows),
        micro_batch_size_per_gpu=size,
        use_dynamic_bsz=False,
        epochs=1,
        seed=0,
        dataloader_kwargs={"shuffle": False},
    )
    return batch


def _tensors(rows: Sequence[Row]) -> TensorDict:
    prompts = [torch.tensor(row.sample.prompt_ids) for row in rows]
    responses = [torch.tensor(row.sample.token_ids) for row in rows]
    tokens = [torch.cat(pair) for pair in zip(prompts, responses, strict=True)]
    mask = jagged([torch.full((len(row.sample.token_ids),), row.weight) for row in rows])
    return TensorDict(
        {
            "input_ids": jagged(tokens),
            "position_ids": jagged([torch.arange(len(row)) for row in tokens]),
            "prompts": jagged(prompts),
            "responses": jagged(responses),
            "response_mask": mask,
            "loss_mask": mask.clone(),
            "old_log_probs": jagged([torch.tensor(row.sample.logprobs) for row in rows]),
            "advantages": jagged([torch.full((len(row.sample.token_ids),), row.advantage) for row in rows]),
        },
        batch_size=[len(rows)],
    )


def jagged(rows: list[torch.Tensor]) -> torch.Tensor:
    """Tensors of different lengths as one, the way verl takes a batch without padding."""
    return torch.nested.as_nested_tensor(rows, layout=torch.jagged)
