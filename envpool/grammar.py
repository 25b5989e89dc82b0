"""The bounded grammar of one answer: a literal as in JSON or Python, read by the type that is expected.

Lists and tuples may be written either way, integer and boolean keys with or without quotes, a whole text
without quotes. Invariant: work is linear in the text, recursion is bounded by the type, nothing is evaluated,
and what comes out passed `signatures.check`.
"""

import re
from typing import Any

from envpool.signatures import LIMITS, IllegalValue, ValueLimits, ValueType, check

_INTEGER = re.compile(r"[+-]?[0-9]+")
_WORD = re.compile(r"true|True|false|False")
_PLAIN = re.compile(r"[^\\\"'\n]+")
_CODE_POINT = {"x": 2, "u": 4, "U": 8}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\\": "\\", "/": "/", '"': '"', "'": "'"}
_CLOSERS = {"[": "]", "(": ")"}


class Malformed(ValueError):
    """Text that is no value of the expected type."""


def parse_value(text: str, vtype: ValueType, limits: ValueLimits = LIMITS) -> Any:
    """The value of the type that the whole text denotes. Raises Malformed."""
    text = text.strip()
    value = _whole_text(text, limits) if vtype.kind == "str" else _Cursor(text, limits).only(vtype)
    try:
        check(value, vtype, limits)
    except IllegalValue as error:
        raise Malformed(str(error)) from error
    return value


def _whole_text(text: str, limits: ValueLimits) -> str:
    """A quoted literal if it is exactly one, else the text as it stands."""
    if text[:1] in ('"', "'"):
        try:
            return _Cursor(text, limits).only(ValueType("str"))
        except Malformed:
            return text
    return text


class _Cursor:
    """A position in the text of one answer; each method reads one thing and moves on."""

    def __init__(self, text: str, limits: ValueLimits) -> None:
        self.text, self.limits, self.at, self.parts = text, limits, 0, 0

    def only(self, vtype: ValueType) -> Any:
        value = self.value(vtype)
        self.space()
        if self.at != len(self.text):
            raise Malformed(f"unexpected text at {self.at}")
        return value

    def value(self, vtype: ValueType) -> Any:
        self.parts += 1
        if self.parts > self.limits.max_nodes:
            raise Malformed("too many parts")
        self.space()
        reader = getattr(self, f"read_{vtype.kind}", None)
        if reader is None:
            raise Malformed(f"a {vtype} cannot be an answer")
        return reader(vtype)

    def space(self) -> None:
        while self.text[self.at : self.at + 1].isspace():
            self.at += 1

    def peek(self) -> str:
        self.space()
        return self.text[self.at : self.at + 1]

    def take(self, wanted: str) -> bool:
        if self.peek() != wanted:
            return False
        self.at += 1
        return True

    def match(self, pattern: re.Pattern[str], what: str) -> str:
        found = pattern.match(self.text, self.at)
        if not found:
            raise Malformed(f"expected {what} at {self.at}")
        self.at = found.end()
        return found[0]

    def read_int(self, vtype: ValueType) -> int:
        digits = self.match(_INTEGER, "an integer")
        if len(digits) > self.limits.max_digits + 1:
            raise Malformed("too many digits")
        return int(digits)

    def read_bool(self, vtype: ValueType) -> bool:
        return self.match(_WORD, "true or false").lower() == "true"

    def read_str(self, vtype: ValueType) -> str:
        quote = self.text[self.at : self.at + 1]
        if quote not in ('"', "'") or not quote:
            raise Malformed(f"expected a quoted text at {self.at}")
        self.at += 1
        pieces: list[str] = []
        while not self.text.startswith(quote, self.at):
            pieces.append(self.piece())
        self.at += 1
        # Escaped surrogate pairs, as JSON writes them, become one character; lone ones are refused.
        try:
            return "".join(pieces).encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        except UnicodeDecodeError as error:
            raise Malformed("a lone surrogate") from error

    def piece(self) -> str:
        """Some characters of a quoted text: an escape, the other quote, or a run of plain ones."""
        plain = _PLAIN.match(self.text, self.at)
        if plain:
            self.at = plain.end()
            return plain[0]
        head = self.text[self.at : self.at + 1]
        if head in ("", "\n"):
            raise Malformed("a text without closing quote")
        self.at += 1
        return self.escape() if head == "\\" else head

    def escape(self) -> str:
        mark = self.text[self.at : self.at + 1]
        self.at += len(mark)
        if mark in _CODE_POINT:
            width = _CODE_POINT[mark]
            digits = self.text[self.at : self.at + width]
            if not re.fullmatch(f"[0-9a-fA-F]{{{width}}}", digits) or int(digits, 16) > 0x10FFFF:
                raise Malformed(f"a broken escape at {self.at}")
            self.at += width
            return chr(int(digits, 16))
        return _ESCAPES.get(mark, "\\" + mark)  # unknown ones stand for themselves, as in Python

    def read_list(self, vtype: ValueType) -> list[Any]:
        closer = self.opened()
        values: list[Any] = []
        while not self.take(closer):
            values.append(self.value(vtype.args[0]))
            self.separated(closer)
        return values

    def read_tuple(self, vtype: ValueType) -> tuple[Any, ...]:
        closer = self.opened()
        values: list[Any] = []
        for part in vtype.args:
            values.append(self.value(part))
            self.separated(closer)
        if not self.take(closer):
            raise Malformed(f"expected {len(vtype.args)} parts, more at {self.at}")
        return tuple(values)

    def opened(self) -> str:
        for opener, closer in _CLOSERS.items():
            if self.take(opener):
                return closer
        raise Malformed(f"expected a list at {self.at}")

    def separated(self, closer: str) -> None:
        if not self.take(",") and self.peek() != closer:
            raise Malformed(f"expected a comma at {self.at}")

    def read_dict(self, vtype: ValueType) -> dict[Any, Any]:
        if not self.take("{"):
            raise Malformed(f"expected a dict at {self.at}")
        values: dict[Any, Any] = {}
        while not self.take("}"):
            key = self.key(vtype.args[0])
            if key in values or not self.take(":"):
                raise Malformed(f"a repeated key or no colon at {self.at}")
            values[key] = self.value(vtype.args[1])
            self.separated("}")
        return values

    def key(self, vtype: ValueType) -> Any:
        if vtype.kind == "str" or self.peek() not in ('"', "'"):
            return self.value(vtype)
        quoted = self.value(ValueType("str"))  # JSON knows only text as keys
        return _Cursor(quoted.strip(), self.limits).only(vtype)
