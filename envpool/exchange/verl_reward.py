"""verl's reward function: the verdict of the pool's own sandbox on a response to a row of an export.

verl loads `envolve_reward.py` of an export by its path, in each of its reward workers, and calls `compute_score` there
from several threads; some of its reward managers hand it to processes of their own.

Invariant: a reward is a verdict. Where there is none, NoVerdict is raised: verl's reward workers have no way to drop a
sample, and 0 would be a lie. Its reward managers naive, dapo, gdpo and remote let it end the step (0.9.1). It does not
mend what others make of it: rate_limited, and prime of the older ones, put a reward of 0 in its place.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from envpool.contract import Instance, Scored
from envpool.exchange.instances import instance_from
from envpool.exchange.rewards import NoVerdict, reward_of
from envpool.exchange.scoring import PAUSES, Scoring
from envpool.exchange.snapshot import SnapshotError


class Rewards:
    """Scores responses to the rows of one export. Safe from several threads, across forks, and where it is pickled."""

    def __init__(
        self, folder: Path, packages: tuple[str, ...] = (), pauses: Sequence[float] = PAUSES
    ) -> None:
        self._folder, self._packages = folder, packages
        self._scoring = Scoring(folder, packages, pauses)
        self._fingerprint = ""  # hashed at the first call, since a pool may have thousands of members

    def __reduce__(self) -> tuple[Any, ...]:
        return rewards_of, (self._folder, self._packages)

    def compute_score(
        self,
        data_source: str,
        solution_str: str,
        ground_truth: str,
        extra_info: Mapping[str, Any] | None = None,
        **ignored: Any,
    ) -> dict[str, float]:
        """`score`: the verdict in [0, 1]; `acc`: whether it is 1; `parsed`: whether an answer could be read.

        Raises NoVerdict, SnapshotError where the row is of another export, SandboxUnavailable.
        """
        instance = self._instance(extra_info or {})
        try:
            outcome = self._scoring.outcome(instance, solution_str)
        except NoVerdict as error:
            member = instance.recipe.member
            raise NoVerdict(
                replace(error.failed, reason=f"no verdict on a response to {member}: {error}")
            ) from error
        score = reward_of(outcome)
        return {"score": score, "acc": float(score == 1.0), "parsed": float(isinstance(outcome, Scored))}

    def close(self) -> None:
        """Ends the sandbox of this process; the next call would start another."""
        self._scoring.close()

    def _instance(self, row: Mapping[str, Any]) -> Instance:
        ours = self._fingerprint = self._fingerprint or self._scoring.pool.fingerprint
        if row.get("fingerprint") != ours:
            raise SnapshotError(
                f"a row of the pool {row.get('fingerprint')!r} was to be scored by {self._folder}, whose pool is "
                f"{ours!r}: take the data files and the reward function from one export"
            )
        # Scoring looks at no prompt, and verl does not hand it on.
        return instance_from(json.loads(row["scoring"]), prompt="")


@cache
def rewards_of(folder: Path, packages: tuple[str, ...] = ()) -> Rewards:
    """The one that this process has for an export. `packages`: as `Pool.open` has them."""
    return Rewards(folder, packages)
