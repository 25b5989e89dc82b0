"""What an import offers: a program of our contract made from somebody else's environment, and where it comes from.

Plain data. Whether a pool takes it in is the gates' to say, like everybody's.
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

ALL = "all"


class UnknownTask(LookupError):
    """A name that nothing on offer has; the message names the nearest one."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A program that may be imported."""

    name: str
    """Its family in the pool, such as "rlve/Sorting": what stands under one name is held out together."""
    source: str
    packages: tuple[str, ...] = ()
    """Third-party packages that it imports, as the sandbox is told of them."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """For a member's evidence: where it is from, and its licence."""
    held_out: bool = False
    """Set apart whole, for evaluation."""
    unreadable: str = ""
    """Why there is no source, where it could not be read: nobody judges it, and it is told of beside the others."""


def chosen(names: Sequence[str], known: Iterable[str], what: str) -> list[str]:
    """The known names that these mean, by pattern as well, in their own order. Raises UnknownTask."""
    every = list(known)
    if ALL in names:
        return every
    wanted = {each for name in names for each in _matches(name, every, what)}
    return [name for name in every if name in wanted]


def _matches(name: str, every: Sequence[str], what: str) -> list[str]:
    if found := [each for each in every if fnmatchcase(each, name)]:
        return found
    near = difflib.get_close_matches(name, every, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"it has {len(every)}, such as {', '.join(every[:3])}"
    raise UnknownTask(f"{what} has no task {name!r}; {hint}")
