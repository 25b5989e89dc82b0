"""The census of a set of bricks: which types lead where, how many chains there are, and who is used how often.

Invariant: pure functions of programs and composites, so the same set gives the same census. Chains are counted by
their types alone; whether one runs on an input is the search's business. Nothing here composes or runs anything.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from envpool.composition.chains import SearchSettings
from envpool.members import Composite, Program

LONGEST = SearchSettings().depth
EVEN = 5.0
"""How many times the mean use the most used brick may have (the issue's bound on coverage)."""
ENOUGH = 20.0
"""Mean uses of a brick from which a sample tells whether the use is even (ours).

A brick a quarter as likely as the mean is then left out by chance in fewer than 1 of 100 samples (e^-5).
"""


@dataclass(frozen=True, slots=True)
class TypeGraph:
    """Types as nodes, bricks as edges between them; only functions with one right answer lead on."""

    bricks: Mapping[tuple[str, str], int]
    """Bricks by (domain, codomain)."""
    chains: Mapping[str, tuple[int, ...]]
    """By domain, the sequences of 1 to LONGEST bricks whose types fit; they may hold a brick twice."""

    @property
    def domains(self) -> list[str]:
        """Types that some brick starts from, in order."""
        return sorted(self.chains)

    def leads_to(self, domain: str) -> dict[str, int]:
        """Bricks by codomain, the most first."""
        found = {codomain: count for (start, codomain), count in self.bricks.items() if start == domain}
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    def arriving(self, type_text: str) -> int:
        """Bricks whose output is of the type."""
        return sum(count for (_, codomain), count in self.bricks.items() if codomain == type_text)

    def longest(self, domain: str) -> int:
        """Bricks in the longest chain from the type, LONGEST at most."""
        return sum(count > 0 for count in self.chains[domain])

    def lengths(self) -> list[int]:
        """Chains of each length from 1 to LONGEST, whatever they start from."""
        return [sum(counts) for counts in zip(*self.chains.values(), strict=True)]


def type_graph(programs: Iterable[Program]) -> TypeGraph:
    """The graph of the programs that may stand inside a chain: equality oracles."""
    bricks = Counter((each.domain, each.codomain) for each in programs if each.oracle == "equality")
    domains = {domain for domain, _ in bricks}
    chains: dict[str, list[int]] = {domain: [] for domain in domains}
    after = dict.fromkeys(domains | {codomain for _, codomain in bricks}, 1)
    for _ in range(LONGEST):
        before = dict.fromkeys(after, 0)
        for (domain, codomain), count in bricks.items():
            before[domain] += count * after[codomain]
        for domain in domains:
            chains[domain].append(before[domain])
        after = before
    return TypeGraph(dict(bricks), {domain: tuple(counts) for domain, counts in chains.items()})


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often each brick stands in a sample of composites; distractors are not counted."""

    kinds: Mapping[tuple[str, int], int]
    """Composites by (operator, size)."""
    uses: Mapping[str, int]
    """By id of every brick that was there to be used."""

    @property
    def composites(self) -> int:
        return sum(self.kinds.values())

    @property
    def mean(self) -> float:
        """Uses of a brick; 0 where there are no bricks."""
        return sum(self.uses.values()) / len(self.uses) if self.uses else 0.0

    @property
    def unused(self) -> list[str]:
        return sorted(id for id, count in self.uses.items() if not count)

    @property
    def peak(self) -> float:
        """Uses of the most used brick over the mean; 0 where nothing is used."""
        return max(self.uses.values()) / self.mean if self.mean else 0.0

    @property
    def enough(self) -> int | None:
        """Composites like these from which on a sample tells whether the use is even; None where nothing is used."""
        steps = sum(self.uses.values())
        return math.ceil(ENOUGH * len(self.uses) * self.composites / steps) if steps else None

    @property
    def even(self) -> bool | None:
        """Whether every brick is used and none more than EVEN times the mean; None: the sample is too small to tell."""
        if self.mean < ENOUGH:
            return None
        return not self.unused and self.peak <= EVEN


def coverage(bricks: Sequence[str], composites: Iterable[Composite]) -> Coverage:
    """The use of the bricks (ids) in the composites."""
    kinds: Counter[tuple[str, int]] = Counter()
    uses: Counter[str] = Counter()
    for composite in composites:
        kinds[composite.operator, composite.size] += 1
        uses.update(id for chain in composite.chains for id in chain)
    return Coverage(dict(sorted(kinds.items())), {id: uses[id] for id in bricks})
