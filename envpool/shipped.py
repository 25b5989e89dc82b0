"""The programs that ship with Envolve, seeds and bricks, chosen by name, and those that a run was brought besides.

Invariant: they are text here, like any other program; only a sandbox's child runs them. Bricks are named with
their topic ("strings/upper_case"), seeds without one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from envpool.bricks import UnknownBrick, read_bricks
from envpool.members import Origin
from envpool.seeds import read_seeds

WORDS = ("all", "none")
PACKAGE = Path(__file__).parent
Choice = Literal["all", "none"] | Sequence[str]
Subset = Literal["all"] | int


class UnknownProgram(LookupError):
    """A name that no shipped program has; the message names the nearest one, or where the names are found."""


class TooFewBricks(LookupError):
    """A subset is larger than what it is drawn from."""


@dataclass(frozen=True, slots=True)
class Shipped:
    """A program that a pool begins with."""

    name: str
    source: str
    origin: Origin
    held_out: bool
    """Set apart whole, for evaluation."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What it says of itself, for its evidence."""
    packages: tuple[str, ...] = ()
    """Third-party ones that it imports."""


def shipped(
    seeds: Choice,
    bricks: Choice,
    held_out: Iterable[str] = (),
    subset: Subset = "all",
    draw: int = 0,
    others: Sequence[Shipped] = (),
) -> list[Shipped]:
    """The chosen programs, seeds first, with those that `held_out` names, by pattern as well, chosen or not.

    So runs over different choices are evaluated on the same programs set apart. `subset` is how many of the chosen
    bricks are taken, beside those set apart; which ones, `draw` decides. `others` are taken all, but for copies; one
    that is set apart sets the shipped program apart that it copies.
    Raises UnknownProgram, TooFewBricks.
    """
    every = [(name, source, Origin.SEED) for name, source in _seeds("all")]
    every += [(name, source, Origin.BRICK) for name, source in _bricks("all")]
    names = [name for name, _, _ in every] + [other.name for other in others]
    apart = {name for pattern in held_out for name in _matches(pattern, names)}
    sources_apart = {other.source for other in others if other.held_out}
    apart |= {name for name, source, _ in every if source in sources_apart}
    taken = _drawn([name for name, _ in _bricks(bricks) if name not in apart], subset, draw)
    wanted = apart | {name for name, _ in _seeds(seeds)} | set(taken)
    own = [Shipped(name, source, origin, name in apart) for name, source, origin in every if name in wanted]
    sources = {source for _, source, _ in every}
    more = [replace(other, held_out=other.held_out or other.name in apart) for other in others]
    return own + [other for other in more if other.source not in sources]


def _matches(pattern: str, names: list[str]) -> list[str]:
    if not (found := [name for name in names if fnmatchcase(name, pattern)]):
        raise UnknownProgram(_unknown(pattern, names, "seed or brick"))
    return found


def _drawn(names: Sequence[str], subset: Subset, draw: int) -> Sequence[str]:
    """So many of the names, the same ones wherever they are drawn; a smaller subset is a part of a larger one."""
    if subset == "all":
        return names
    if subset > len(names):
        raise TooFewBricks(f"at most {len(names)} here: pool.bricks chooses no more that are not held out")
    return sorted(names, key=lambda name: sha256(f"{draw}:{name}".encode()).digest())[:subset]


def _seeds(choice: Choice) -> list[tuple[str, str]]:
    every = read_seeds()
    if choice == "all":
        return every
    wanted = [] if choice == "none" else list(choice)
    names = [name for name, _ in every]
    for name in wanted:
        if name not in names:
            raise UnknownProgram(_word(choice, "seed") or _unknown(name, names, "seed"))
    return [(name, source) for name, source in every if name in wanted]


def _bricks(choice: Choice) -> list[tuple[str, str]]:
    if choice == "none":
        return []
    try:
        return read_bricks(None if choice == "all" else choice)
    except UnknownBrick as error:
        raise UnknownProgram(_word(choice, "brick") or str(error)) from error


def _word(choice: Choice, kind: str) -> str:
    """The reason where what was given alone is nearly a word for a whole choice; empty where it is not."""
    nearest = get_close_matches(choice[0], WORDS, n=1, cutoff=0.7) if len(choice) == 1 else ()
    return f"no {kind} {choice[0]!r}; did you mean {nearest[0]!r}?" if nearest else ""


def _unknown(name: str, names: list[str], kind: str) -> str:
    # A brick is often named without its topic, and a topic alone.
    spellings = {name.rpartition("/")[2]: name for name in names} | {name: name for name in names}
    spellings |= {topic: topic for name in names if "/" in name and (topic := f"{name.partition('/')[0]}/*")}
    nearest = get_close_matches(name, spellings, n=1)
    folders = " and ".join(str(PACKAGE / f"{each}s") for each in kind.split(" or "))
    hint = f"did you mean {spellings[nearest[0]]!r}?" if nearest else f"they are named after the files in {folders}"
    return f"no {kind} {name!r}; {hint}"
