"""A learner step against a bare verl `TrainingWorker` group, the same batch in the same run.

Both train the same model from the same weights, in the same precision, on one rank with all cores, one after the
other; what differs is how a micro-batch enters the model. Bare verl forwards every sample whole and makes logits for
prompts too. Their losses and gradient norms are printed, for a faster step that computes something else is no gain.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import training.grpo.platform  # noqa: F401  (first: verl asks for its platform while it is imported)

# isort: split
import numpy as np
import ray
import torch.distributed as dist
from tensordict import TensorDict
from verl.single_controller.ray import RayClassWithInitArgs, RayResourcePool, RayWorkerGroup
from verl.utils import tensordict_utils as tu
from verl.workers.config import TrainingWorkerConfig
from verl.workers.engine_workers import TrainingWorker
from verl.workers.utils.losses import ppo_loss

from training.grpo.batch import build_batch
from training.grpo.learner import Learner
from training.grpo.settings import LearnerSettings
from training.grpo.verl_config import actor_config, rank_environment, worker_config
from training.grpo.worker import register_cpu_engine
from training.policy.source import resolve_model
from training.trajectory import Group, Sample, Trajectory

GROUPS, GROUP_SIZE = 4, 8
SHARED_HEAD, OWN_PROMPT, LONGEST_RESPONSE = 60, 30, 20
STEPS = 2


@dataclass(frozen=True, slots=True)
class Timed:
    """Seconds of the fastest step, and what the first one computed."""

    seconds: float
    loss: float
    grad_norm: float


class BareWorker(TrainingWorker):
    """verl's worker and verl's engine, with no more than it takes to run on a CPU."""

    def __init__(self, config: TrainingWorkerConfig) -> None:
        register_cpu_engine(share_prefix=False)
        dist.init_process_group(
            "gloo", rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"])
        )
        super().__init__(config)


def scripted_groups() -> list[Group]:
    """Prompts that begin with the same worked examples, random responses, every other one rewarded."""
    rng = random.Random(0)

    def draw(count: int) -> list[int]:
        return [rng.randrange(1000, 40_000) for _ in range(count)]

    head, groups = draw(SHARED_HEAD), []
    for index in range(GROUPS):
        prompt = head + draw(OWN_PROMPT)
        responses = [draw(rng.randint(8, LONGEST_RESPONSE)) for _ in range(GROUP_SIZE)]
        samples = [Sample("", prompt, tokens, [-10.0] * len(tokens), 0, 0, True) for tokens in responses]
        judged = tuple(
            Trajectory(sample, float(k % 2), bool(k % 2), True) for k, sample in enumerate(samples)
        )
        groups.append(Group(f"g{index}", "solver", "main", {}, judged))
    return groups


def timed(step: Callable[[], dict[str, float]]) -> Timed:
    """The fastest of some steps; the first warms up and counts only where there is no other."""
    seconds, measured = [], []
    for _ in range(STEPS):
        started = time.perf_counter()
        measured.append(step())
        seconds.append(time.perf_counter() - started)
    return Timed(min(seconds), measured[0]["loss"], measured[0]["grad_norm"])


def bare(settings: LearnerSettings, batch: TensorDict) -> Timed:
    """verl's worker group, its engine and its loss."""
    pool = RayResourcePool([1], use_gpu=False, max_colocate_count=1)
    rank = RayClassWithInitArgs(cls=ray.remote(BareWorker), config=worker_config(settings))
    group = RayWorkerGroup(pool, rank, device_name="cpu", worker_env=rank_environment(settings))
    group.reset()
    group.set_loss_fn(partial(ppo_loss, actor_config(settings)))

    def step() -> dict[str, float]:
        metrics = tu.get(group.train_mini_batch(batch.clone()).get(), "metrics")
        return {name: float(np.mean(metrics[name])) for name in ("loss", "grad_norm")}

    try:
        return timed(step)
    finally:
        ray.kill(group.workers[0])


def ours(settings: LearnerSettings, groups: list[Group]) -> Timed:
    """The learner, from groups to metrics."""
    learner = Learner(settings)
    learner.start()
    try:
        return timed(lambda: learner.update(groups))
    finally:
        learner.close()


def main() -> None:
    """Print seconds of a step, tokens/s, and the ratio."""
    settings = LearnerSettings(resolve_model("smollm2-135m"), threads=os.cpu_count() or 1)
    groups = scripted_groups()
    batch = build_batch(
        groups,
        ranks=1,
        micro_batch=settings.micro_batch,
        temperature=settings.temperature,
        generator_scale=settings.generator_advantage,
    )
    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    try:
        theirs, mine = bare(settings, batch), ours(settings, groups)
    finally:
        ray.shutdown()
    tokens = int(batch["input_ids"].offsets()[-1])
    print(f"learner: {mine.seconds:.1f} s a step, {tokens / mine.seconds:.0f} tokens/s; "
          f"bare verl: {theirs.seconds:.1f} s, {tokens / theirs.seconds:.0f} tokens/s; "
          f"ratio {theirs.seconds / mine.seconds:.2f}")  # fmt: skip
    print(f"learner: loss {mine.loss:.5f} gradient {mine.grad_norm:.4f}; "
          f"bare verl: loss {theirs.loss:.5f} gradient {theirs.grad_norm:.4f}")  # fmt: skip


if __name__ == "__main__":
    main()
