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
ENOUGH_ORDERS = 6
"""Type-fitting orders from which a chain is as good for SORT as one with more (ours): 3!, so that from three steps on
what one guesses is right one time in six and not every other time."""

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
    among = _of_the_search(found, usable)
    for chain in chains:
        if chain.size == size:
            steps = [usable[member] for member in chain.members]
            if operator != "SELECT":
                yield Candidate(fuse(operator, [steps]), (chain,))
            elif beside := _distractors(rng, chain, steps, among, distractors):
                yield Candidate(fuse(operator, [steps], beside), (chain,))


def left_by_guessing(steps: Sequence[Program]) -> float:
    """The share of the orders of a chain that its types let one try in vain, at most; more orders than ENOUGH_ORDERS
    make it no better.
    """
    orders = Proposals(steps, len(steps), steps[0].domain, steps[-1].codomain).count
    return 1 - 1 / min(orders, ENOUGH_ORDERS)


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


def _of_the_search(found: Sequence[Chain], usable: Programs) -> list[Program]:
    """All functions that a search came by: the steps of its chains, and what else ran beside them."""
    ids = dict.fromkeys(id for chain in found for id in (*chain.members, *chain.siblings))
    return [usable[id] for id in ids if id in usable and usable[id].oracle == "equality"]


def _distractors(
    rng: random.Random, chain: Chain, steps: Sequence[Program], among: Sequence[Program], count: int
) -> list[Program]:
    """Each the one that adds most orders to those whose types fit; among equals siblings of the chain come first.

    Of what is no sibling it is not known yet whether it runs on a state of this chain.
    """
    domains = {step.domain for step in steps}
    fitting = [each for each in among if each.domain in domains and each.id not in chain.members]
    rng.shuffle(fitting)
    left = sorted(fitting, key=lambda each: each.id not in chain.siblings)
    chosen: list[Program] = []
    while left and len(chosen) < count:
        gains: dict[tuple[str, str], int] = {}
        for each in left:
            if (kind := (each.domain, each.codomain)) not in gains:
                shown = [*steps, *chosen, each]
                gains[kind] = Proposals(shown, len(steps), chain.domain, chain.codomain).count
        most = max(gains.values())
        place = next(n for n, each in enumerate(left) if gains[each.domain, each.codomain] == most)
        chosen.append(left.pop(place))
    return chosen
