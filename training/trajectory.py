"""What the learner learns from: sampled responses, their verdicts, and the groups they form.

Purpose: frozen records that travel between actors as plain dicts. Invariant: `token_ids` and `logprobs` are
parallel, one log-probability (natural log, at the sampling temperature) for every response token. It holds no
advantage: that is computed over the whole batch (`training/grpo/batch.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

Role = Literal["solver", "generator"]

VARIANCE_FLOOR = 1e-6
"""Smallest spread of returns (reward plus shaping) in a group that still carries a gradient."""


class MalformedTrajectory(ValueError):
    """A sample, trajectory or group that no learner may see."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One response of a policy; versions are the lowest and highest policy that wrote a token of it."""

    text: str
    prompt_ids: list[int]
    token_ids: list[int]
    logprobs: list[float]
    version_low: int
    version_high: int
    finished: bool

    def __post_init__(self) -> None:
        if len(self.token_ids) != len(self.logprobs):
            raise MalformedTrajectory(
                f"{len(self.token_ids)} tokens with {len(self.logprobs)} log-probabilities"
            )
        if self.version_low > self.version_high:
            raise MalformedTrajectory(f"versions run backwards: {self.version_low} > {self.version_high}")

    def to_dict(self) -> dict[str, Any]:
        """A dict of plain values, for msgpack and Ray; it shares the lists, which `asdict` copies number by number."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Sample:
        """The inverse of `to_dict`."""
        return cls(**data)


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A judged sample. `reward` is the verdict in [0, 1]; `shaping` is trained on as well but kept apart."""

    sample: Sample
    reward: float
    success: bool
    parsed: bool
    shaping: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)
    """What the reward is made of, where it has parts (a generator's); nothing is computed from them."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.reward <= 1.0:
            raise MalformedTrajectory(f"reward {self.reward} is outside [0, 1]")
        if not math.isfinite(self.shaping):
            raise MalformedTrajectory(f"shaping {self.shaping} is not finite")

    @property
    def value(self) -> float:
        """The return the advantage is computed from."""
        return self.reward + self.shaping

    def to_dict(self) -> dict[str, Any]:
        """A dict of plain values, for msgpack and Ray."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        return plain | {"sample": self.sample.to_dict(), "parts": dict(self.parts)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Trajectory:
        """The inverse of `to_dict`."""
        return cls(**{**data, "sample": Sample.from_dict(data["sample"])})


@dataclass(frozen=True, slots=True)
class Group:
    """All responses of one policy to one prompt in one role; what a GRPO baseline is taken over."""

    id: str
    role: Role
    policy: str
    recipe: dict[str, Any]
    trajectories: tuple[Trajectory, ...]

    def __post_init__(self) -> None:
        if not self.trajectories:
            raise MalformedTrajectory(f"group {self.id} is empty")

    @property
    def has_variance(self) -> bool:
        """Whether any advantage differs from zero (spread over the whole group)."""
        values = [trajectory.value for trajectory in self.trajectories]
        return max(values) - min(values) > VARIANCE_FLOOR

    @property
    def version_low(self) -> int:
        """The oldest policy version that wrote any token of the group."""
        return min(trajectory.sample.version_low for trajectory in self.trajectories)

    @property
    def version_high(self) -> int:
        """The newest policy version that wrote any token of the group."""
        return max(trajectory.sample.version_high for trajectory in self.trajectories)

    def restamped(self, version: int) -> Group:
        """The same group, counted as written by `version`: for one that is trained again after weights fell back."""
        trajectories = tuple(
            replace(item, sample=replace(item.sample, version_low=version, version_high=version))
            for item in self.trajectories
        )
        return replace(self, trajectories=trajectories)

    def to_dict(self) -> dict[str, Any]:
        """A dict of plain values, for msgpack and Ray."""
        plain = {"id": self.id, "role": self.role, "policy": self.policy, "recipe": dict(self.recipe)}
        return plain | {"trajectories": [trajectory.to_dict() for trajectory in self.trajectories]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Group:
        """The inverse of `to_dict`."""
        trajectories = tuple(Trajectory.from_dict(item) for item in data["trajectories"])
        return cls(**{**data, "trajectories": trajectories})
