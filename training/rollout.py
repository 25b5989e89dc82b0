"""Playing a recipe: state the question, sample a group of answers, judge them.

Invariant: a response enters a group only with a verdict. An infrastructure failure drops the response and is
counted as such, and so, apart from it, is a proposed order that was killed; neither is ever a reward. A program that
fails on its own draw is reported, not scored. Everything that runs elsewhere (engine, sandbox) comes in as an async
callable; there is no Ray here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from envpool.contract import Failed, Instance, Outcome, Recipe, Scored
from envpool.execution import Examiner, ProgramFault
from training.policy.errors import GenerationRefused
from training.rewards import solver_reward
from training.trajectory import Group, Sample, Trajectory

Generate = Callable[[Sequence[str], int], Awaitable[list[list[Sample]]]]
"""Prompts and samples a prompt, to samples."""
LEAST_OF_A_GROUP = 2


@dataclass(frozen=True, slots=True)
class Played:
    """What came of one recipe."""

    recipe: Recipe
    instance: Instance | None = None
    group: Group | None = None
    """None when too few responses got a verdict."""
    attempts: int = 0
    successes: int = 0
    parsed: int = 0
    failures: int = 0
    """Infrastructure failures."""
    killed: int = 0
    """Responses without a verdict because the order that they propose was killed."""
    broken: str = ""
    """Why a member should be quarantined, when one should."""
    refused: str = ""
    """Why the policy cannot be asked: the prompt does not fit its context."""
    culprit: str = ""
    """That member: the recipe's own, or a part of a composite."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    """One row a response, for the samples table."""


class Rollout:
    """Plays recipes of the training side of the split for one policy."""

    def __init__(
        self, examiner: Examiner, generate: Generate, policy: str, group_size: int, format_bonus: float
    ) -> None:
        self._examiner = examiner
        self._generate = generate
        self._policy = policy
        self._group_size = group_size
        self._format_bonus = format_bonus

    async def play(self, recipe: Recipe, group_id: str) -> Played:
        """Raises InfrastructureFault when not even the question could be made."""
        try:
            instance = await self._examiner.build_split(recipe, held_out=False)
        except ProgramFault as fault:
            return Played(recipe, broken=str(fault), culprit=fault.member)
        if instance is None:
            return Played(recipe)
        try:
            samples = (await self._generate([instance.prompt], self._group_size))[0]
        except GenerationRefused as refusal:
            return Played(instance.recipe, refused=str(refusal))
        outcomes = await self._examiner.score_all(instance, [sample.text for sample in samples])
        return self._played(instance, samples, outcomes, group_id)

    def _played(
        self, instance: Instance, samples: Sequence[Sample], outcomes: Sequence[Outcome], group_id: str
    ) -> Played:
        judged = [
            (sample, outcome)
            for sample, outcome in zip(samples, outcomes, strict=True)
            if not isinstance(outcome, Failed)
        ]
        trajectories = tuple(self._trajectory(sample, outcome) for sample, outcome in judged)
        failed = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
        culprit, broken = next(((each.culprit, each.reason) for each in failed if each.culprit), ("", ""))
        group = None
        if len(trajectories) >= LEAST_OF_A_GROUP:
            group = Group(group_id, "solver", self._policy, instance.recipe.to_dict(), trajectories)
        return Played(
            recipe=instance.recipe,
            instance=instance,
            group=group,
            attempts=len(trajectories),
            successes=sum(item.success for item in trajectories),
            parsed=sum(item.parsed for item in trajectories),
            failures=sum(outcome.machine for outcome in failed),
            killed=sum(outcome.killed for outcome in failed),
            broken=broken,
            culprit=culprit,
            rows=[_row(instance, group_id, item) for item in trajectories],
        )

    def _trajectory(self, sample: Sample, outcome: Outcome) -> Trajectory:
        reward = solver_reward(outcome, self._format_bonus)
        return Trajectory(
            sample,
            reward=reward.verdict,
            success=isinstance(outcome, Scored) and outcome.success,
            parsed=isinstance(outcome, Scored),
            shaping=reward.shaping,
        )


def _row(instance: Instance, group_id: str, trajectory: Trajectory) -> dict[str, Any]:
    recipe, sample = instance.recipe, trajectory.sample
    return {
        "group": group_id, "member": recipe.member, "seed": recipe.seed, "level": recipe.level,
        "attempt": recipe.attempt, "prompt": instance.prompt, "response": sample.text,
        "reward": trajectory.reward, "shaping": trajectory.shaping, "success": trajectory.success,
        "parsed": trajectory.parsed, "tokens": len(sample.token_ids), "version_low": sample.version_low,
        "version_high": sample.version_high,
    }  # fmt: skip
