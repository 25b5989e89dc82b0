"""Answers in text: how the prompt asks for them, how they are written, and how they are read back.

Invariant: `read(write(values, types), types)` gives the values back, type for type, and no text whatever
makes reading raise anything but `UnparsableAnswer`. What a single value may look like is in `grammar.py`.
"""

import re
from collections.abc import Sequence

from envpool.grammar import Malformed, parse_value
from envpool.signatures import LIMITS, ValueType, literal

OPEN, CLOSE = "<answer>", "</answer>"
_MAX_CONTENT = 20 * LIMITS.max_nodes  # characters between the tags
_NUMBERED = re.compile(r"\s*([0-9]{1,4})\s*[:.)](.*)", re.DOTALL)
_FORMS = {"int": "number", "bool": "true or false", "str": "text"}
_NESTED_FORMS = {**_FORMS, "str": '"text"'}


class UnparsableAnswer(ValueError):
    """No value could be read; `reason` is "missing", "unclosed" or "malformed"."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


def extract(text: str) -> str:
    """What stands in the last closed answer tag. Raises UnparsableAnswer (missing, unclosed)."""
    opened = text.split(OPEN)[1:]
    for piece in reversed(opened):
        content, close, _ = piece.partition(CLOSE)
        if close:
            return content
    raise UnparsableAnswer("unclosed" if opened else "missing")


def parse(text: str, vtype: ValueType) -> object:
    """The value of the type that a slot's text denotes. Raises UnparsableAnswer (malformed)."""
    if len(text) > _MAX_CONTENT:
        raise UnparsableAnswer("malformed", "too long")
    try:
        return parse_value(text, vtype)
    except Malformed as error:
        raise UnparsableAnswer("malformed", str(error)) from error


def read(text: str, vtypes: Sequence[ValueType]) -> list[object]:
    """One value or UnparsableAnswer for each type, from a response.

    Raises UnparsableAnswer (missing, unclosed) where the whole response holds no closed answer.
    """
    content = extract(text)
    if len(vtypes) == 1:
        return [_slot(content, vtypes[0])]
    lines = _numbered(content)
    return [_slot(lines.get(number), vtype) for number, vtype in enumerate(vtypes, 1)]


def _slot(text: str | None, vtype: ValueType) -> object:
    if text is None:
        return UnparsableAnswer("missing", "no such line")
    try:
        return parse(text, vtype)
    except UnparsableAnswer as error:
        return error


def _numbered(content: str) -> dict[int, str]:
    """Lines "1: ..." by number; where a number is repeated the last one counts, as with answers."""
    matches = (_NUMBERED.fullmatch(line) for line in content.split("\n"))
    return {int(match[1]): match[2] for match in matches if match}


def answer_line(vtypes: Sequence[ValueType]) -> str:
    """What the prompt says about the form of the answer; short, for very small models."""
    if len(vtypes) == 1:
        return f"Answer as {OPEN}{_form(vtypes[0], _FORMS)}{CLOSE}"
    lines = (f"{number}: {_form(vtype, _FORMS)}\n" for number, vtype in enumerate(vtypes, 1))
    return f"Answer as\n{OPEN}\n{''.join(lines)}{CLOSE}"


def _form(vtype: ValueType, scalars: dict[str, str]) -> str:
    if vtype.kind in scalars:
        return scalars[vtype.kind]
    parts = [_form(part, _NESTED_FORMS) for part in vtype.args]
    if vtype.kind == "list":
        return f"[{parts[0]}, ...]"
    if vtype.kind == "tuple":
        return f"({', '.join(parts)})"
    return f"{{{parts[0]}: {parts[1]}, ...}}"


def write(values: Sequence[object], vtypes: Sequence[ValueType]) -> str:
    """The whole answer text that a perfect solver would give."""
    slots = [_written(value) for value, _ in zip(values, vtypes, strict=True)]
    if len(slots) == 1:
        return f"{OPEN}{slots[0]}{CLOSE}"
    lines = "".join(f"{number}: {slot}\n" for number, slot in enumerate(slots, 1))
    return f"{OPEN}\n{lines}{CLOSE}"


def _written(value: object) -> str:
    if type(value) is str and _safe_bare(value):
        return value
    text = literal(value)
    for tag in (OPEN, CLOSE):  # a tag can stand only inside a string, where an escape reads the same
        text = text.replace(tag, "\\u003c" + tag[1:])
    return text


def _safe_bare(text: str) -> bool:
    """Whether text without quotes reads back as itself."""
    quoted = text[:1] in ('"', "'")
    return (
        text == text.strip() != ""
        and "\n" not in text
        and not quoted
        and OPEN not in text
        and CLOSE not in text
    )
