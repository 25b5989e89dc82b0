"""Requests that make no sense are refused where they are made."""
from __future__ import annotations

import pytest

from training.policy.settings import EngineSettings, GenerationRequest


def test_a_request_has_exactly_one_form_of_prompt() -> None:
    with pytest.raises(ValueError, match="either"):
        GenerationRequest()
    with pytest.raises(ValueError, match="either"):
        GenerationRequest(messages=({"role": "user", "content": "x"},), prompt_ids=(1,))


@pytest.mark.parametrize("bad", [{"n": 0}, {"max_tokens": 0}, {"temperature": -1.0}])
def test_a_request_asks_for_something(bad: dict) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        GenerationRequest(prompt_ids=(1,), **bad)


def test_an_engine_uses_every_core_it_may_unless_told_otherwise() -> None:
    assert EngineSettings("m").thread_count >= 1
    assert EngineSettings("m", threads=3).thread_count == 3
