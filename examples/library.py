"""A pool as a library: draw questions, answer them, score the answers. Needs Envolve's base install alone."""

import sys

from envpool import NoVerdict, Pool, Sandbox, reward_of
from envpool.sandbox import Call


def solve(prompt: str) -> str:
    """Your model goes here."""
    return f"{len(prompt)} characters, so I say <answer>4</answer>"


with Pool.open(sys.argv[1] if len(sys.argv) > 1 else "pool") as pool:  # a run's folder, a backup, an export
    print(f"{len(pool.ids())} members, fingerprint {pool.fingerprint}")
    for instance in pool.sample(8, seed=1, level=1):
        try:
            print(f"{reward_of(pool.score(instance, solve(instance.prompt))):.2f}  {instance.prompt[:60]!r}")
        except NoVerdict as error:  # the machine failed: drop the sample, never reward it with 0
            print(error)

    program = next(
        each for each in map(pool.get, pool.ids()) if each.signature == "list[int] -> int"
    ).material
with Sandbox() as sandbox:  # the same walls for any program of the contract
    print(program.rule, sandbox.run(program.source, [Call("solve", ([3, 1, 2],))]))
