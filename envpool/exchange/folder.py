"""A folder of Python files in our contract, as offers: one environment a file, named after where it lies.

Invariant: files are text here. What begins with `_` or `.`, and what a cache holds, is no environment. One that cannot
be read is offered as such, so that the others go on.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from envpool.exchange.offers import Offer, chosen
from envpool.sandbox.packages import Package

_IMPORTS = re.compile(
    r"^(?:[^#\n]*[;:])?[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b|import[ \t]+([^#;\n]+))", re.MULTILINE
)
_FIRST = re.compile(r"(?:^|,)\s*(\w+)")


class NoPrograms(ValueError):
    """A folder without an environment, or nothing that can be read; the message names it."""


def offers(folder: Path, names: Sequence[str] = ("all",), packages: Sequence[str] = ()) -> list[Offer]:
    """The chosen files, "topic/name" for `topic/name.py`, or one file; names may be patterns.

    `packages` are those that they may import. Raises NoPrograms, UnknownTask.
    """
    files = {folder.stem: folder} if folder.is_file() else _files(folder)
    if not files:
        raise NoPrograms(f"{folder} holds no environments: Python files with one Environment subclass each")
    wanted = tuple(Package.parse(package).top for package in packages)
    found = [_offer(name, files[name], wanted) for name in chosen(names, files, f"the folder {folder}")]
    if all(offer.unreadable for offer in found):
        raise NoPrograms(found[0].unreadable)
    return found


def _offer(name: str, file: Path, packages: Sequence[str]) -> Offer:
    try:
        source = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return Offer(name, "", unreadable=f"{file} cannot be read: {error}")
    imported = _imported(source)
    return Offer(name, source, tuple(package for package in packages if package in imported))


def _imported(source: str) -> set[str]:
    """The first parts of all that its lines import; also of lines within a text, which does no harm."""
    return {top for home, names in _IMPORTS.findall(source) for top in _FIRST.findall(home or names)}


def _files(folder: Path) -> dict[str, Path]:
    """Files, and links that lead nowhere: those are somebody's file all the same."""
    every = (file for file in sorted(folder.rglob("*.py")) if file.is_file() or not file.exists())
    found = (file.relative_to(folder) for file in every)
    return {
        str(file.with_suffix("")): folder / file
        for file in found
        if not any(part.startswith(("_", ".")) for part in file.parts)
    }
