"""A run without a learner: a scripted trainer takes its pool's questions over HTTP, and its policy makes the pool grow.

Supervisor, pool, curator, gates, sandboxes, composer, grammar, server and endpoint actor are a run's own; scripted are
the trainer, its clients and its policy behind an OpenAI-compatible endpoint, and embeddings are hashes.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from math import gcd
from pathlib import Path
from typing import Any

import httpx
import pytest
import verifiers.v1 as vf

from actors import roster
from cluster.config import Config
from cluster.inspect.live import line
from envpool import Pool
from envpool.contract import Recipe
from envpool.curation.standings import admission_answers
from envpool.exchange.verifiers_taskset import PoolTask, PoolTaskConfig, PoolTaskset, PoolTasksetConfig
from envpool.generation.prompts import REQUEST
from envpool.members import Origin
from envpool.store import PoolReader
from tests.actors.conftest import ROOT
from tests.actors.scripted_trainer import ScriptedTrainer, told, under_way
from tests.corpus import REPLIES
from tests.envpool.exchange.exchanged import perfect
from tests.simulated.runs import SimulatedRun, merged
from tests.training.policy.scripted_endpoint import Reply, ScriptedEndpoint, choices, served

LONG = 300.0
SETTINGS: dict[str, Any] = {
    "run": {"name": "served", "actors": {"novelty": "tests.simulated.novelty:SimulatedNovelty"}},
    "policy": {"name": "trainer", "model": "m", "max_model_len": 8192},
    "serve": {"enabled": True, "port": 0},
    "sandbox": {"count": 1, "cpu_seconds": 5},
    "generator": {"interval_seconds": 1, "group_size": 2, "few_shot": 1, "max_tokens": 512},
    "grammar": {"interval_seconds": 2, "batch": 1},
    "compose": {"size": 2, "operators": ["SEQUENTIAL", "PARALLEL"]},
    "composer": {"interval_seconds": 2, "batch": 1},
    "review": {"enabled": False},
    "pool": {
        "map_size_gib": 0.1,
        "seeds": ["inversion_count"],
        "bricks": ["strings/upper_case", "strings/first_word", "strings/count_words", "lists/total"],
        "held_out": ["lists/total"],
    },
    "supervision": {"longest_pause_seconds": 2, "drain_seconds": 60},
    "metrics": {"prometheus": False, "tensorboard": False, "wandb": "off"},
}


class TrainersPolicy:
    """Writes the same two replies again and again, and answers every other question about their pairs rightly."""

    def __init__(self) -> None:
        self._asked = 0
        self._lock = threading.Lock()
        self._written = [(REPLIES / f"{name}.txt").read_text(encoding="utf-8") for name in ("gcd_sum", "refusal")]

    def __call__(self, request: dict[str, Any], before: int) -> Reply:
        prompt, n = request["messages"][-1]["content"], request.get("n", 1)
        if prompt.endswith(REQUEST):
            return choices(*(self._written[index % 2] for index in range(n)))
        with self._lock:
            self._asked += 1
            right = self._asked % 2
        return choices(*[self._answer(prompt) if right else "I do not know."] * n)

    @staticmethod
    def _answer(prompt: str) -> str:
        shown = prompt.partition("\n\nInput: ")[2].partition("\n\n")[0]
        numbers = [int(text) for text in re.findall(r"\d+", shown)]
        total = sum(gcd(a, b) for a, b in zip(numbers[::2], numbers[1::2], strict=False))
        return f"<answer>{total}</answer>"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[ScriptedEndpoint]:
    with served(TrainersPolicy()) as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def run(
    cluster: None, endpoint: ScriptedEndpoint, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SimulatedRun]:
    """A run that serves."""
    place = {"run": {"folder": str(tmp_path_factory.mktemp("runs"))}, "policy": {"endpoint": endpoint.url}}
    going = SimulatedRun(Config.model_validate(merged(SETTINGS, place)))
    try:
        going.begin(LONG)
        going.until(lambda: (going.status().get("serving") or {}).get("url"), LONG)
        going.until(lambda: going.status().get("phase") == "training", LONG)
        yield going
    finally:
        roster.end(going.config)


@pytest.fixture
def url(run: SimulatedRun) -> str:
    return str(run.status()["serving"]["url"])


@contextmanager
def training(run: SimulatedRun, url: str, name: str, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A client in a process of its own."""
    command = [sys.executable, "-m", "tests.actors.scripted_trainer", url, name, str(run.config.run_folder), str(log)]
    client = subprocess.Popen(command, cwd=ROOT)
    try:
        yield client
    finally:
        client.kill()
        client.wait()


def answered(run: SimulatedRun) -> int:
    """Answers under the trainer's name, but for those that calibrated what it wrote."""
    with PoolReader.open(run.config.pool_folder) as pool:
        total = sum(counts.attempts for levels in pool.all_stats("trainer").values() for counts in levels.values())
        written = filter(None, map(pool.get, pool.ids(origin=Origin.POLICY)))
        return total - sum(count.attempts for member in written for count in admission_answers(member, "trainer"))


def origins(run: SimulatedRun) -> dict[str, int]:
    with PoolReader.open(run.config.pool_folder) as pool:
        return {str(origin): count for origin, count in pool.origins().items() if count}


def test_the_pool_grows_while_two_trainers_learn_and_one_is_killed_and_no_answer_counts_twice(
    run: SimulatedRun, url: str, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    killed_log, log = tmp_path / "killed", tmp_path / "living"
    with Pool.open(run.config.run_folder) as pool, training(run, url, "doomed", killed_log) as doomed:
        living = ScriptedTrainer(url, "living", pool, log)
        living.step()
        run.until(lambda: len(told(killed_log)) >= 4, LONG)
        os.kill(doomed.pid, signal.SIGKILL)
        doomed.wait()
        living.step()
        # While it is asked; its successor listens at the same place.
        threading.Timer(0.2, os.kill, (run.pids()["server"], signal.SIGKILL)).start()
        for _ in range(4):
            living.step()
    expected = sum(told(killed_log).values()) + sum(told(log).values())
    maybe = under_way(killed_log)
    assert len(maybe) <= 1
    counted = run.until(lambda: (answered(run) in (expected, expected + sum(maybe))) and answered(run), LONG)
    assert counted >= 6 * 16
    assert run.status()["serving"]["url"] == url
    made = run.until(
        lambda: (found := origins(run)) and {"policy", "grammar", "composer"} <= found.keys() and found, LONG
    )
    assert made["seed"] == 1
    assert any(request["messages"][-1]["content"].endswith(REQUEST) for request in endpoint.requests)


def test_through_verifiers_own_taskset_the_run_is_endless_and_each_trace_counts_once(
    run: SimulatedRun, url: str
) -> None:
    config = PoolTasksetConfig(task=PoolTaskConfig(source=url, client="prime"), ahead=3)
    tasks, before = list(PoolTaskset(config).take(6)), answered(run)
    assert len({task.key for task in tasks}) == 6
    with Pool.open(run.config.run_folder) as pool:
        right = [perfect(pool.build(Recipe.from_dict(task.data.recipe))) for task in tasks]
    rewards = asyncio.run(scored(tasks, [*right[:3], *["I give up."] * 3]))
    assert rewards == [1.0] * 3 + [0.0] * 3
    assert answered(run) == before + 6


async def scored(tasks: list[PoolTask], replies: list[str]) -> list[float]:
    """Rewards, each trace scored twice, as a replay does."""
    rewards = []
    for task, reply in zip(tasks, replies, strict=True):
        seen = vf.TraceTask(type=type(task).__name__, data=task.data, key=task.key, hash=task.hash)
        trace = vf.Trace(task=seen, agent=vf.AgentInfo(config=vf.AgentConfig()), root_reply=reply)
        for _ in range(2):
            await task.score(trace)
        rewards.append(trace.reward)
    return rewards


def test_the_status_says_who_is_served_and_statistics_bear_the_trainers_name(run: SimulatedRun, url: str) -> None:
    def told() -> dict[str, Any] | None:
        """The status, once the server has reported after what it answered last."""
        now = run.status()
        clients = (now.get("serving") or {}).get("clients", {})
        return now if now["success"].get("solver") and {"living", "prime"} <= clients.keys() else None

    status = run.until(told)
    assert "at " + url in line(status)
    [own] = status["policies"]
    assert (own["name"], own["trainable"], own["writes"]) == ("trainer", False, True)
    assert 0 < status["success"]["solver"]["success"] < 1
    assert not {"learner", "buffer", "evaluator"} & status["actors"].keys()
    with PoolReader.open(run.config.pool_folder) as pool:
        held_out = [id for id in pool.ids() if pool.status_row(id).held_out]  # type: ignore[union-attr]
        assert held_out and not pool.all_stats("trainer").keys() & set(held_out)


def test_a_paused_run_tells_its_trainers_to_come_again(run: SimulatedRun, url: str) -> None:
    ask = {"client": "living", "count": 1}
    run.ask("supervisor", "pause")
    refused = run.until(lambda: (reply := httpx.post(f"{url}/v1/sample", json=ask)).status_code == 503 and reply)
    assert "paused" in refused.json()["detail"] and refused.headers["Retry-After"]
    run.ask("supervisor", "resume")
    run.until(lambda: httpx.post(f"{url}/v1/sample", json=ask, timeout=60).status_code == 200)


def test_a_served_run_that_is_stopped_leaves_nobody_and_keeps_what_it_counted(run: SimulatedRun, url: str) -> None:
    before = answered(run)
    done = run.ask("supervisor", "stop_run", False, seconds=LONG)
    assert done["served"] and done["phase"] == "training"
    run.until(lambda: not roster.present(run.config))
    with pytest.raises(httpx.TransportError):
        httpx.get(f"{url}/v1/status", timeout=5)
    assert answered(run) == before
