"""The typed parts the grammar generator composes.

A part turns one kind of value into another and carries the same step twice: as an English clause and as a
Python expression. Both come from one line of a table, so rule and code cannot drift apart.
"""

from envpool.generation.parts.numbers import NUMBERS
from envpool.generation.parts.part import Kind, Part, PartKind
from envpool.generation.parts.scalar import SCALAR
from envpool.generation.parts.text import TEXT
from envpool.generation.parts.words import WORDS

PARTS: tuple[Part, ...] = (*NUMBERS, *TEXT, *WORDS, *SCALAR)

__all__ = ["PARTS", "Kind", "Part", "PartKind"]
