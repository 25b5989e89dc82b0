"""The bank of probe inputs: a fixed set of values for every domain type (ours).

Invariant: the bank of a type is the same on every machine and for ever, since fingerprints of members already
admitted depend on it; a change needs a new `VERSION`. Values are small: no honest program is slow on them.
"""

import random
from collections.abc import Callable

from envpool.contract import seeded
from envpool.signatures import IllegalValue, ValueType, canonical_bytes

VERSION = 1
SIZE = 40
LONG_DEPTH = 3
"""From here on lists within lists hold one part: sizes multiply, and the type is a stranger's choice."""
_LOWER = "abcdefghiklmnoprstuvwy"
_MIXED = "abcdeoxyzABCDEZ 0123456789 -,.!"


def bank(vtype: ValueType) -> list[object]:
    """The distinct probe inputs of a type, small ones first; empty for the opaque dict."""
    if vtype.kind == "opaque":
        return []
    found: dict[bytes, object] = {}
    for draw in range(4 * SIZE):  # small types have fewer values than that
        value = _value(vtype, seeded(f"bank:{VERSION}:{vtype}:{draw}"), draw % SIZE)
        try:
            found.setdefault(canonical_bytes(value), value)
        except IllegalValue:
            continue  # a wide type makes a value of too many parts
        if len(found) == SIZE:
            break
    return list(found.values())


def _value(vtype: ValueType, rng: random.Random, place: int, depth: int = 0) -> object:
    """One value; the place in the bank sets size and style, so that all parts of a value share one style."""
    if vtype.kind in _SCALARS:
        return _SCALARS[vtype.kind](rng, place)
    if vtype.kind == "tuple":
        return tuple(_value(part, rng, place, depth + 1) for part in vtype.args)
    length = rng.randint(0, 2) + place // 6
    if depth >= LONG_DEPTH:
        length = min(length, 1)
    if vtype.kind == "list":
        return [_value(vtype.args[0], rng, place, depth + 1) for _ in range(length)]
    key, part = vtype.args
    return {_value(key, rng, place): _value(part, rng, place, depth + 1) for _ in range(length)}


def _int(rng: random.Random, place: int) -> int:
    low, high = ((0, 9), (1, 12), (0, 4), (1, 30), (-9, 9), (0, 120), (1, 9))[place % 7]
    return rng.randint(low, high) if place % 20 != 19 else rng.randint(100, 1500)


def _bool(rng: random.Random, place: int) -> bool:
    return rng.random() < (0.5, 0.8, 0.2)[place % 3]


def _str(rng: random.Random, place: int) -> str:
    letters = _MIXED if place % 4 == 3 else _LOWER
    text = "".join(rng.choices(letters, k=rng.randint(1, 3) + place // 5))
    return " ".join((text, "of", text[::-1])) if place % 8 == 5 else text


_SCALARS: dict[str, Callable[[random.Random, int], object]] = {"int": _int, "bool": _bool, "str": _str}
