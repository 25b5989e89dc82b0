"""The endpoint engine against a scripted server: dialects, failures, retries, limits, and the key."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.training.policy.scripted_endpoint import (
    Reply,
    Script,
    ScriptedEndpoint,
    choices,
    refusal,
    served,
    slowly,
)
from training.policy.chat import Chat
from training.policy.endpoint import EndpointEngine, EndpointSettings
from training.policy.errors import EndpointUnavailable, GenerationRefused
from training.policy.settings import GenerationRequest

KEY = "sk-very-secret"


def asked(prompt: str = "What is 1 + 1?", n: int = 1, **settings: Any) -> GenerationRequest:
    return GenerationRequest(messages=tuple(Chat().messages(prompt)), n=n, max_tokens=8, **settings)


@asynccontextmanager
async def engine_of(
    script: Script, **settings: Any
) -> AsyncIterator[tuple[EndpointEngine, ScriptedEndpoint]]:
    with served(script) as endpoint:
        engine = EndpointEngine(EndpointSettings(endpoint.url, "m", **settings))
        await engine.start()
        try:
            yield engine, endpoint
        finally:
            await engine.close()


def after(failures: int, failure: Reply, reply: Reply) -> Script:
    """So many failures, then the reply."""
    return lambda request, before: failure if before < failures else reply


def several(request: dict[str, Any], before: int) -> Reply:
    return choices(*(f"answer {index}" for index in range(request.get("n", 1))))


async def test_every_request_gets_its_samples_without_tokens_and_the_tokens_are_counted() -> None:
    async with engine_of(several) as (engine, _):
        groups = await engine.generate([asked(n=3), asked()])
    assert [[sample.text for sample in group] for group in groups] == [
        ["answer 0", "answer 1", "answer 2"],
        ["answer 0"],
    ]
    sample = groups[0][0]
    assert sample.finished and (sample.prompt_ids, sample.token_ids, sample.logprobs) == ([], [], [])
    assert (sample.version_low, sample.version_high) == (0, 0)
    counted = engine.metrics()
    assert (counted["requests"], counted["samples"]) == (2, 4)
    assert (counted["prompt_tokens"], counted["generated_tokens"]) == (14, 12)
    assert counted["running"] == 0


async def test_a_request_carries_the_conversation_and_its_limits() -> None:
    chat = Chat(system="Be brief.", examples=(("2+2", "4"),))
    request = GenerationRequest(messages=tuple(chat.messages("3+3")), max_tokens=5, temperature=0.5, seed=9)
    async with engine_of(several) as (engine, endpoint):
        await engine.generate([request])
    (sent,) = endpoint.requests
    assert [message["role"] for message in sent["messages"]] == ["system", "user", "assistant", "user"]
    assert (sent["model"], sent["max_tokens"], sent["temperature"], sent["seed"]) == ("m", 5, 0.5, 9)


async def test_an_answer_that_was_cut_off_is_not_finished() -> None:
    async with engine_of(lambda request, before: choices("and then", reason="length")) as (engine, _):
        [[sample]] = await engine.generate([asked()])
    assert not sample.finished


async def test_a_server_that_gives_one_choice_whatever_is_asked_is_asked_again_for_the_rest() -> None:
    async with engine_of(lambda request, before: choices(f"answer {before}")) as (engine, endpoint):
        [group] = await engine.generate([asked(n=4)])
        assert len({sample.text for sample in group}) == 4
        await engine.generate([asked(n=2)])
    assert [request.get("n", 1) for request in endpoint.requests] == [4, 1, 1, 1, 1, 1]


async def test_a_server_that_refuses_several_samples_is_asked_for_single_ones_from_then_on() -> None:
    def script(request: dict[str, Any], before: int) -> Reply:
        return refusal(400, "n must be 1", "n") if "n" in request else choices(f"answer {before}")

    async with engine_of(script) as (engine, endpoint):
        [group] = await engine.generate([asked(n=3)])
        await engine.generate([asked(n=2)])
    assert len(group) == 3
    assert [request.get("n", 1) for request in endpoint.requests] == [3, 1, 1, 1, 1, 1]
    assert engine.metrics()["refused"] == 0


async def test_a_server_that_calls_the_limit_otherwise_is_understood() -> None:
    def script(request: dict[str, Any], before: int) -> Reply:
        if "max_tokens" in request:
            return refusal(400, "Unsupported parameter: 'max_tokens'; use 'max_completion_tokens'")
        return several(request, before)

    async with engine_of(script) as (engine, endpoint):
        [group] = await engine.generate([asked(n=2)])
        await engine.generate([asked()])
    assert len(group) == 2
    assert endpoint.requests[-1]["max_completion_tokens"] == 8


async def test_a_refused_prompt_is_told_apart_and_changes_no_dialect() -> None:
    def script(request: dict[str, Any], before: int) -> Reply:
        if "long" in request["messages"][-1]["content"]:
            return refusal(400, "max_tokens and the prompt exceed this model's context")
        return several(request, before)

    async with engine_of(script) as (engine, endpoint):
        with pytest.raises(GenerationRefused, match="context"):
            await engine.generate([asked("long", n=2)])
        [group] = await engine.generate([asked(n=2)])
    assert len(group) == 2
    assert endpoint.requests[-1]["n"] == 2 and "max_tokens" in endpoint.requests[-1]
    assert engine.metrics()["refused"] == 1


async def test_token_ids_are_refused_before_anything_is_sent() -> None:
    async with engine_of(several) as (engine, endpoint):
        with pytest.raises(GenerationRefused):
            await engine.generate([GenerationRequest(prompt_ids=(1, 2))])
    assert endpoint.requests == []


@pytest.mark.parametrize("status", [429, 503])
async def test_a_server_that_is_busy_for_a_moment_is_asked_again(status: int) -> None:
    script = after(2, refusal(status, "busy"), choices("at last"))
    async with engine_of(script, retries=3) as (engine, endpoint):
        [[sample]] = await engine.generate([asked()])
    assert sample.text == "at last" and len(endpoint.requests) == 3
    assert engine.metrics()["failures"] == 0


async def test_a_server_that_stays_busy_is_unavailable_and_counted() -> None:
    async with engine_of(lambda request, before: refusal(429, "quota"), retries=1) as (engine, endpoint):
        with pytest.raises(EndpointUnavailable, match="quota"):
            await engine.generate([asked()])
    assert len(endpoint.requests) == 2 and engine.metrics()["failures"] == 1


async def test_a_server_that_takes_too_long_is_asked_again_and_then_unavailable() -> None:
    def script(request: dict[str, Any], before: int) -> Reply:
        return slowly(choices("late"), 1.0) if before < 1 else choices("in time")

    async with engine_of(script, timeout_seconds=0.2, retries=2) as (engine, endpoint):
        [[sample]] = await engine.generate([asked()])
    assert sample.text == "in time" and len(endpoint.requests) == 2
    async with engine_of(script, timeout_seconds=0.2, retries=0) as (engine, _):
        with pytest.raises(EndpointUnavailable):
            await engine.generate([asked()])


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    with served(several) as endpoint:
        gone = endpoint.url
    engine = EndpointEngine(EndpointSettings(gone, "m", retries=0))
    await engine.start()
    with pytest.raises(EndpointUnavailable):
        await engine.generate([asked()])
    await engine.close()


@pytest.mark.parametrize("body", ["{not json", "<html>a login page</html>", {}, {"choices": []}])
async def test_what_is_no_chat_endpoint_is_unavailable(body: Any) -> None:
    async with engine_of(lambda request, before: (200, body), retries=0) as (engine, _):
        with pytest.raises(EndpointUnavailable):
            await engine.generate([asked()])


async def test_no_more_requests_are_under_way_than_allowed() -> None:
    def script(request: dict[str, Any], before: int) -> Reply:
        return slowly(several(request, before))

    async with engine_of(script, concurrency=3) as (engine, endpoint):
        groups = await engine.generate([asked() for _ in range(12)])
    assert len(groups) == 12 and endpoint.most_at_once == 3


async def test_one_refused_request_does_not_leave_its_neighbours_running() -> None:
    def script(request: dict[str, Any], before: int) -> Reply:
        bad = "bad" in request["messages"][-1]["content"]
        return refusal(400, "no") if bad else slowly(several(request, before), 0.5)

    async with engine_of(script) as (engine, _):
        with pytest.raises(GenerationRefused):
            await engine.generate([asked(), asked("bad")])
        await engine.generate([])
        running: Callable[[], float] = lambda: engine.metrics()["running"]  # noqa: E731
        assert running() <= 1  # cancelled; it leaves when the loop next runs
        [[_]] = await engine.generate([asked()])
        assert running() == 0


async def test_the_key_is_sent_and_never_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SOME_KEY", KEY)
    script = after(1, choices("yes"), refusal(401, f"Incorrect API key provided: {KEY}"))
    with caplog.at_level(logging.DEBUG):
        async with engine_of(script, key_env="SOME_KEY") as (engine, endpoint):
            await engine.generate([asked()])
            with pytest.raises(EndpointUnavailable, match="SOME_KEY") as unavailable:
                await engine.generate([asked()])
    assert endpoint.keys == [f"Bearer {KEY}"] * 2
    assert KEY not in str(unavailable.value) and KEY not in repr(engine.settings)
    ours = [record for record in caplog.records if record.name.split(".")[0] in ("training", "httpx2")]
    assert not [record for record in ours if KEY in record.getMessage()]


async def test_a_key_that_is_named_but_not_set_is_told_before_anything_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SOME_KEY", raising=False)
    with pytest.raises(EndpointUnavailable, match="SOME_KEY is not set"):
        await EndpointEngine(EndpointSettings("http://127.0.0.1:9/v1", "m", "SOME_KEY")).start()


async def test_the_key_of_another_service_is_not_sent_where_no_key_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    async with engine_of(several) as (engine, endpoint):
        await engine.generate([asked()])
    assert KEY not in endpoint.keys[0]
