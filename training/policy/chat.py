"""How a question becomes a conversation: a system text, worked examples, then the question.

The model's own chat template turns messages into tokens; this module only lays them out. The part before the
question is the same for every request of a policy, so the engine's prefix cache computes it once.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Message = dict[str, str]
"""{"role": "system" | "user" | "assistant", "content": text}"""


@dataclass(frozen=True, slots=True)
class Chat:
    """What every question of a policy is preceded by."""

    system: str = ""
    """empty: no system message, so that the model's template may put its own"""
    examples: tuple[tuple[str, str], ...] = ()
    """worked examples as (user text, assistant text)"""

    def messages(self, prompt: str) -> list[Message]:
        """The conversation that ends in the question and waits for the answer."""
        head = [_message("system", self.system)] if self.system else []
        shown = [_message(role, text) for pair in self.examples
                 for role, text in zip(("user", "assistant"), pair, strict=True)]
        return [*head, *shown, _message("user", prompt)]


def messages(prompt: str, examples: Sequence[tuple[str, str]] = (), system: str = "") -> list[Message]:
    """`Chat(system, examples).messages(prompt)`, for a single question."""
    return Chat(system, tuple((user, assistant) for user, assistant in examples)).messages(prompt)


def encode(tokenizer: Any, conversation: Sequence[Message]) -> list[int]:
    """Token ids of a conversation by the tokenizer's chat template, up to where the assistant speaks."""
    encoded = tokenizer.apply_chat_template(
        list(conversation), tokenize=True, add_generation_prompt=True, return_dict=True)
    return list(encoded["input_ids"])


def _message(role: str, content: str) -> Message:
    return {"role": role, "content": content}
