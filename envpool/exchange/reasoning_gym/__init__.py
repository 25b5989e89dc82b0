"""reasoning-gym's tasks as programs of our contract.

    programs(["word_sorting", "gcd"])       # or ["all"]; an Offer each, with its source
    HELD_OUT                                # the tasks that are set apart for evaluation

`task` says what a program of a task is, `held_out` which are set apart and why. Nothing is judged here: an offer goes
through the gates like everything else. It needs the package reasoning-gym (`pip install envolve[reasoning-gym]`), in
the process that calls `programs` and in the sandbox that runs them.
"""

from envpool.exchange.reasoning_gym.held_out import HELD_OUT
from envpool.exchange.reasoning_gym.task import FAMILY, PACKAGE, programs, tasks

__all__ = ["FAMILY", "HELD_OUT", "PACKAGE", "programs", "tasks"]
