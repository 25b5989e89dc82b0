"""Proposals as trajectories: what a policy earns for the environments it wrote (role-conditioned GRPO, EvoEnv).

Invariant: the reward of a proposal comes from its verdict alone, validation, quality at the calibrated success
rate, novelty; a penalty for what fails the early gates is shaping, kept apart. Every part stays with the proposal. One
without a verdict, because the infrastructure failed, never gets here. The learner scales a generator group's
advantages, not this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from envpool.novelty.neighbours import BONUS_HIGH, BONUS_LOW, bonus
from training.rewards import GENERATOR_WEIGHTS, GeneratorReward, GeneratorWeights, generator_reward
from training.trajectory import Group, Sample, Trajectory

UNREADABLE = ("reply", "size", "L1")
"""Gates at which a reply falls that holds no program."""
REWARD_PARTS = tuple(GeneratorReward().parts())
"""Parts of a reward, and the total."""
PENALISED = ("reply", "size", "L1", "imports", "scan", "L2", "L3", "L4")
"""L1 to L4 and what belongs to them (EvoEnv punishes these)."""


@dataclass(frozen=True, slots=True)
class ProposalRewards:
    """How verdicts become rewards; see `GeneratorWeights` for the shares."""

    bonus_low: float = BONUS_LOW
    bonus_high: float = BONUS_HIGH
    penalty: float = 0.0
    """Shaping of a proposal that fails L1 to L4; at most 0 (ours: even -0.1 collapsed another system's proposer)."""
    weights: GeneratorWeights = GENERATOR_WEIGHTS


def proposal_reward(verdict: Mapping[str, Any], rewards: ProposalRewards) -> GeneratorReward:
    """What a proposal with this verdict (`Verdict.to_dict()`) earns, part by part."""
    evidence = verdict["evidence"]
    similarity = evidence.get("similarity")
    novelty = 0.0 if similarity is None else bonus(similarity, rewards.bonus_low, rewards.bonus_high)
    shaping = rewards.penalty if verdict["gate"] in PENALISED else 0.0
    return generator_reward(
        bool(verdict["valid"]), evidence.get("success_rate"), novelty, shaping, rewards.weights
    )


def proposal_group(
    id: str,
    policy: str,
    samples: Sequence[Sample],
    verdicts: Sequence[Mapping[str, Any]],
    rewards: ProposalRewards,
) -> Group:
    """The generator group of one prompt; `verdicts` are `Verdict.to_dict()`, parallel to `samples`."""
    pairs = zip(samples, verdicts, strict=True)
    return Group(
        id, "generator", policy, {}, tuple(_trajectory(sample, verdict, rewards) for sample, verdict in pairs)
    )


def _trajectory(sample: Sample, verdict: Mapping[str, Any], rewards: ProposalRewards) -> Trajectory:
    reward = proposal_reward(verdict, rewards)
    return Trajectory(
        sample,
        reward=reward.verdict,
        success=bool(verdict["admitted"]),
        parsed=verdict["gate"] not in UNREADABLE,
        shaping=reward.shaping,
        parts=reward.parts(),
    )
