"""Typed base environments for composition: a folder a topic, a file a program.

Invariant: bricks are data. They are read here as text and never imported, parsed or run; only the child of a
sandbox does that. A brick's name is its path without the ending, such as "strings/upper_case".
"""

from collections.abc import Iterable
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

_FOLDER = Path(__file__).parent


class UnknownBrick(LookupError):
    """A name or pattern that no brick matches."""


def read_bricks(chosen: Iterable[str] | None = None) -> list[tuple[str, str]]:
    """(name, source) of all bricks, or of those `chosen` by name or pattern ("lists/*"), sorted by name.

    Raises UnknownBrick, naming the nearest right name if one is near, for a name or pattern without a match.
    """
    names = sorted(path.relative_to(_FOLDER).with_suffix("").as_posix() for path in _FOLDER.glob("*/*.py"))
    if chosen is not None:
        names = sorted({name for pattern in chosen for name in _matches(pattern, names)})
    return [(name, (_FOLDER / f"{name}.py").read_text(encoding="utf-8")) for name in names]


def _matches(pattern: str, names: list[str]) -> list[str]:
    found = [name for name in names if fnmatchcase(name, pattern)]
    if not found:
        # A forgotten topic is the likeliest slip, so names without it are compared too.
        spellings = {name.rpartition("/")[2]: name for name in names} | {name: name for name in names}
        spellings |= {topic: topic for topic in (f"{name.partition('/')[0]}/*" for name in names)}
        nearest = get_close_matches(pattern, spellings, n=1)
        hint = f"did you mean {spellings[nearest[0]]!r}?" if nearest else f"they are named after the files in {_FOLDER}"
        raise UnknownBrick(f"no brick {pattern!r}; {hint}")
    return found
