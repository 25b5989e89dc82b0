"""Pools as verifiers takes them: its own loaders, its own rollouts, its own scoring, the trainer scripted."""

import asyncio
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import verifiers.v1 as vf
from verifiers.v1.serve import EnvClient, EnvServer

from envpool.contract import Failed, Instance, Outcome, Recipe, Scored
from envpool.curation import CurationSettings
from envpool.exchange import task_sources
from envpool.exchange.reasoning_gym_export import write_package as write_reasoning_gym
from envpool.exchange.service.client import ServiceClient
from envpool.exchange.service.standing import StandingPool
from envpool.exchange.snapshot import read_snapshot
from envpool.exchange.verifiers_package import UnusableName, write_package
from envpool.exchange.verifiers_taskset import PoolTaskConfig, PoolTaskset, PoolTasksetConfig
from envpool.members import Member, Origin, Program
from envpool.pool import Pool
from envpool.split import is_held_out_prompt
from envpool.store import PoolReader
from tests.envpool.exchange.exchanged import APART, members, perfect, write_members, write_pool
from tests.envpool.exchange.hosting import Hosted
from tests.envpool.exchange.scripted_models import HARNESS, ScriptedModel

ROOT = Path(__file__).parents[3]
ROUND_TRIP = 1000
STEADY = CurationSettings(adaptive_levels=False)


@pytest.fixture(scope="module")
def found() -> dict[str, Member]:
    return members()


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory, found: dict[str, Member]) -> Path:
    return write_members(tmp_path_factory.mktemp("snapshot"), found)


@pytest.fixture(scope="module")
def library(snapshot: Path) -> Iterator[Pool]:
    with Pool.open(snapshot) as pool:
        yield pool


@pytest.fixture
def run(tmp_path: Path, found: dict[str, Member]) -> Path:
    return write_pool(tmp_path / "run", found)


def hosted(run: Path) -> Hosted:
    """A service over the run's pool."""
    return Hosted(lambda: StandingPool.open(run / "pool", "trainer", STEADY))


def taskset(source: str | Path, **more: Any) -> PoolTaskset:
    return PoolTaskset(PoolTasksetConfig(task=PoolTaskConfig(source=str(source)), **more))


def answered(task: vf.Task, reply: str) -> vf.Trace:
    seen = vf.TraceTask(type=type(task).__name__, data=task.data, key=task.key, hash=task.hash)
    return vf.Trace(task=seen, agent=vf.AgentInfo(config=vf.AgentConfig()), root_reply=reply)


async def scored(task: vf.Task, reply: str) -> vf.Trace:
    """Scored as verifiers scores a trace."""
    trace = answered(task, reply)
    await task.score(trace)
    return trace


def attempts(run: Path) -> int:
    with PoolReader.open(run / "pool") as pool:
        stats = pool.all_stats("trainer").values()
        return sum(counts.attempts for levels in stats for counts in levels.values())


def reply_to(number: int, instance: Instance) -> str:
    """Right, wrong of one form or the other, no answer: by turns."""
    return (perfect(instance), "<answer>[17, 4]</answer>", "<answer>1</answer>", "Hm.")[number % 4]


async def test_through_verifiers_a_thousand_answers_score_what_they_score_here(
    snapshot: Path, library: Pool
) -> None:
    rewards: list[float] = []
    for number, task in enumerate(islice(iter(taskset(snapshot)), ROUND_TRIP)):
        instance = library.build(Recipe.from_dict(task.data.recipe))
        reply = reply_to(number, instance)
        ours = library.score(instance, reply)
        trace = await scored(task, reply)
        assert trace.reward == (ours.score if isinstance(ours, Scored) else 0.0)
        assert trace.metrics["parsed"] == float(isinstance(ours, Scored))
        rewards.append(trace.reward)
    assert set(rewards[::4]) == {1.0}
    assert 0.0 < sum(rewards) / len(rewards) < 0.5


async def test_through_a_service_each_trace_is_scored_alike_and_counted_once(
    run: Path, library: Pool
) -> None:
    with hosted(run) as server:
        for number, task in enumerate(taskset(server.url, ahead=8).take(24)):
            instance = library.build(Recipe.from_dict(task.data.recipe))
            reply = reply_to(number, instance)
            ours = library.score(instance, reply)
            trace = answered(task, reply)
            for _ in range(2):  # once more, as a replay does
                await task.score(trace)
                assert trace.reward == (ours.score if isinstance(ours, Scored) else 0.0)
        with pytest.raises(ValueError, match="held-out questions"):
            list(taskset(server.url, held_out=True).take(1))
    assert attempts(run) == 24


def test_the_stream_is_endless_and_of_the_training_side(snapshot: Path, found: dict[str, Member]) -> None:
    loaded = taskset(snapshot)
    assert loaded.INFINITE
    assert not loaded.bounded
    tasks = list(loaded.take(200))
    assert [task.data.idx for task in tasks] == list(range(200))
    assert len({task.key for task in tasks}) == 200
    assert not any(is_held_out_prompt(task.data.prompt) for task in tasks)
    assert found[APART].id not in {task.data.recipe["member"] for task in tasks}


def test_what_is_set_apart_is_asked_where_it_is_asked_for(snapshot: Path, found: dict[str, Member]) -> None:
    tasks = list(taskset(snapshot, held_out=True).take(60))
    apart = found[APART].id
    assert apart in {task.data.recipe["member"] for task in tasks}
    assert all(task.data.recipe["member"] == apart or is_held_out_prompt(task.data.prompt) for task in tasks)


def test_the_same_seed_gives_the_same_stream(snapshot: Path) -> None:
    first, again, other = (
        [task.data.prompt for task in taskset(snapshot, seed=seed).take(20)] for seed in (0, 0, 1)
    )
    assert first == again != other


def test_a_task_carries_where_it_is_from_and_no_answer(snapshot: Path, found: dict[str, Member]) -> None:
    for task in taskset(snapshot).take(20):
        assert task.data.provenance["licence"]
        assert task.data.provenance["origin"] in ("seed", "brick", "composer")
        assert set(task.data.recipe) == {"member", "seed", "level", "attempt"}


@pytest.mark.parametrize("outcome", [Failed("the machine failed"), Failed("broke", culprit="p1")])
async def test_without_a_verdict_the_trace_has_an_error_and_no_reward(
    snapshot: Path, monkeypatch: pytest.MonkeyPatch, outcome: Outcome
) -> None:
    async def score(*_: object) -> Outcome:
        return outcome

    monkeypatch.setattr(task_sources.PoolSource, "score", score)
    (task,) = taskset(snapshot).take(1)
    trace = answered(task, "<answer>1</answer>")
    with pytest.raises(vf.TaskError, match=outcome.reason):
        await task.score(trace)
    assert trace.rewards == {"verdict": None}


async def test_an_unread_answer_is_a_reward_of_nought_and_counted_apart(snapshot: Path) -> None:
    (task,) = taskset(snapshot).take(1)
    trace = await scored(task, "no tags")
    assert (trace.reward, trace.metrics) == (0.0, {"parsed": 0.0, "solved": 0.0})


NEEDING = """
import random

from parcel import twice

from envpool import Environment


class Twice(Environment):
    rule = "Double the input number."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(10, 99)

    def solve(self, x: int) -> int:
        return twice(x)
"""


def needing(package: str) -> Member:
    """A program that says that it needs a package."""
    program = Program(NEEDING.replace("parcel", package), "Twice", "Double the input number.", "int", "int")
    return Member(program, Origin.USER, evidence={"packages": [package]})


async def test_a_package_that_members_import_is_found_where_the_task_says(tmp_path: Path) -> None:
    (tmp_path / "parcel").mkdir()
    (tmp_path / "parcel/__init__.py").write_text("def twice(x):\n    return 2 * x\n", encoding="utf-8")
    source = str(write_members(tmp_path, {"twice": needing("parcel")}))
    task = PoolTaskConfig(source=source, packages=(f"parcel={tmp_path}",))
    (asked,) = PoolTaskset(PoolTasksetConfig(task=task)).take(1)
    assert (await scored(asked, "<answer>0</answer>")).reward == 0.0


def test_an_exported_package_depends_on_what_its_members_import(tmp_path: Path) -> None:
    member = needing("reasoning_gym.utils")
    snapshot = read_snapshot(write_members(tmp_path, {"twice": member, "own": needing("parcel")}))
    write_package(_made(tmp_path / "taskset"), "needing", snapshot)
    write_reasoning_gym(snapshot, _made(tmp_path / "gym"), "needing")
    for folder in ("taskset", "gym"):
        project = tomllib.loads((tmp_path / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        assert f"reasoning-gym=={version('reasoning-gym')}" in project["dependencies"]
        assert not any("parcel" in each for each in project["dependencies"])


def test_a_taskset_without_a_pool_says_what_is_missing() -> None:
    with pytest.raises(ValueError, match=r"task\.source names no pool"):
        list(taskset("").take(1))


@pytest.fixture
def packaged(tmp_path: Path, library: Pool, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of the snapshot, and one of a harness, as if they were installed."""
    write_package(_made(tmp_path / "export"), "small_pool", library.snapshot)
    (tmp_path / "scripted_chat.py").write_text(HARNESS, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path / "export")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path / "export"  # type: ignore[misc]
    for name in ("small_pool", "scripted_chat"):
        sys.modules.pop(name, None)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def env_config(**taskset: Any) -> vf.EnvConfig:
    agent = {"harness": {"id": "scripted_chat"}, "runtime": {"type": "subprocess"}}
    return vf.resolve_env_config({"taskset": {"id": "small_pool", **taskset}, "agent": agent})


class Trainer:
    """What a trainer does with verifiers: takes tasks off the stream, has each rolled out a few times, collects."""

    def __init__(self, config: vf.EnvConfig, model: ScriptedModel) -> None:
        self.config, self.model = config, model

    async def train(self, steps: int, group: int) -> list[Any]:
        """The traces of all groups, over verifiers' own server and client."""
        server = EnvServer(self.config, "tcp://127.0.0.1:*")
        serving = asyncio.create_task(server.run())
        client = EnvClient(server.address)
        endpoint = vf.EvalClientConfig(base_url=self.model.url, api_key_var="NO_KEY")
        try:
            traces = []
            stream = iter(vf.load_taskset(self.config.taskset))
            for _ in range(steps):
                task = await asyncio.to_thread(next, stream)
                wire = task.data.model_dump(mode="json")
                runs = [client.run(endpoint, "scripted", vf.SamplingConfig(), wire) for _ in range(group)]
                episodes = await asyncio.gather(*runs)
                traces += [trace for episode in episodes for trace in episode.traces]
            return traces
        finally:
            await client.close()
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)


async def test_a_package_is_trained_on_over_verifiers_own_server(
    packaged: Path, library: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_KEY", "none")
    right = {
        task.data.prompt: perfect(library.build(Recipe.from_dict(task.data.recipe)))
        for task in islice(iter(vf.load_taskset(env_config().taskset)), 4)
    }
    asked: dict[str, int] = {}

    def answer(prompt: str) -> str:
        asked[prompt] = asked.get(prompt, 0) + 1
        return right[prompt] if asked[prompt] % 2 else "I give up."

    with ScriptedModel(answer) as model:
        traces = await Trainer(env_config(), model).train(steps=4, group=2)
    assert [trace.errors for trace in traces] == [[]] * 8
    assert sorted(trace.reward for trace in traces) == [0.0] * 4 + [1.0] * 4


async def test_two_trainers_on_one_service_are_counted_apart_and_one_that_dies_takes_nothing_with_it(
    packaged: Path, run: Path, library: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_KEY", "none")
    with hosted(run) as server, ScriptedModel(lambda prompt: "<answer>0</answer>") as model:
        living, dying = (
            Trainer(env_config(task={"source": server.url, "client": name}), model)
            for name in ("living", "dying")
        )
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(4):
                await dying.train(steps=10_000, group=2)
        traces = await living.train(steps=3, group=4)
        clients = ServiceClient(server.url).status()["clients"]
    assert [trace.errors for trace in traces] == [[]] * 12
    assert clients["living"]["scored"] == 12
    assert attempts(run) == 12 + clients["dying"]["scored"]


def test_a_package_is_installed_by_pip_and_passes_its_own_tests(packaged: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "--target",
        site,
    ]
    subprocess.run([*map(str, install), str(packaged)], check=True)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(packaged / "tests")],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


def test_a_package_of_a_service_asks_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_package(_made(tmp_path / "live"), "live_pool", None, "http://127.0.0.1:8321")
    monkeypatch.syspath_prepend(tmp_path / "live")
    config = vf.taskset_config_type("live-pool").model_validate({"id": "live-pool"})
    assert vf.load_taskset(config).config.task.source == "http://127.0.0.1:8321"
    assert vf.default_harness_id("live-pool") == "live-pool"
    assert vf.harness_config_type("live-pool")


def test_a_package_is_named_as_python_can(tmp_path: Path) -> None:
    with pytest.raises(UnusableName, match="small letters"):
        write_package(tmp_path, "my-pool", None, "http://x")
