"""From an outcome to the number that a trainer gets.

Invariant: where there is no verdict there is no number; a trainer drops the sample, or asks again.
"""

from typing import Self

from envpool.contract import Failed, Outcome, Scored


class NoVerdict(RuntimeError):
    """The machine failed, or the member that judges: nothing is known of the response, and nothing is rewarded."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed.reason)
        self.failed = failed

    def __reduce__(self) -> tuple[type[Self], tuple[Failed]]:
        """Of what it was made, so that a worker process can send it."""
        return type(self), (self.failed,)


def reward_of(outcome: Outcome) -> float:
    """The verdict in [0, 1]; 0 for a response without a readable answer. Raises NoVerdict."""
    if isinstance(outcome, Failed):
        raise NoVerdict(outcome)
    return float(outcome.score) if isinstance(outcome, Scored) else 0.0
