"""verl's FSDP engine with the micro-batch packed as a prefix tree; the engine of the CPU platform.

Purpose: everything of verl's engine stays (sharding, accumulation, clipping, optimiser, checkpoints); only how a
micro-batch enters the model and how log-probabilities leave it is replaced. Logits are made for response tokens
alone. It gives log-probabilities and no entropy, and knows no sequence parallelism.
"""

from __future__ import annotations

from typing import Any

import training.grpo.platform  # noqa: F401  (first: verl asks for its platform while it is imported)

# isort: split
import torch
from tensordict import TensorDict
from verl.utils import tensordict_utils as tu
from verl.workers.engine import FSDPEngineWithLMHead

from training.grpo.prefix_tree import PackedTree, pack, unpack_logprobs


class PrefixTreeEngine(FSDPEngineWithLMHead):
    """FSDP engine that computes each distinct prefix of a micro-batch once (ours)."""

    def prepare_model_inputs(self, micro_batch: TensorDict) -> tuple[dict[str, Any], dict[str, Any]]:
        """One row of (1, nodes) tokens with its tree mask; `logits_to_keep` names the nodes that predict."""
        sequences = [row.tolist() for row in micro_batch["input_ids"].unbind()]
        tree = pack(sequences, micro_batch["prompts"].offsets().diff().tolist())
        device = micro_batch["input_ids"].device
        inputs = {
            "input_ids": tree.tokens[None].to(device),
            "position_ids": tree.positions[None].to(device),
            "attention_mask": tree.mask[None, None].to(device),
            "logits_to_keep": tree.scored.to(device),
        }
        return inputs, {"tree": tree}

    def prepare_model_outputs(
        self, output: Any, output_args: dict[str, Any], micro_batch: TensorDict, logits_processor_func: Any
    ) -> dict[str, torch.Tensor]:
        """Log-probabilities in verl's layout: jagged over whole sequences, shifted left by one."""
        tree: PackedTree = output_args["tree"]
        flat = unpack_logprobs(output.logits[0], tree, float(tu.get(micro_batch, "temperature")))
        return {"log_probs": torch.nested.nested_tensor_from_jagged(flat, micro_batch["input_ids"].offsets())}
