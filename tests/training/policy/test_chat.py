"""The layout of a conversation."""
from __future__ import annotations

from training.policy.chat import Chat, messages


def test_examples_stand_between_system_and_question() -> None:
    chat = Chat("be brief", (("1+1", "2"), ("2+2", "4")))
    assert [(m["role"], m["content"]) for m in chat.messages("3+3")] == [
        ("system", "be brief"), ("user", "1+1"), ("assistant", "2"), ("user", "2+2"), ("assistant", "4"),
        ("user", "3+3")]


def test_without_system_and_examples_only_the_question_is_sent() -> None:
    assert messages("3+3") == [{"role": "user", "content": "3+3"}]


def test_all_questions_of_a_policy_share_what_precedes_them() -> None:
    chat = Chat("be brief", (("1+1", "2"),))
    assert chat.messages("a")[:-1] == chat.messages("b")[:-1]
