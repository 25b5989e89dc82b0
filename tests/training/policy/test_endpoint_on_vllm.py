"""The endpoint engine against a real server: vLLM's own, with the real 135M model; one start for all tests."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from training.policy.chat import messages
from training.policy.endpoint import EndpointEngine, EndpointSettings
from training.policy.errors import EndpointUnavailable, GenerationRefused
from training.policy.settings import EngineSettings, GenerationRequest
from training.policy.source import resolve_model
from training.policy.vllm_start import environment

MODEL = "smollm2-135m"
KEY = "sk-test"
START_SECONDS = 300
TOKENS = 512


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("vllm") / "server.log"
    with log.open("w") as output:
        server = subprocess.Popen(_command(port), env=_environment(), stdout=output, stderr=output)
    try:
        _await_health(f"http://127.0.0.1:{port}/health", server, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait(30)


@pytest_asyncio.fixture
async def engine(url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[EndpointEngine]:
    monkeypatch.setenv("SOME_KEY", KEY)
    asked = EndpointEngine(EndpointSettings(url, "tiny", "SOME_KEY", concurrency=4, retries=1))
    await asked.start()
    yield asked
    await asked.close()


async def test_a_served_model_gives_the_samples_that_were_asked_for(engine: EndpointEngine) -> None:
    prompts = [f"What is {number} + 7?" for number in range(6)]
    requests = [
        GenerationRequest(messages=tuple(messages(prompt)), n=3, max_tokens=8, seed=1) for prompt in prompts
    ]
    groups = await engine.generate(requests)
    assert [len(group) for group in groups] == [3] * 6
    assert all(sample.text for group in groups for sample in group)
    counted = engine.metrics()
    assert (counted["requests"], counted["samples"]) == (6, 18)
    assert counted["prompt_tokens"] > 0 and 18 <= counted["generated_tokens"] <= 18 * 8


async def test_a_prompt_without_room_is_refused_and_the_next_one_is_served(engine: EndpointEngine) -> None:
    long = tuple(messages("word " * 2 * TOKENS))
    with pytest.raises(GenerationRefused):
        await engine.generate([GenerationRequest(messages=long, n=2)])
    [[_, _]] = await engine.generate([GenerationRequest(messages=tuple(messages("Say hi.")), n=2)])


async def test_a_wrong_key_is_told_without_the_key(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-wrong")
    asked = EndpointEngine(EndpointSettings(url, "tiny", "SOME_KEY", retries=0))
    await asked.start()
    with pytest.raises(EndpointUnavailable, match="SOME_KEY") as unavailable:
        await asked.generate([GenerationRequest(messages=tuple(messages("Say hi.")))])
    assert "sk-wrong" not in str(unavailable.value)
    await asked.close()


def _command(port: int) -> list[str]:
    options = {
        "model": str(resolve_model(MODEL)), "served-model-name": "tiny", "host": "127.0.0.1", "port": str(port),
        "api-key": KEY, "dtype": "float32", "max-model-len": str(TOKENS), "kv-cache-memory-bytes": str(1 << 29),
        "max-num-batched-tokens": "2048",
    }  # fmt: skip
    flags = ["--enforce-eager", "--no-enable-chunked-prefill"]
    named = [part for name, value in options.items() for part in (f"--{name}", value)]
    return [sys.executable, "-m", "vllm.entrypoints.openai.api_server", *named, *flags]


def _environment() -> dict[str, str]:
    return {**os.environ, **environment(EngineSettings(MODEL), on_cpu=True)}


def _await_health(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.5)
    pytest.fail(f"the server did not start:\n{log.read_text()[-3000:]}")
