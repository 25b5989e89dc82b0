"""The composites that found chains could make, an operator at a time, before anything is known of their worth.

Invariant: everything here is decided by the random generator and the chains given, and goes through `fuse`, so types
fit. One chain may stand under several operators. Quotas, what is known already and guess rates are the composer's.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from envpool.composition.chains import Chain
from envpool.composition.fusion import fuse
from envpool.composition.proposals import Proposals
from envpool.members import Composite, OperatorName, Program

CHAINED_PROBLEMS = 0.25
"""Share of PARALLEL problems that are chains of two steps, where there is room (ours)."""

Programs = Mapping[str, Program]
"""The bricks that may be used, by id."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A composite and the chains that it is made of, in its order."""

    composite: Composite
    chains: tuple[Chain, ...]


def candidates(
    operator: OperatorName,
    size: int,
    rng: random.Random,
    found: Sequence[Chain],
    usable: Programs,
    distractors: int,
) -> Iterator[Candidate]:
    """Composites of `size` programs out of chains of usable bricks; SELECT with up to so many distractors."""
    chains = [chain for chain in found if all(member in usable for member in chain.members)]
    if operator == "PARALLEL":
        yield from _parallel(rng, chains, size, usable)
        return
    for chain in chains:
        if chain.size == size:
            steps = [usable[member] for member in chain.members]
            if operator != "SELECT":
                yield Candidate(fuse(operator, [steps]), (chain,))
            elif beside := _distractors(rng, chain, steps, usable, distractors):
                yield Candidate(fuse(operator, [steps], beside), (chain,))


def _parallel(
    rng: random.Random, chains: Sequence[Chain], size: int, usable: Programs
) -> Iterator[Candidate]:
    """Problems of `size` programs together, none twice, in the order of their ids; none where too few fit."""
    problems: list[Chain] = []
    used: set[str] = set()
    for chain in rng.sample(chains, len(chains)):
        # One problem alone would be no PARALLEL, so the first leaves room for another.
        room = min(size - len(used), size - 1)
        longest = 2 if rng.random() < CHAINED_PROBLEMS else 1
        if chain.size <= min(room, longest) and used.isdisjoint(chain.members):
            problems.append(chain)
            used.update(chain.members)
    if len(used) == size:
        problems.sort(key=lambda chain: chain.members)
        steps = [[usable[member] for member in chain.members] for chain in problems]
        yield Candidate(fuse("PARALLEL", steps), tuple(problems))


def _distractors(
    rng: random.Random, chain: Chain, steps: Sequence[Program], usable: Programs, count: int
) -> list[Program]:
    """Siblings of the chain, each the one that adds most orders to those whose types fit; at random among equals."""
    domains = {step.domain for step in steps}
    beside = [usable[each] for each in chain.siblings if each in usable and each not in chain.members]
    left = [each for each in beside if each.domain in domains]
    rng.shuffle(left)
    chosen: list[Program] = []
    while left and len(chosen) < count:
        shown = [*steps, *chosen]
        fitting = [Proposals([*shown, each], len(steps), chain.domain, chain.codomain).count for each in left]
        chosen.append(left.pop(fitting.index(max(fitting))))
    return chosen
