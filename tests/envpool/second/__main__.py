"""Writes what the author of second implementations may know of each brick: never its code, never an output.

    python -m tests.envpool.second FILE [NAME_OR_PATTERN ...]

FILE gets the form of a module, then name, signature, rule and inputs of each brick chosen ("graphs/*"), or of all.
"""

import argparse
from pathlib import Path

from envpool.bricks import read_bricks
from envpool.signatures import literal
from tests.envpool.composition.in_process import Brick, bricks
from tests.envpool.second.trials import accepted, drawn, passed_on

SHOWN_A_LEVEL = 3
SHOWN_OF_OTHERS = 6

FORM = '''\
Second implementations of bricks.

Each brick below has a name, a signature, a rule and example inputs (Python literals). Write a function for each brick
that does what its rule says, for every value of its domain that the examples and the rule leave possible. The result
is a plain Python value of exactly the codomain: True is no int, a tuple is no list. Go by the rule as it is written;
where it leaves something open, write that down for the one who asked you, and do the most natural thing.

The functions of a topic (the part of a name before the slash) go into tests/envpool/second/<topic>.py, which ends with
a dict from the full names to the functions:

    """Second implementations of the bricks of <topic>, from their rules alone."""

    def add_one(x: int) -> int:
        return x + 1

    IMPLEMENTATIONS = {"<topic>/add_one": add_one}

Check with: python -m pytest tests/envpool/test_second_implementations.py -k "<topic>/"
'''


def described(brick: Brick, others: list[object]) -> str:
    """A brick as its second author sees it."""
    facts = brick.program
    lines = [f"## {brick.name}", f"signature: {facts.domain} -> {facts.codomain}", f"rule: {facts.rule}"]
    lines += [
        f"level {level}: {literal(x)}"
        for level, inputs in drawn(brick, 2 * SHOWN_A_LEVEL).items()
        for x in inputs[:SHOWN_A_LEVEL]
    ]
    return "\n".join([*lines, *(f"from another brick: {literal(x)}" for x in others)])


def exported(chosen: list[str] | None) -> tuple[str, int]:
    """The whole text, and how many bricks it describes. Raises UnknownBrick."""
    names = [name for name, _ in read_bricks(chosen)]
    passed = passed_on(bricks())
    parts = [
        described(brick, accepted(brick, passed, SHOWN_OF_OTHERS))
        for brick in bricks()
        if brick.name in names
    ]
    return "\n\n".join([FORM, *parts]) + "\n", len(names)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("chosen", nargs="*", help="names or patterns of bricks; all where none is given")
    given = parser.parse_args()
    text, count = exported(given.chosen or None)
    given.file.write_text(text, encoding="utf-8")
    parser.exit(message=f"{count} bricks in {given.file}\n")


if __name__ == "__main__":
    main()
