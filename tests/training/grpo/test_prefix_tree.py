"""A micro-batch packed as a tree says the same as its sequences one by one."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import LlamaConfig, LlamaForCausalLM

from training.grpo.prefix_tree import pack, unpack_logprobs

tokens = st.lists(st.integers(0, 3), min_size=1, max_size=4)  # few tokens, so that prefixes meet often
batches = st.lists(st.tuples(tokens, tokens), min_size=1, max_size=6)


def model() -> LlamaForCausalLM:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=8, hidden_size=16, intermediate_size=16, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, attn_implementation="sdpa", initializer_range=0.5,
    )  # fmt: skip
    return LlamaForCausalLM(config)


def one_by_one(
    policy: LlamaForCausalLM, batch: list[tuple[list[int], list[int]]], temperature: float
) -> torch.Tensor:
    flat: list[torch.Tensor] = []
    for prompt, response in batch:
        sequence = torch.tensor(prompt + response)
        scores = torch.log_softmax(policy(sequence[None]).logits[0] / temperature, dim=-1)
        chosen = scores[:-1].gather(1, sequence[1:, None])[:, 0]
        flat += [torch.zeros(len(prompt) - 1), chosen[len(prompt) - 1 :], torch.zeros(1)]
    return torch.cat(flat)


def as_tree(
    policy: LlamaForCausalLM, batch: list[tuple[list[int], list[int]]], temperature: float
) -> torch.Tensor:
    tree = pack([prompt + response for prompt, response in batch], [len(prompt) for prompt, _ in batch])
    output = policy(
        input_ids=tree.tokens[None],
        position_ids=tree.positions[None],
        attention_mask=tree.mask[None, None],
        logits_to_keep=tree.scored,
    )
    return unpack_logprobs(output.logits[0], tree, temperature)


@settings(max_examples=25, deadline=None)
@given(batches, st.sampled_from([1.0, 0.6]))
def test_log_probabilities_and_gradients_are_those_of_the_single_sequences(
    batch: list[tuple[list[int], list[int]]], temperature: float
) -> None:
    gradients = []
    for forward in (one_by_one, as_tree):
        policy = model()
        result = forward(policy, batch, temperature)
        (result * torch.arange(1, len(result) + 1)).sum().backward()
        gradients.append((result.detach(), policy.model.embed_tokens.weight.grad))
    (plain, plain_gradient), (packed, packed_gradient) = gradients
    torch.testing.assert_close(packed, plain, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(packed_gradient, plain_gradient, atol=1e-3, rtol=1e-3)


def test_a_shared_prompt_is_laid_out_once() -> None:
    tree = pack([[1, 2, 3, 4], [1, 2, 3, 5], [1, 2, 3, 4]], [3, 3, 3])
    assert tree.tokens.tolist() == [1, 2, 3, 4, 5]
    assert tree.positions.tolist() == [0, 1, 2, 3, 3]
    assert tree.scored.tolist() == [2]
