"""The learner actor over a learner whose weights are the list of updates that are in them.

So one can read from the weights that survive which group was trained, in which order and under which version. It keeps
its checkpoints as the real one does (`training.grpo.checkpoints`), so that one torn by a kill is passed over.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from actors.learner import LearnerActor
from tests.simulated.ledger import Recording
from training.grpo import checkpoints
from training.grpo.checkpoints import Checkpoint
from training.grpo.errors import LearnerRankLost
from training.grpo.settings import LearnerSettings
from training.trajectory import Group

WEIGHTS = "updates.json"
UPDATE_SECONDS = (0.02, 0.1)
LOST_RANK = 0.003
"""Chance that an update loses a rank."""


class SimulatedLearner:
    """`training.grpo.learner.Learner`, with a list in place of a model."""

    def __init__(self, settings: LearnerSettings) -> None:
        self.settings = settings
        self.version = 0
        self.updates: list[tuple[int, list[str]]] = []
        """Version and groups of each update, in order."""
        self._rng = random.Random(time.time_ns())

    def update(self, groups: Sequence[Group], version: int | None = None) -> dict[str, float]:
        """As the real one's. Raises LearnerRankLost now and then, before or after the update was made."""
        time.sleep(self._rng.uniform(*UPDATE_SECONDS))
        lost = self._rng.random()
        if lost < LOST_RANK:
            raise LearnerRankLost("a simulated rank was lost before the update")
        before, self.version = self.version, self.version + 1 if version is None else version
        self.updates.append((self.version, [group.id for group in groups]))
        if lost < 2 * LOST_RANK:
            raise LearnerRankLost("a simulated rank was lost after the update")
        stale = [self.version - 1 - group.version_low for group in groups]
        return {
            "loss": 0.0, "grad_norm": 0.0, "groups": float(len(groups)), "version": float(self.version),
            "version_before": float(before), "staleness_max": float(max(stale)), "seconds": 0.0,
        }  # fmt: skip

    def export(self, path: Path) -> Path:
        """What a solver needs of the weights: their version."""
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, {"version": self.version, "updates": len(self.updates)})
        return path

    def save(self, root: Path, extra: dict[str, Any] | None = None) -> Path:
        """As the real one's."""
        folder = checkpoints.folder_of(root, self.version)
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
        (folder / WEIGHTS).write_text(json.dumps(self.updates), encoding="utf-8")
        checkpoints.complete(folder, self.version, extra or {})
        checkpoints.prune(root, self.settings.keep_checkpoints)
        return folder

    def load(self, root: Path) -> Checkpoint | None:
        """As the real one's."""
        found = checkpoints.latest(root)
        if found is not None:
            self.updates, self.version = updates_in(found.folder), found.version
        return found

    def restart(self, root: Path) -> Checkpoint | None:
        """As the real one's."""
        self.updates, self.version = [], 0
        return self.load(root)

    def close(self) -> None:
        """As the real one's."""


class SimulatedLearnerActor(Recording, LearnerActor):
    """The learner actor as it is, with the simulated learner; each batch that it trains is written down."""

    def _started(self, settings: LearnerSettings, avoid: Sequence[str] = ()) -> Any:  # type: ignore[override]
        return _Told(settings, self.ledger.write)


class _Told(SimulatedLearner):
    """Says of each batch what it was, once it is in the weights."""

    def __init__(self, settings: LearnerSettings, tell: Any) -> None:
        super().__init__(settings)
        self._tell = tell

    def update(self, groups: Sequence[Group], version: int | None = None) -> dict[str, float]:
        metrics = super().update(groups, version)
        self._tell("update", version=self.version, groups=[_told(group) for group in groups])
        return metrics


def updates_in(folder: Path) -> list[tuple[int, list[str]]]:
    """Version and groups of each update that is in the weights of a checkpoint."""
    read = json.loads((folder / WEIGHTS).read_text(encoding="utf-8"))
    return [(version, ids) for version, ids in read]


def _told(group: Group) -> dict[str, Any]:
    return {
        "id": group.id,
        "role": group.role,
        "rewards": [item.reward for item in group.trajectories],
        "successes": sum(item.success for item in group.trajectories),
        "low": group.version_low,
        "high": group.version_high,
    }


def _write(path: Path, value: Any) -> None:
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(value), encoding="utf-8")
    os.replace(draft, path)
