"""The learner: a verl worker group under Ray that turns groups of trajectories into policy versions.

Purpose: start, update, export, save, load, rebuild and stop the group. Invariant: one `update` is one optimiser step
over all groups handed in, and moves `version` on by one; the ratio is taken against the sampler's log-probabilities.
The group lives and dies whole: when a rank is lost the rest are stopped and built anew from the last checkpoint. Not
thread-safe; works in a driver and inside another actor. It chooses no groups and talks to no solver.
"""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import training.grpo.platform  # noqa: F401  (first: verl asks for its platform while it is imported)

# isort: split
import numpy as np
import ray
from ray.exceptions import RayActorError, RayError
from tensordict import TensorDict
from verl.single_controller.ray import RayClassWithInitArgs, RayWorkerGroup
from verl.utils import tensordict_utils as tu

from training.grpo import checkpoints
from training.grpo.batch import build_batch
from training.grpo.errors import LearnerError, LearnerRankLost
from training.grpo.rank_pool import RankPool, remove_orphans
from training.grpo.settings import LearnerSettings
from training.grpo.verl_config import actor_config, rank_environment, worker_config
from training.grpo.worker import LearnerWorker, grpo_loss
from training.trajectory import Group

log = logging.getLogger(__name__)

RENAMED = {
    "loss": "loss",
    "grad_norm": "grad_norm",
    "lr": "lr",
    "actor/pg_clipfrac": "clip_fraction",
    "actor/pg_clipfrac_lower": "dual_clip_fraction",
    "ratio_min": "ratio_min",
    "ratio_mean": "ratio_mean",
    "ratio_max": "ratio_max",
    "logprob_diff": "logprob_diff",
    "kl": "kl",
}
"""What is kept of a rank's metrics, and under which name."""

PEER_GRACE = 15.0
"""Seconds in which, after a rank raised, the death of another may turn out to be the cause."""


class Learner:
    """GRPO on one policy. `version` counts optimiser steps since the model it began with.

    `avoid` are ids of nodes that the next start keeps away from where it can.
    """

    def __init__(self, settings: LearnerSettings) -> None:
        self.settings = settings
        self.version = 0
        self.avoid: Collection[str] = ()
        self._pool: RankPool | None = None
        self._group: RayWorkerGroup | None = None

    def start(self) -> None:
        """Build the group and load the model of the settings. Raises LearnerError."""
        if self._group is not None:
            raise LearnerError("already started")
        settings = self.settings
        if settings.name:
            remove_orphans(settings.name)
        self._pool = RankPool(settings, self.avoid)
        rank = RayClassWithInitArgs(
            cls=ray.remote(LearnerWorker), config=worker_config(settings), share_prefix=settings.share_prefix
        )
        try:
            device = "cuda" if settings.gpus else "cpu"
            self._group = RayWorkerGroup(
                self._pool, rank, device_name=device, worker_env=rank_environment(settings)
            )
            self._call("reset")
            self._call("set_loss_fn", self.loss())
        except (RayError, LearnerError) as error:
            self.close()
            raise LearnerError(f"the group did not start: {error}") from error
        self.version = 0

    def loss(self) -> Callable[..., Any]:
        """What a step makes smaller, in verl's form of a loss."""
        return partial(grpo_loss, actor_config(self.settings))

    def update(self, groups: Sequence[Group], version: int | None = None) -> dict[str, float]:
        """One optimiser step over all groups; `version` names the policy it makes (default: the next).

        Returns metrics; times in seconds. Raises EmptyBatch, LearnerRankLost, LearnerError.
        """
        started = time.monotonic()
        settings = self.settings
        batch = build_batch(
            groups,
            ranks=settings.ranks,
            micro_batch=settings.micro_batch,
            temperature=settings.temperature,
            generator_scale=settings.generator_advantage,
        )
        output = self._train(batch)
        self.version = self.version + 1 if version is None else version
        stale = [self.version - 1 - group.version_low for group in groups]
        return step_metrics(output, groups, time.monotonic() - started) | {
            "version": float(self.version),
            "staleness_mean": float(np.mean(stale)),
            "staleness_max": float(max(stale)),
        }

    def export(self, path: Path) -> Path:
        """Write the weights as one safetensors file with Hugging Face names, in place of `path` at one stroke."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._call("export_weights", str(path), self.settings.export_dtype)
        return path

    def save(self, root: Path, extra: dict[str, Any] | None = None) -> Path:
        """Checkpoint model, optimiser, schedule, random state and version under `root`; keep the last K."""
        folder = checkpoints.folder_of(Path(root), self.version)
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
        self._call("save_checkpoint", str(folder))
        checkpoints.complete(folder, self.version, extra or {})
        checkpoints.prune(Path(root), self.settings.keep_checkpoints)
        return folder

    def load(self, root: Path) -> checkpoints.Checkpoint | None:
        """Return to the newest whole checkpoint under `root`; None, and nothing changed, where there is none."""
        found = checkpoints.latest(Path(root))
        if found is not None:
            self._call("load_checkpoint", str(found.folder))
            self.version = found.version
        return found

    def restart(self, root: Path) -> checkpoints.Checkpoint | None:
        """Build the whole group anew, from the newest whole checkpoint or else from the model it began with."""
        self.close()
        self.start()
        return self.load(root)

    def describe(self) -> list[dict[str, Any]]:
        """Process id and peak memory (bytes) of each rank."""
        return self._call("describe")

    def close(self) -> None:
        """Stop the ranks and give their placement groups back. Safe to call twice and after a lost rank."""
        group, self._group = self._group, None
        pool, self._pool = self._pool, None
        for worker in group.workers if group is not None else ():
            ray.kill(worker)
        if pool is not None:
            pool.release()

    def _train(self, batch: TensorDict) -> dict[str, Any]:
        try:
            future = self._alive().train_mini_batch(batch)
        except RayActorError as error:
            raise LearnerRankLost(str(error)) from error
        self._collect(future.futures)
        return tu.get(future.get(), "metrics")

    def _call(self, method: str, *arguments: Any) -> list[Any]:
        return self._collect(self._alive().execute_all_async(method, *arguments))

    def _alive(self) -> RayWorkerGroup:
        if self._group is None:
            raise LearnerError("not started")
        return self._group

    def _collect(self, references: list[ray.ObjectRef]) -> list[Any]:
        """All results; a dead rank is told from a failed call even when its peers raise first or hang."""
        pending, failure = list(references), None
        while pending:
            done, pending = ray.wait(pending, timeout=None if failure is None else PEER_GRACE)
            if not done:
                break
            try:
                ray.get(done)
            except RayActorError as error:
                raise LearnerRankLost(str(error)) from error
            except RayError as error:
                failure = failure or error
        if failure is not None:
            raise LearnerError(str(failure)) from failure
        return ray.get(references)


def step_metrics(output: dict[str, Any], groups: Sequence[Group], seconds: float) -> dict[str, float]:
    """verl's and our measures of one step, flat. Ratios are raw, before clipping; token counts are of responses."""
    values = {name: float(np.mean(value)) for name, value in output.items() if name in RENAMED}
    metrics = {RENAMED[name]: value for name, value in values.items()}
    samples = [t.sample for group in groups for t in group.trajectories]
    tokens = sum(len(sample.token_ids) for sample in samples)
    return metrics | {
        "skipped": float(not np.isfinite(metrics["grad_norm"])),
        "groups": float(len(groups)),
        "generator_groups": float(sum(group.role == "generator" for group in groups)),
        "samples": float(len(samples)),
        "response_tokens": float(tokens),
        "prompt_tokens": float(sum(len(sample.prompt_ids) for sample in samples)),
        "seconds": seconds,
        "tokens_per_second": (tokens + sum(len(sample.prompt_ids) for sample in samples)) / seconds,
    }
