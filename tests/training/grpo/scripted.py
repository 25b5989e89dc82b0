"""A tiny model and scripted groups for the tests of the learner."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

from training.trajectory import Group, Role, Sample, Trajectory

VOCABULARY = 64


def save_tiny_model(folder: Path) -> Path:
    """Two random Llama layers with tied embeddings, in float32."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, tie_word_embeddings=True,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def response_logprobs(folder: Path, sample: Sample) -> list[float]:
    """What a plain forward pass says of each response token."""
    model = AutoModelForCausalLM.from_pretrained(folder)
    tokens = torch.tensor([[*sample.prompt_ids, *sample.token_ids]])
    with torch.no_grad():
        scores = torch.log_softmax(model(tokens).logits[0], dim=-1)
    start = len(sample.prompt_ids)
    return [scores[start + k - 1, token].item() for k, token in enumerate(sample.token_ids)]


def scripted_group(
    name: str, rewards: Sequence[float], rng: random.Random, role: Role = "solver", model: Path | None = None
) -> Group:
    """A prompt with one random response for each reward; log-probabilities are the model's, or a constant."""
    prompt = [1, 2, 3, *(rng.randrange(VOCABULARY) for _ in range(rng.randint(2, 6)))]
    trajectories = []
    for reward in rewards:
        tokens = [rng.randrange(VOCABULARY) for _ in range(rng.randint(1, 5))]
        sample = Sample("", prompt, tokens, [-4.0] * len(tokens), 0, 0, True)
        if model is not None:
            sample = Sample("", prompt, tokens, response_logprobs(model, sample), 0, 0, True)
        trajectories.append(Trajectory(sample, reward, reward == 1.0, True))
    return Group(name, role, "main", {}, tuple(trajectories))
