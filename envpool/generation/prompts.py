"""What a policy is asked when it writes an environment: the contract in short, then parents as examples.

The paper shows seeds and admitted environments as examples (EvoEnv, generator); the wording is ours. Choosing
the parents is the caller's business.
"""

from collections.abc import Sequence

CONTRACT = """\
Write one new reasoning environment as a Python program: one class derived from Environment, with

- rule: a string that states the question completely, without the concrete input.
- sample(self, rng, level): draws an input. Level 0 is trivial, each level is clearly harder. All randomness
  comes from rng.
- solve(self, x: X) -> Y: computes the one right answer. X and Y are written with int, bool, str, list[...],
  tuple[...] or dict[...].
- Where answers are hard to find but easy to check, leave out solve: sample returns Planted(x, solution), and
  verify(self, x: X, answer: Y) -> float returns 1.0 for a valid answer and 0.0 otherwise.

Import only from the Python standard library (no files, network or clock), and Environment and Planted from
envpool. The same rng always gives the same input, the same input the same answer: never depend on the order
of a set."""

REQUEST = """\
Now write one new environment that asks for a different kind of reasoning than the examples. Reply with the
complete program in one ```python block."""


def proposal_prompt(parents: Sequence[str]) -> str:
    """The request with the sources of the parents as examples."""
    examples = [
        f"Example {number}:\n\n```python\n{source.strip()}\n```" for number, source in enumerate(parents, 1)
    ]
    return "\n\n".join((CONTRACT, *examples, REQUEST))
