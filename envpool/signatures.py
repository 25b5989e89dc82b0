"""Value types of environments, the values they allow, and how values travel.

Invariant: a value that passed `check` survives `to_wire` and `from_wire` unchanged in value *and* type, and
two values have equal `canonical_bytes` if and only if they are equal in value and type. Types are read from
syntax trees or from their written form; nothing is ever evaluated. Knows no programs and no answers.
"""

import ast
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from typing import Any

SCALARS = ("int", "bool", "str")
_MAX_TYPE_DEPTH = 8
_MAX_TYPE_TEXT = 500
_MAX_SHOWN = 80  # characters of what is no type
_KINDS = "there are int, bool, str, list[...], tuple[...] and dict[...]"
_TYPE_TOKEN = re.compile(r"\s*([A-Za-z]+|[\[\],])")
_SCALAR_CLASSES = {"int": int, "bool": bool, "str": str}
_COMPACT = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"))
_SURROGATE = re.compile("[\ud800-\udfff]")


class SignatureError(ValueError):
    """An annotation that is no value type of the contract."""


class IllegalValue(ValueError):
    """A value outside its type or outside the limits."""


TOO_MUCH = "more than"
"""How the message of an IllegalValue begins that is too large, and else nothing."""


@dataclass(frozen=True, slots=True)
class ValueType:
    """A type of the contract: int, bool, str, list[T], tuple[A, B], dict[K, V], or the opaque `dict`."""

    kind: str
    args: "tuple[ValueType, ...]" = ()

    def __str__(self) -> str:
        if self.kind == "opaque":
            return "dict"
        return f"{self.kind}[{', '.join(map(str, self.args))}]" if self.args else self.kind


@dataclass(frozen=True, slots=True)
class Signature:
    """Domain and codomain of an environment. Raises SignatureError where the opaque `dict` is a codomain."""

    domain: ValueType
    codomain: ValueType

    def __post_init__(self) -> None:
        if self.codomain.kind == "opaque":
            raise SignatureError("a plain dict cannot be a codomain: its parts have no types")

    def __str__(self) -> str:
        return f"{self.domain} -> {self.codomain}"

    @classmethod
    def parse(cls, text: str) -> "Signature":
        domain, arrow, codomain = text.partition("->")
        if not arrow:
            raise SignatureError(f"no '->' in signature {text[:80]!r}")
        return cls(parse_type(domain), parse_type(codomain))


@dataclass(frozen=True, slots=True)
class ValueLimits:
    """Caps on one value."""

    max_nodes: int = 10_000  # scalars, containers and keys together
    max_depth: int = 32  # nested containers
    max_digits: int = 1_000  # decimal digits of one integer
    max_text: int = 20_000  # characters of all strings together


LIMITS = ValueLimits()


def _build(name: str, args: list[ValueType] | None, depth: int) -> ValueType:
    """The one place that says which types exist."""
    if depth > _MAX_TYPE_DEPTH:
        raise SignatureError("type nested too deeply")
    if args is None:
        if name in SCALARS:
            return ValueType(name)
        if name == "dict" and depth == 0:
            return ValueType("opaque")
        raise SignatureError(f"not a value type: {name[:_MAX_SHOWN]} ({_KINDS})")
    wanted = {"list": len(args) == 1, "tuple": len(args) >= 1, "dict": len(args) == 2}
    if not wanted.get(name, False):
        inner = ", ".join(map(str, args))
        raise SignatureError(f"not a value type: {name}[{inner}] ({_KINDS})")
    if name == "dict" and args[0].kind not in SCALARS:
        raise SignatureError(f"dict keys must be int, bool or str, not {args[0]}")
    return ValueType(name, tuple(args))


def type_from_node(node: ast.expr) -> ValueType:
    """The type an annotation's syntax tree denotes. Raises SignatureError."""
    return _from_node(node, 0)


def _from_node(node: ast.expr, depth: int) -> ValueType:
    if isinstance(node, ast.Name):
        return _build(node.id, None, depth)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        if depth >= _MAX_TYPE_DEPTH:
            raise SignatureError("type nested too deeply")
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return _build(node.value.id, [_from_node(part, depth + 1) for part in inner], depth)
    raise SignatureError(f"not a value type: {ast.unparse(node)[:_MAX_SHOWN]} ({_KINDS})")


@lru_cache(maxsize=1024)
def parse_type(text: str) -> ValueType:
    """The type written as `str(ValueType)` writes it. Raises SignatureError."""
    if len(text) > _MAX_TYPE_TEXT:
        raise SignatureError("type text too long")
    tokens = _TYPE_TOKEN.findall(text)
    if "".join(tokens) != re.sub(r"\s", "", text):
        raise SignatureError(f"not a value type: {text[:80]!r}")
    stream = iter([*tokens, ""])
    parsed, after = _from_tokens(next(stream), stream, 0)
    if after:
        raise SignatureError(f"text after the type in {text[:80]!r}")
    return parsed


def _from_tokens(name: str, stream: Iterator[str], depth: int) -> tuple[ValueType, str]:
    """The type that starts at `name`, and the token after it."""
    if depth > _MAX_TYPE_DEPTH:
        raise SignatureError("type nested too deeply")
    after = next(stream, "")
    if after != "[":
        return _build(name, None, depth), after
    args: list[ValueType] = []
    while after in ("[", ","):
        part, after = _from_tokens(next(stream, ""), stream, depth + 1)
        args.append(part)
    if after != "]":
        raise SignatureError("unclosed bracket in a type")
    return _build(name, args, depth), next(stream, "")


def check(value: Any, vtype: ValueType, limits: ValueLimits = LIMITS) -> None:
    """Raises IllegalValue, naming the path, unless `value` is exactly of the type and within the limits."""
    _audit(value, limits)
    check_type(value, vtype)


def check_type(value: Any, vtype: ValueType) -> None:
    """As `check`, for a value that `from_wire` or `to_wire` let pass: it is within the limits."""
    if not _fits(value, vtype):
        _match(value, vtype, "value")


def _audit(value: Any, limits: ValueLimits) -> None:
    """Exact classes and limits, whatever the type."""
    nodes, text, depth, level = 1, 0, 0, [value]
    bits = 3 * limits.max_digits  # 10**d has more than 3.3 d: exact counting only near the limit
    while level:
        below: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is int:
                if item.bit_length() > bits:
                    _audit_digits(item, limits.max_digits)
            elif kind is str:
                text += len(item)
                if text > limits.max_text:
                    raise IllegalValue(f"{TOO_MUCH} {limits.max_text} characters of text")
                if not item.isascii() and _SURROGATE.search(item):
                    raise IllegalValue("a string holds a lone surrogate")
            elif kind is list or kind is tuple or kind is dict:
                if depth >= limits.max_depth:
                    raise IllegalValue(f"nested deeper than {limits.max_depth}")
                nodes += len(item) * (2 if kind is dict else 1)
                if nodes > limits.max_nodes:
                    raise IllegalValue(f"{TOO_MUCH} {limits.max_nodes} parts")
                below.extend(item)
                if kind is dict:
                    _audit_keys(item)
                    below.extend(item.values())
            elif kind is not bool and item is not None:
                raise IllegalValue(f"a {kind.__name__} is no value")
        level, depth = below, depth + 1


def _audit_digits(number: int, max_digits: int) -> None:
    if abs(number) >= 10**max_digits:
        raise IllegalValue(f"{TOO_MUCH} {max_digits} digits in an integer")


def _audit_keys(item: dict) -> None:
    for key in item:
        if type(key) not in (int, bool, str):
            raise IllegalValue(f"a {type(key).__name__} is no key")


def _fits(value: Any, vtype: ValueType) -> bool:
    """Whether `_match` has nothing to say; quick, because it knows no path."""
    kind = vtype.kind
    if kind in _SCALAR_CLASSES:
        return type(value) is _SCALAR_CLASSES[kind]
    if kind == "list":
        return type(value) is list and _all_fit(value, vtype.args[0])
    if kind == "tuple":
        return type(value) is tuple and len(value) == len(vtype.args) and all(map(_fits, value, vtype.args))
    if type(value) is not dict:
        return False
    if kind == "opaque":
        return {str}.issuperset(map(type, value))
    return _all_fit(value, vtype.args[0]) and _all_fit(value.values(), vtype.args[1])


def _all_fit(parts: Iterable[Any], vtype: ValueType) -> bool:
    scalar = _SCALAR_CLASSES.get(vtype.kind)
    if scalar:
        return {scalar}.issuperset(map(type, parts))
    return all(map(_fits, parts, repeat(vtype)))


def _match(value: Any, vtype: ValueType, path: str) -> None:
    kind = vtype.kind
    if kind in SCALARS:
        _expect(value, _SCALAR_CLASSES[kind], path)
    elif kind == "list":
        for index, part in enumerate(_expect(value, list, path)):
            _match(part, vtype.args[0], f"{path}[{index}]")
    elif kind == "tuple":
        if len(_expect(value, tuple, path)) != len(vtype.args):
            raise IllegalValue(f"{path} has {len(value)} parts, not {len(vtype.args)}")
        for index, (part, wanted) in enumerate(zip(value, vtype.args, strict=True)):
            _match(part, wanted, f"{path}[{index}]")
    elif kind == "dict":
        for key, part in _expect(value, dict, path).items():
            _match(key, vtype.args[0], f"{path} key {str(key)[:40]!r}")
            _match(part, vtype.args[1], f"{path}[{str(key)[:40]!r}]")
    else:
        for key in _expect(value, dict, path):
            _expect(key, str, f"{path} key {str(key)[:40]!r}")


def _expect(value: Any, wanted: type, path: str) -> Any:
    if type(value) is not wanted:
        raise IllegalValue(f"{path} is a {type(value).__name__}, not a {wanted.__name__}")
    return value


def to_wire(value: Any, limits: ValueLimits = LIMITS) -> Any:
    """JSON-able form: lists stay, tuples {"t": [...]}, dicts {"d": [[key, value], ...]}, ordered.

    Raises IllegalValue for anything that is no value or breaks a limit.
    """
    _audit(value, limits)
    return _encode(value)


def _encode(value: Any) -> Any:
    if type(value) is list:
        return [_encode(part) for part in value]
    if type(value) is tuple:
        return {"t": [_encode(part) for part in value]}
    if type(value) is dict:
        return {"d": [[key, _encode(part)] for key, part in _ordered(value)]}
    return value


def _ordered(value: dict) -> list[tuple[Any, Any]]:
    return sorted(value.items(), key=lambda item: (type(item[0]).__name__, item[0]))


def from_wire(wire: Any, limits: ValueLimits = LIMITS) -> Any:
    """The value behind a wire form. Raises IllegalValue: unknown shapes, repeated keys, broken limits."""
    # Parts, depth and text of a value are at most those of its wire form: mostly one look at that will do.
    within = _is_within(wire, limits)
    if not within:
        _audit(wire, _of_wire(limits))
    value = _decode(wire)
    if not within:
        _audit(value, limits)
    return value


def _is_within(value: Any, limits: ValueLimits) -> bool:
    try:
        _audit(value, limits)
    except IllegalValue:
        return False
    return True


@lru_cache(maxsize=8)
def _of_wire(limits: ValueLimits) -> ValueLimits:
    """A wire form nests up to three deep and counts up to three parts for one of the value."""
    return ValueLimits(4 * limits.max_nodes, 3 * limits.max_depth + 1, limits.max_digits, 2 * limits.max_text)


def _decode(wire: Any) -> Any:
    if type(wire) is list:
        return [_decode(part) for part in wire]
    if type(wire) is not dict:
        if type(wire) is tuple:
            raise IllegalValue("a tuple is no wire form")
        return wire
    tag, body = next(iter(wire.items())) if len(wire) == 1 else (None, None)
    if type(body) is list and tag == "t":
        return tuple(_decode(part) for part in body)
    if type(body) is list and tag == "d":
        return _decode_pairs(body)
    raise IllegalValue("unknown shape in a wire form")


def _decode_pairs(pairs: list) -> dict:
    value = {}
    for pair in pairs:
        if type(pair) is not list or len(pair) != 2 or type(pair[0]) not in (int, bool, str):
            raise IllegalValue("a dict's wire form is a list of [key, value]")
        if pair[0] in value:
            raise IllegalValue("a key is repeated")
        value[pair[0]] = _decode(pair[1])
    return value


def canonical_bytes(value: Any) -> bytes:
    """Compact ASCII JSON of the wire form; equal iff value and type are equal. Raises IllegalValue."""
    return _compact(to_wire(value))


def wire_bytes(wire: Any) -> bytes:
    """`canonical_bytes` of the value behind a wire form. Raises IllegalValue."""
    return canonical_bytes(from_wire(wire))


def _compact(wire: Any) -> bytes:
    return _COMPACT.encode(wire).encode("ascii")


def literal(value: Any) -> str:
    """A value as prompts show it: a Python literal, strings double-quoted, dicts in canonical order."""
    if type(value) is str:
        return json.dumps(value, ensure_ascii=False)
    if type(value) is list:
        return f"[{', '.join(map(literal, value))}]"
    if type(value) is tuple:
        return f"({', '.join(map(literal, value))}{',' if len(value) == 1 else ''})"
    if type(value) is dict:
        return f"{{{', '.join(f'{literal(key)}: {literal(part)}' for key, part in _ordered(value))}}}"
    return str(value)
