"""How a grammar program draws its input: bodies of `sample` by kind.

Easy at level 0 and growing with the level, so that no level is the end. Text only, nothing here is executed.
"""

import random
from dataclasses import dataclass

from envpool.generation.parts import Kind


@dataclass(frozen=True, slots=True)
class Sampler:
    """What the rule says of the input, the lines that draw it, and the condition on inputs from elsewhere."""

    sentence: str
    body: tuple[str, ...]
    accepts: str = ""


_NUMBERS = tuple(
    Sampler(
        "The input is a list of integers.",
        (
            f"count = {count} + {growth} * level",
            f"return [rng.randint({low}, {high} + {rise} * level) for _ in range(count)]",
        ),
    )
    for count, growth, low, high, rise in (
        (3, 2, 1, 9, 3),
        (3, 1, 1, 9, 10),
        (4, 1, 1, 9, 5),
        (4, 2, 0, 9, 2),
    )
)

_LETTERS = "aabdeeeghiiklmnoorsttuy"

_WORDS = tuple(
    Sampler(
        "The input is a list of lower-case words.",
        (
            f"count = {count} + level",
            f'return ["".join(rng.choices("{_LETTERS}", k=rng.randint({low}, {high} + level // 2))) '
            "for _ in range(count)]",
        ),
        'all("a" <= c <= "z" for w in x for c in w)',
    )
    for count, low, high in ((2, 2, 4), (3, 1, 3), (3, 2, 4))
)

_TEXT = tuple(
    Sampler(
        "The input is a word of lower-case letters.",
        (f'return "".join(rng.choices("{_LETTERS}", k=rng.randint({low}, {high}) + {growth} * level))',),
        'all("a" <= c <= "z" for c in x)',
    )
    for low, high, growth in ((3, 4, 1), (3, 5, 1), (4, 5, 2))
)

_NUMBER = tuple(
    Sampler(
        "The input is a whole number.",
        (f"return rng.randint({low}, min(10_000, {high} + {rise} * level))",),
        "0 <= x <= 10_000",
    )
    for low, high, rise in ((1, 9, 10), (2, 15, 15), (1, 20, 30))
)

_SAMPLERS = {Kind.NUMBERS: _NUMBERS, Kind.WORDS: _WORDS, Kind.TEXT: _TEXT, Kind.NUMBER: _NUMBER}


def sampler_for(kind: Kind, rng: random.Random) -> Sampler:
    """One of the ways to draw an input of this kind."""
    return rng.choice(_SAMPLERS[kind])
