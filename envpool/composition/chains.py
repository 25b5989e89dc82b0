"""Chains as data: what the search is asked for, where it stands, and what it finds.

Invariant: the concrete input's trace comes first in a state, and a trace holds one value more than the
state has steps. A chain says nothing of who computed its values. Nothing here runs anything.
"""

from dataclasses import dataclass

from envpool.contract import Recipe
from envpool.frontier import Trace
from envpool.members import Program


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How far and how wide the search goes (RACES has depth and expansions; the values are ours)."""

    depth: int = 6
    """Steps of the longest chain."""
    expansions: int = 4
    """Extensions tried for a state."""
    frontier: int = 16
    """States extended at one depth, chosen at random; the others are chains too, but end there."""
    draws: int = 4
    """Inputs that travel together: the concrete one, and others that keep a chain from fitting it alone."""
    agreeing: int = 3
    """Draws, the concrete one among them, on which every step must run."""
    max_literal: int = 80
    """Characters of a value as a prompt writes it."""


@dataclass(frozen=True, slots=True)
class Chain:
    """Bricks that ran one after the other on a concrete input; a brick by itself is a chain of size 1."""

    members: tuple[str, ...]
    domain: str
    codomain: str
    values: tuple[object, ...]
    """The concrete input and each step's output, in wire form."""
    siblings: tuple[str, ...]
    """Other bricks that ran on one of the chain's states."""
    start: Recipe
    """The recipe that the concrete input was drawn with."""

    @property
    def size(self) -> int:
        return len(self.members)


@dataclass(frozen=True, slots=True)
class State:
    """A node of the search: the bricks so far and the draws that ran through them."""

    path: tuple[Program, ...]
    traces: tuple[Trace, ...]
