"""A micro-batch as a tree of tokens, so that a shared prefix is computed once.

Purpose: the samples of a group share their prompt, all prompts of a run share the worked examples, and responses
often begin alike; on a CPU the forward pass over those repeated tokens is most of a learner step. `pack` merges the
sequences into a trie, laid out as one row: position = depth, and a token attends to its ancestors and itself.
Invariant: the log-probability of every response token equals that of the unpacked sequence (same ancestors, same
positions), and gradients add up over the sequences that share a token. It assumes full causal attention (no sliding
window) and dense masks of (nodes x nodes), so it is meant for micro-batches of some thousand tokens. Ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True)
class PackedTree:
    """One packed row. `scored` are the nodes whose next token is predicted; `source`, `label`, `slot` have one entry
    for each response token of the batch: its row in `scored`, its id, and its flat index in the unpacked batch."""

    tokens: torch.Tensor
    positions: torch.Tensor
    mask: torch.Tensor
    scored: torch.Tensor
    source: torch.Tensor
    label: torch.Tensor
    slot: torch.Tensor
    unpacked_tokens: int


def pack(sequences: Sequence[Sequence[int]], prompt_lengths: Sequence[int]) -> PackedTree:
    """Merge token sequences (prompt followed by response) into one row; prompts are at least one token long."""
    children: dict[tuple[int, int], int] = {}
    tokens: list[int] = []
    parents: list[int] = []
    predictors: list[int] = []
    labels: list[int] = []
    slots: list[int] = []
    offset = 0
    for sequence, prompt_length in zip(sequences, prompt_lengths, strict=True):
        node = -1
        for index, token in enumerate(sequence):
            if index >= prompt_length:
                predictors.append(node)
                labels.append(token)
                slots.append(offset + index - 1)
            parent, node = node, children.setdefault((node, token), len(tokens))
            if node == len(tokens):
                tokens.append(token)
                parents.append(parent)
        offset += len(sequence)
    positions, mask = _ancestry(parents)
    scored, source = torch.unique(torch.tensor(predictors, dtype=torch.long), return_inverse=True)
    return PackedTree(
        torch.tensor(tokens),
        positions,
        mask,
        scored,
        source,
        torch.tensor(labels, dtype=torch.long),
        torch.tensor(slots, dtype=torch.long),
        offset,
    )


def _ancestry(parents: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Depth of each node (nodes,) and who may look at whom (nodes, nodes); a parent always precedes its children."""
    positions = torch.zeros(len(parents), dtype=torch.long)
    mask = torch.zeros(len(parents), len(parents), dtype=torch.bool)
    for node, parent in enumerate(parents):
        if parent >= 0:
            positions[node] = positions[parent] + 1
            mask[node] = mask[parent]
        mask[node, node] = True
    return positions, mask


def unpack_logprobs(logits: torch.Tensor, tree: PackedTree, temperature: float) -> torch.Tensor:
    """Log-probabilities, shape (unpacked_tokens,), from logits of shape (len(tree.scored), vocabulary).

    Entry t is that of token t + 1, verl's left-shifted layout; entries that predict no response token are 0.
    """
    logits = logits.float() / temperature
    chosen = logits[tree.source, tree.label] - torch.logsumexp(logits, dim=-1)[tree.source]
    flat = torch.zeros(tree.unpacked_tokens, dtype=chosen.dtype, device=chosen.device)
    return flat.index_put((tree.slot.to(flat.device),), chosen)
