"""The learner of a run, told by example instead of by reward: verl's own supervised loss in place of GRPO's.

Invariant: everything else is the learner's: worker group, engine, optimiser, export. One `imitate` is one optimiser
step over all lessons handed in; the loss is the mean over reply tokens by their weights. It keeps no version and takes
no groups.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import training.grpo.platform  # noqa: F401  (first: verl asks for its platform while it is imported)

# isort: split
import numpy as np
import torch
from ray.exceptions import RayError
from tensordict import TensorDict
from verl.workers.utils.losses import sft_loss

from envpool.generation.lessons import Lesson
from training.grpo.batch import Row, arrange, batch_of, jagged
from training.grpo.errors import LearnerError
from training.grpo.learner import Learner
from training.policy.chat import encode, messages
from training.trajectory import Sample


class Pupil(Learner):
    """A learner whose `imitate` takes the place of `update`."""

    def loss(self) -> Callable[..., Any]:
        """verl's supervised loss."""
        return partial(sft_loss, None)

    def imitate(self, rows: Sequence[Row], lr: float) -> dict[str, float]:
        """One step at this learning rate; loss, gradient norm, tokens and seconds. Raises EmptyBatch, LearnerError."""
        started = time.monotonic()
        batch = supervised_batch(rows, self.settings.ranks, self.settings.micro_batch)
        try:
            self._call("set_lr", lr)
            output = self._train(batch)
        except RayError as error:  # for example one that Ray ended since memory ran out
            raise LearnerError(f"a step failed: {str(error).splitlines()[0]}") from error
        return {
            "loss": float(np.mean(output["loss"])),
            "grad_norm": float(np.mean(output["grad_norm"])),
            "tokens": float(sum(len(row.sample.token_ids) for row in rows)),
            "seconds": time.monotonic() - started,
        }


def row_of(tokenizer: Any, lesson: Lesson, weight: float = 1.0) -> Row:
    """A lesson in tokens, the end of the turn included; the prompt is laid out as an engine lays it out."""
    prompt = encode(tokenizer, messages(lesson.prompt))
    reply = [*tokenizer(lesson.reply, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]
    return Row(Sample(lesson.reply, prompt, reply, [0.0] * len(reply), 0, 0, True), 0.0, weight)


def supervised_batch(rows: Sequence[Row], ranks: int, micro_batch: int) -> TensorDict:
    """One batch for `TrainingWorker.train_mini_batch`; the loss mask covers prompts too, with 0. Raises EmptyBatch."""
    ordered, size = arrange([list(rows)], ranks, micro_batch)
    batch = batch_of(ordered, size, temperature=1.0)
    batch["loss_mask"] = jagged([_mask(row) for row in ordered])
    return batch


def _mask(row: Row) -> torch.Tensor:
    prompt, reply = len(row.sample.prompt_ids), len(row.sample.token_ids)
    return torch.cat([torch.zeros(prompt), torch.full((reply,), row.weight)])
