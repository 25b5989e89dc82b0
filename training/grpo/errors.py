"""How a learner's group fails. Light to import, so that whoever only watches for it need not load verl."""

from __future__ import annotations


class LearnerError(RuntimeError):
    """A call failed on a rank, or came at a moment it cannot."""


class LearnerRankLost(LearnerError):
    """A rank died; `Learner.restart` builds the group anew."""
