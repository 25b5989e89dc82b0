"""How the values of keys may be written, in a file or on a command line, and what they then are.

Invariant: what a type here lets through is complete and plain; what it refuses it refuses with the way out. Which keys
there are is `cluster.config`'s.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from envpool.members import OperatorName

SMALLEST, LARGEST = 2, 12
"""Programs in a composite. RACES studies 2 to 6; longer chains are seldom found, and their prompts are long."""


def _listed(given: Any) -> Any:
    """`a,b` or `a` for a list, as it is typed on a command line."""
    if isinstance(given, str) and given not in ("all", "none"):
        return [name.strip() for name in given.split(",") if name.strip()]
    return given


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
            chosen = range(int(low), int(high if dash else low) + 1)
        except ValueError:
            raise ValueError(f"{given!r} is no choice of sizes; write 5, 2-6 or 2,4") from None
        if not chosen or chosen[0] < SMALLEST or chosen[-1] > LARGEST:
            way_out = "; compose.mode=single gives environments by themselves" if part == "1" else ""
            raise ValueError(f"{part!r} is no size: a composite has {SMALLEST} to {LARGEST} programs{way_out}")
        found.update(chosen)
    return tuple(sorted(found))


def _subset(given: Any) -> Any:
    """`all`, or a number."""
    if given == "all" or (isinstance(given, int) and not isinstance(given, bool) and given > 0):
        return given
    raise ValueError(f"{given!r} is neither 'all' nor a number above 0")


BaseUrl = Annotated[str, AfterValidator(_base_url)]
Variable = Annotated[str, Field(pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$")]
Names = Annotated[tuple[str, ...], BeforeValidator(_listed)]
Choice = Annotated[Literal["all", "none"] | tuple[str, ...], BeforeValidator(_listed)]
Operators = Annotated[tuple[OperatorName, ...], Field(min_length=1), BeforeValidator(_listed)]
Sizes = Annotated[tuple[int, ...], BeforeValidator(_sizes), Field(min_length=1)]
Subset = Annotated[Literal["all"] | int, BeforeValidator(_subset)]
