"""How the values of keys may be written, in a file or on a command line, and what they then are.

Invariant: what a type here lets through is complete and plain; what it refuses it refuses with the way out. Which keys
there are is `cluster.sections`'s.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field

from envpool.members import OperatorName

SMALLEST, LARGEST = 2, 12
"""Programs in a composite. RACES studies 2 to 6; longer chains are seldom found, and their prompts are long."""


def _split(given: Any) -> Any:
    """`a,b` or `a` for a list, as it is typed on a command line."""
    return [name.strip() for name in given.split(",") if name.strip()] if isinstance(given, str) else given


def _names(given: Any) -> Any:
    """The same, and `none` for no name."""
    return [] if given == "none" else _split(given)


def _listed(given: Any) -> Any:
    """The same for what may also be chosen by one word."""
    return given if given in ("all", "none") else _split(given)


def _operators(given: tuple[OperatorName, ...]) -> tuple[OperatorName, ...]:
    """At least one, each once."""
    if not given:
        raise ValueError(f"no operator is named; write one or several of {','.join(get_args(OperatorName))}")
    return tuple(dict.fromkeys(given))


def _switch(given: Any) -> Any:
    """`off` as the word that it is here; to YAML it is a no."""
    return "off" if given is False else given


def _base_url(given: str) -> str:
    """What a client of an OpenAI-compatible server begins its addresses with."""
    if given and not re.match(r"https?://[^/\s]+\S*$", given):
        raise ValueError(f"{given!r} is no base URL; write it as http://HOST:8000/v1")
    if given.rstrip("/").endswith("/completions"):
        raise ValueError(f"{given!r} is the address of a single call; give the base URL, which ends with its version")
    return given


def _sizes(given: Any) -> tuple[int, ...]:
    """`5`, `2-6` or `2,4` for the numbers they stand for, rising."""
    parts = given if isinstance(given, (list, tuple)) else str(given).split(",")
    found: set[int] = set()
    for part in map(str, parts):
        low, dash, high = (text.strip() for text in part.partition("-"))
        try:
            first, last = int(low), int(high if dash else low)
        except ValueError:
            raise ValueError(f"{given!r} is no choice of sizes; write 5, 2-6 or 2,4") from None
        if min(first, last) < SMALLEST or max(first, last) > LARGEST:
            way_out = "; compose.mode=single gives environments by themselves" if part == "1" else ""
            raise ValueError(f"{part!r} is no size: a composite has {SMALLEST} to {LARGEST} programs{way_out}")
        if first > last:
            raise ValueError(f"{part!r} is backwards; write {last}-{first}")
        found.update(range(first, last + 1))
    if not found:
        raise ValueError("no size is named; write 5, 2-6 or 2,4")
    return tuple(sorted(found))


def _absolute(given: tuple[str, ...]) -> tuple[str, ...]:
    """From where it is written, as the actors of a run stand elsewhere."""
    return tuple(str(Path(folder).expanduser().resolve()) for folder in given)


def _subset(given: Any) -> Any:
    """`all`, or a number."""
    if given == "all" or (isinstance(given, int) and not isinstance(given, bool) and given > 0):
        return given
    raise ValueError(f"{given!r} is neither 'all' nor a number above 0")


BaseUrl = Annotated[str, AfterValidator(_base_url)]
Variable = Annotated[str, Field(pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$")]
Names = Annotated[tuple[str, ...], BeforeValidator(_names)]
Folders = Annotated[Names, AfterValidator(_absolute)]
Choice = Annotated[Literal["all", "none"] | tuple[str, ...], BeforeValidator(_listed)]
Operators = Annotated[tuple[OperatorName, ...], BeforeValidator(_split), AfterValidator(_operators)]
Sizes = Annotated[tuple[int, ...], BeforeValidator(_sizes)]
Subset = Annotated[Literal["all"] | int, BeforeValidator(_subset)]
Wandb = Annotated[Literal["off", "offline", "online"], BeforeValidator(_switch)]
