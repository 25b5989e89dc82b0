"""Worked examples of writing: a request as a run makes it, and programs of the grammar as replies to it.

Invariant: a program of a chain that is set apart is never a reply, so that it can be told later whether who learned
from these only repeats them. Lesson k of a seed is the same text on every machine. Text only; nothing is executed.
"""

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from envpool.contract import seeded
from envpool.generation.grammar import Grammar, Proposal
from envpool.generation.prompts import proposal_prompt

STREAM = 1_000_000
"""Added to a seed, so that no run's own grammar writes the stream of programs that lessons are made of."""
APART_ONE_IN = 10
"""Chains of parts that are kept from lessons (ours)."""
LONGEST = 2
"""Parts of a program: of three, a policy that is taught this way solves too few to calibrate them (ours)."""
SHIPPED_PARENTS = 0.5
"""Share of requests that show a shipped program; others show one of the grammar, as in a pool that grew (ours)."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A prompt and the reply to learn."""

    prompt: str
    reply: str


def fenced(source: str) -> str:
    """A program as a reply holds it."""
    return f"```python\n{source.strip()}\n```"


def set_apart(proposal: Proposal) -> bool:
    """Whether the chain of parts is kept from lessons, whatever its sampler."""
    return hashlib.sha256("+".join(proposal.notes).encode()).digest()[0] % APART_ONE_IN == 0


def teachable(proposal: Proposal) -> bool:
    """Whether a program of the grammar may be in a lesson."""
    return len(proposal.notes) <= LONGEST and not set_apart(proposal)


def oracle_text(source: str) -> str:
    """The lines of `solve`, by which programs that differ in names, rule or sampler alone are one."""
    body = source.partition("def solve")[2].partition("\n    def ")[0]
    return " ".join(body.split())


class WritingLessons:
    """Batches of lessons that share one request; `parents` are sources of shipped programs."""

    def __init__(self, parents: Sequence[str], seed: int, replies: int) -> None:
        self._parents = list(parents)
        self._seed = seed
        self._replies = replies
        self._grammar = Grammar(STREAM + seed)
        self.taught: set[str] = set()
        """Sources that were replies so far."""

    def __iter__(self) -> Iterator[list[Lesson]]:
        """Without end; no program is taught twice."""
        number = 0
        while True:
            rng = seeded(f"lessons:{self._seed}:{number}")
            request = proposal_prompt([self._parent(rng)])
            yield [Lesson(request, fenced(self._next())) for _ in range(self._replies)]
            number += 1

    def _parent(self, rng: random.Random) -> str:
        if self._parents and rng.random() < SHIPPED_PARENTS:
            return rng.choice(self._parents)
        return self._next()

    def _next(self) -> str:
        while True:
            (proposal,) = self._grammar.write(1)
            if teachable(proposal) and proposal.source not in self.taught:
                self.taught.add(proposal.source)
                return proposal.source


def oracles_apart(seed: int, among: int = 20_000) -> set[str]:
    """Oracles of the chains that are set apart, of the first proposals of the lessons' stream."""
    return {oracle_text(each.source) for each in Grammar(STREAM + seed).write(among) if set_apart(each)}
