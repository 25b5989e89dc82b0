"""The split of instances: an eighth of all questions is kept for evaluation, by a hash of the prompt.

Invariant: the side depends on the prompt's text alone, so a question never stands on both sides, whatever
member, seed or level it was drawn from. Families that are held out whole are marked on their members instead.
"""

import hashlib

from envpool.contract import Instance

HELD_OUT_ONE_IN = 8


def is_held_out(instance: Instance) -> bool:
    """Whether the instance is kept for evaluation and never trained on (ours)."""
    return _held_out(instance.digest)


def is_held_out_prompt(prompt: str) -> bool:
    """The same of a question that is known by its prompt alone."""
    return _held_out(hashlib.sha256(prompt.encode()).hexdigest())


def _held_out(digest: str) -> bool:
    return int(digest[:8], 16) % HELD_OUT_ONE_IN == 0
