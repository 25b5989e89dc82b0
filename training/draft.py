"""A draft: the replies to one prompt for environments, kept until every one of them is judged.

Purpose: whatever is judged can be traced to who wrote it, the prompt, the parents shown in it and the policy version,
also where the process that asked for it was killed in the middle. Frozen and plain; it judges and earns nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from training.rewards import GeneratorReward
from training.trajectory import Sample


@dataclass(frozen=True, slots=True)
class Draft:
    """One prompt, the parents that it shows, and the replies."""

    id: str
    """Also of the group that its proposals form."""
    writer: str
    """The policy's name."""
    model: str
    prompt: str
    parents: tuple[str, ...]
    """Ids of members, in the order in which the prompt shows them."""
    samples: tuple[Sample, ...]

    def origin(self, index: int) -> dict[str, Any]:
        """What the pool keeps of a reply beside its verdict; `id` is one proposal's and no other's."""
        sample = self.samples[index]
        return {
            "id": f"{self.id}/{index}",
            "writer": self.writer,
            "model": self.model,
            "version_low": sample.version_low,
            "version_high": sample.version_high,
        }

    def row(self, index: int, verdict: Mapping[str, Any], reward: GeneratorReward) -> dict[str, Any]:
        """Everything about one proposal; `verdict` is `Verdict.to_dict()`."""
        origin, evidence = self.origin(index), verdict["evidence"]
        return {
            "proposal": origin.pop("id"), "group": self.id, **origin,
            "prompt": self.prompt, "parents": list(self.parents), "reply": self.samples[index].text,
            "finished": self.samples[index].finished, "id": verdict["id"],
            "admitted": bool(verdict["admitted"]), "gate": verdict["gate"], "reason": verdict["reason"],
            "success_rate": evidence.get("success_rate"), "level": evidence.get("level"),
            "similarity": evidence.get("similarity"), "nearest": evidence.get("nearest", ""),
            **reward.parts(),
        }  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for msgpack."""
        return {
            "id": self.id, "writer": self.writer, "model": self.model, "prompt": self.prompt,
            "parents": list(self.parents), "samples": [sample.to_dict() for sample in self.samples],
        }  # fmt: skip

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Draft:
        """The inverse of `to_dict`. Raises TypeError, KeyError or MalformedTrajectory for anything else."""
        samples = tuple(map(Sample.from_dict, data["samples"]))
        return cls(**{**data, "parents": tuple(data["parents"]), "samples": samples})
