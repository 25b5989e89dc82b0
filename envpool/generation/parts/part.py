"""What a part is. Data only: nothing here is executed on the trusted side."""

from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    """The kinds of value that flow between parts. LABEL is text that no further part can read."""

    NUMBERS = "numbers"
    WORDS = "words"
    TEXT = "text"
    NUMBER = "number"
    TRUTH = "truth"
    LABEL = "label"

    @property
    def annotation(self) -> str:
        """The Python annotation of this kind."""
        return _ANNOTATIONS[self]

    @property
    def terminal(self) -> bool:
        """True if no part reads this kind."""
        return self in (Kind.TRUTH, Kind.LABEL)


_ANNOTATIONS = {
    Kind.NUMBERS: "list[int]",
    Kind.WORDS: "list[str]",
    Kind.TEXT: "str",
    Kind.NUMBER: "int",
    Kind.TRUTH: "bool",
    Kind.LABEL: "str",
}


class PartKind(StrEnum):
    """What a part does to its value."""

    FILTER = "filter"
    MAP = "map"
    ORDER = "order"
    AGGREGATE = "aggregate"
    COUNT = "count"
    COMPARE = "compare"
    CONVERT = "convert"


@dataclass(frozen=True, slots=True)
class Part:
    """One typed step. `{v}` in `code` is the value so far; `{k}` in both texts is drawn from `choices`."""

    key: str
    clause: str  # imperative, lower case, no full stop
    code: str  # one Python expression
    choices: tuple[int | str, ...] = ()
    does: PartKind = field(kw_only=True)
    takes: Kind = field(kw_only=True)
    gives: Kind = field(kw_only=True)
    ordered: bool = field(default=True, kw_only=True)
    """False: the result is the same whatever the order of the elements."""
    alone: bool = field(default=True, kw_only=True)
    """False: too often the input itself, or too dull, to stand as a whole program."""
    grows: bool = field(default=False, kw_only=True)
    """True: the number it gives may be large, and"""
    spans: bool = field(default=False, kw_only=True)
    """True: its work grows with the number it takes, so that the two do not stand in one chain."""
    imports: str = field(default="", kw_only=True)
    """The one module the expression needs."""
