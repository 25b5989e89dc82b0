"""The real engine with the real 135M model; one start serves every test until the last, which kills it."""
from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from training.policy.engine import Phase, VllmEngine
from training.policy.errors import GenerationRefused, PolicyEngineLost, WeightUpdateFailed
from training.policy.settings import EngineSettings, GenerationRequest
from training.policy.source import WEIGHTS, resolve_model

pytestmark = pytest.mark.asyncio(loop_scope="module")

MODEL = "smollm2-135m"
SUM = GenerationRequest(messages=({"role": "user", "content": "What is 12 + 7?"},), max_tokens=16, temperature=0.0)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine() -> AsyncIterator[VllmEngine]:
    served = VllmEngine(EngineSettings(MODEL, dtype="float32", max_model_len=512, kv_cache_gib=0.5))
    await served.start()
    yield served
    await served.close()


@pytest.fixture(scope="module")
def scaled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Weights that answer differently: every matrix is half as large again."""
    from safetensors.torch import load_file, save_file

    path = tmp_path_factory.mktemp("weights") / "scaled.safetensors"
    tensors = load_file(resolve_model(MODEL) / WEIGHTS)
    save_file({name: t if "norm" in name else t * 1.5 for name, t in tensors.items()}, path)
    return path


async def test_every_request_gets_its_samples_with_log_probabilities_and_versions(engine: VllmEngine) -> None:
    short = GenerationRequest(messages=SUM.messages, n=4, max_tokens=8, seed=1)
    groups = await engine.generate([short, SUM])
    assert [len(group) for group in groups] == [4, 1]
    for sample in groups[0]:
        assert 1 <= len(sample.token_ids) <= 8 and len(sample.logprobs) == len(sample.token_ids)
        assert all(value <= 0 for value in sample.logprobs)
        assert (sample.version_low, sample.version_high) == (0, 0)
    assert len({sample.text for sample in groups[0]}) > 1
    assert engine.metrics()["samples"] == 5 and engine.metrics()["running"] == 0


async def test_a_finished_sample_keeps_its_end_of_turn_token(engine: VllmEngine) -> None:
    [[sample]] = await engine.generate([GenerationRequest(
        messages=({"role": "user", "content": "Say hi."},), max_tokens=200, temperature=0.0)])
    assert sample.finished and sample.token_ids[-1] == 2 and "<|im_end|>" not in sample.text


async def test_log_probabilities_are_those_of_a_forward_pass(engine: VllmEngine) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    temperature = 0.7
    [samples] = await engine.generate([GenerationRequest(
        messages=SUM.messages, n=3, max_tokens=12, temperature=temperature, seed=3)])
    model = AutoModelForCausalLM.from_pretrained(resolve_model(MODEL), dtype=torch.float32)
    for sample in samples:
        tokens = torch.tensor([sample.prompt_ids + sample.token_ids])
        with torch.no_grad():
            logits = model(tokens).logits[0, len(sample.prompt_ids) - 1:-1] / temperature
        expected = logits.log_softmax(-1).gather(1, torch.tensor(sample.token_ids)[:, None])[:, 0]
        assert torch.allclose(torch.tensor(sample.logprobs), expected, atol=1e-2)


async def test_more_seeded_prompts_than_one_step_takes_are_served(engine: VllmEngine) -> None:
    requests = [GenerationRequest(prompt_ids=tuple(range(100 + 100 * i, 200 + 100 * i)), max_tokens=2, seed=i)
                for i in range(24)]
    assert len(await engine.generate(requests)) == 24


async def test_a_prompt_without_room_is_refused_and_the_engine_lives(engine: VllmEngine) -> None:
    with pytest.raises(GenerationRefused):
        await engine.generate([GenerationRequest(prompt_ids=(5,) * 512)])
    await engine.check_health()


async def test_an_unreadable_file_leaves_the_old_weights_live(engine: VllmEngine, tmp_path: Path) -> None:
    torn = tmp_path / "torn.safetensors"
    torn.write_bytes(b"torn")
    for path in (torn, tmp_path / "missing.safetensors"):
        with pytest.raises(WeightUpdateFailed):
            await engine.update_weights(path, 9)
    assert engine.version == 0 and engine.phase is Phase.LIVE
    await engine.generate([SUM])


async def test_weights_change_under_running_requests_and_change_back(engine: VllmEngine, scaled: Path) -> None:
    [[before]] = await engine.generate([SUM])
    running = asyncio.create_task(engine.generate([GenerationRequest(
        messages=SUM.messages, n=2, max_tokens=200, seed=5)]))
    while not engine.metrics()["running"]:
        await asyncio.sleep(0.01)
    assert await engine.update_weights(scaled, 1) > 0
    assert await engine.update_weights(scaled, 1) == 0.0
    [[changed]] = await engine.generate([SUM])
    [crossed] = await running
    await engine.update_weights(resolve_model(MODEL) / WEIGHTS, 2)
    [[after]] = await engine.generate([SUM])

    assert all((sample.version_low, sample.version_high) == (0, 1) for sample in crossed)
    assert (changed.version_low, changed.version_high) == (1, 1) and changed.token_ids != before.token_ids
    assert (after.version_low, after.version_high) == (2, 2) and after.token_ids == before.token_ids
    assert after.logprobs == pytest.approx(before.logprobs, abs=1e-3)


async def test_one_bad_request_does_not_leave_its_neighbours_running(engine: VllmEngine) -> None:
    with pytest.raises(GenerationRefused):
        await engine.generate([GenerationRequest(messages=SUM.messages, max_tokens=400),
                               GenerationRequest(prompt_ids=(5,) * 512)])
    while engine.metrics()["running"]:
        await asyncio.sleep(0.01)


async def test_a_killed_engine_core_is_noticed_and_nothing_is_left_behind(engine: VllmEngine) -> None:
    running = asyncio.create_task(engine.generate([GenerationRequest(messages=SUM.messages, max_tokens=400)]))
    while not engine.metrics()["running"]:
        await asyncio.sleep(0.01)
    processes = [psutil.Process(pid) for pid in engine.processes()]
    os.kill(engine.processes()[0], signal.SIGKILL)
    with pytest.raises(PolicyEngineLost):
        await running
    for call in (engine.check_health(), engine.generate([SUM]), engine.update_weights("x", 3)):
        with pytest.raises(PolicyEngineLost):
            await call
    assert engine.phase is Phase.LOST
    await engine.close()
    await engine.close()
    assert not any(process.is_running() for process in processes)


async def test_half_loaded_weights_end_the_engine_rather_than_answer(scaled: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    tensors = load_file(scaled)
    tensors["model.layers.3.mlp.up_proj.weight"] = tensors["model.layers.3.mlp.up_proj.weight"][:7].clone()
    save_file(tensors, tmp_path / "misshapen.safetensors")
    engine = VllmEngine(EngineSettings(MODEL, dtype="float32", max_model_len=512, kv_cache_gib=0.5))
    await engine.start(version=4)
    try:
        running = asyncio.create_task(engine.generate([GenerationRequest(messages=SUM.messages, max_tokens=400)]))
        await asyncio.sleep(0)
        with pytest.raises(PolicyEngineLost, match="half loaded"):
            await engine.update_weights(tmp_path / "misshapen.safetensors", 5)
        with pytest.raises(PolicyEngineLost):
            await running
        assert engine.version == 4
    finally:
        await engine.close()
