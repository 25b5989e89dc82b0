"""The split of instances: an eighth of all prompts is kept for evaluation, by a hash of the prompt.

Invariant: the side depends on the prompt's text alone, so a question never stands on both sides, whatever
member, seed or level it was drawn from. Families that are held out whole are marked on their members
instead.
"""

from envpool.contract import Instance

HELD_OUT_ONE_IN = 8


def is_held_out(instance: Instance) -> bool:
    """Whether the instance is kept for evaluation and never trained on (ours)."""
    return int(instance.digest[:8], 16) % HELD_OUT_ONE_IN == 0
