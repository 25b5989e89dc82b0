"""The learner actor, over a simulated learner: what it does about a predecessor that was killed at a bad moment."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
import ray

from actors import learner, roster
from actors.learner import LearnerActor
from actors.peers import Peers
from actors.roster import Post
from cluster.config import Config
from cluster.wanted import first
from tests.actors.conftest import Raise
from tests.actors.test_buffer_actor import group
from tests.simulated.learner import SimulatedLearner, updates_in
from tests.simulated.runs import simulated
from training.grpo import checkpoints
from training.grpo.checkpoints import Checkpoint
from training.grpo.errors import LearnerError, LearnerRankLost
from training.grpo.settings import LearnerSettings
from training.trajectory import Group


class StumblingLearner(SimulatedLearner):
    """Loses a rank at its first update, and cannot load the checkpoint at the first try to go back to it."""

    stumbles: ClassVar[list[str]] = ["update", "load"]

    def update(self, groups: Sequence[Group], version: int | None = None) -> dict[str, float]:
        if "update" in self.stumbles:
            self.stumbles.remove("update")
            raise LearnerRankLost("a rank was lost")
        return super().update(groups, version)

    def load(self, root: Path) -> Checkpoint | None:
        if self.stumbles == ["load"]:
            self.stumbles.remove("load")
            raise LearnerError("the checkpoint could not be read just now")
        return super().load(root)


class StumblingActor(LearnerActor):
    def _started(self, settings: LearnerSettings, avoid: Sequence[str] = ()) -> Any:  # type: ignore[override]
        return StumblingLearner(settings)


@pytest.fixture
def config(cluster: None, tmp_path: Path) -> Config:
    return simulated("learner-alone", tmp_path)


def wanted_without_solvers(config: Config) -> dict[str, Any]:
    """Nobody has to be told of new weights."""
    now = first(config)
    return now.model_copy(update={"counts": now.counts | {"solver": 0}}).model_dump(mode="json")


async def test_a_checkpoint_whose_saver_could_not_tell_of_it_is_told_by_the_successor(
    config: Config, peers: Peers, make: Raise
) -> None:
    for name in ("pool", "metrics", "buffer"):
        make(Post(name, f"actors.{name}:{name.title()}Actor"))
    await peers.pool.put_state("checkpoint", {"step": 1, "version": 1})
    await peers.pool.put_state("wanted", wanted_without_solvers(config))
    killed = SimulatedLearner(LearnerSettings(model_path=Path("none")))
    killed.updates, killed.version = [(1, ["a"]), (2, ["b"])], 2
    killed.save(config.run_folder / "checkpoints", {"step": 2})
    make(Post("learner", "actors.learner:LearnerActor"))
    assert (await peers.learner.progress())["step"] == 2
    assert await peers.pool.state("checkpoint") == {"step": 2, "version": 2}


async def test_versions_rise_above_those_of_files_that_a_restored_pool_does_not_know(
    config: Config, peers: Peers, make: Raise
) -> None:
    for name in ("pool", "metrics", "buffer"):
        make(Post(name, f"actors.{name}:{name.title()}Actor"))
    before = SimulatedLearner(LearnerSettings(model_path=Path("none")))
    before.updates, before.version = [(5, ["a"])], 5
    before.save(config.run_folder / "checkpoints", {"step": 1})
    for before.version in (6, 7):
        before.export(config.run_folder / f"weights/version-{before.version:06d}.safetensors")
    await peers.pool.put_state("weights", {"path": "of a backup", "version": 2})
    await peers.pool.put_state("wanted", wanted_without_solvers(config))
    make(Post("learner", "actors.learner:LearnerActor"))
    assert (await peers.learner.progress())["version"] == 8
    weights = await peers.pool.state("weights")
    assert weights["version"] == 8
    assert Path(weights["path"]).exists()


async def test_nothing_is_trained_on_a_group_that_could_not_go_back_to_its_checkpoint(
    config: Config, peers: Peers, make: Raise
) -> None:
    stumbling = {**config.run.actors, "learner": "tests.actors.test_learner_actor:StumblingActor"}
    run = config.run.model_copy(update={"actors": stumbling})
    for name in ("pool", "metrics", "buffer"):
        make(Post(name, f"actors.{name}:{name.title()}Actor"))
    await peers.pool.put_state("wanted", wanted_without_solvers(config))
    await peers.pool.put_state("phase", "training")
    before = SimulatedLearner(LearnerSettings(model_path=Path("none")))
    before.updates, before.version = [(1, ["a"])], 1
    before.save(config.run_folder / "checkpoints", {"step": 1})
    await peers.pool.put_state("weights", {"path": "", "version": 1})
    for name in "bcde":
        assert await peers.buffer.offer(group(name, 1)) == "ready"
    learner = roster.make(
        Post("learner", "tests.actors.test_learner_actor:StumblingActor"),
        config.model_copy(update={"run": run}),
    )
    while (await peers.learner.progress())["step"] < 2:
        await asyncio.sleep(0.1)
    await peers.learner.checkpoint()
    ray.kill(learner)
    saved = checkpoints.latest(config.run_folder / "checkpoints")
    assert saved is not None
    assert [sorted(ids) for _, ids in updates_in(saved.folder)] == [["a"], ["b", "c", "d", "e"]]


class Unplaced:
    """Stands where a solver does for which no node has room."""

    async def heartbeat(self) -> None:
        await asyncio.Event().wait()

    async def update_weights(self, path: str, version: int) -> None:
        raise AssertionError("it is not there")


class IdleLearner(LearnerActor):
    """Starts no rank."""

    async def start(self) -> None:
        """Nothing."""


async def test_a_solver_that_no_node_has_room_for_is_not_waited_for_at_every_update(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(learner, "SIGN_OF_LIFE_SECONDS", 0.1)
    idle = IdleLearner(
        simulated("telling", tmp_path).model_dump(mode="json"), "supervisor"
    )  # waits for no pool
    await idle.ready()
    monkeypatch.setattr(idle, "peers", {"solver-0": Unplaced()})
    await idle._tell("solver-0", "weights")
    await idle.stop()
