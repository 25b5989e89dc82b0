"""Wrong answers made from right ones, by type (EvoEnv, L5; the list of changes is ours).

Invariant: every perturbation is well typed and differs from the value it was made from; the same generator gives
the same ones. Malformed answers are text, not values, and stand in `MALFORMED`.
"""

import random
from collections.abc import Iterator
from itertools import cycle, islice, zip_longest

from envpool.signatures import IllegalValue, ValueType, canonical_bytes

MALFORMED = (
    "", "42", "<answer>", "</answer>", "<answer></answer>", "<answer> </answer>", "<answer>None</answer>",
    "<answer>[</answer>", "<answer>[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[</answer>", "<answer>{1: }</answer>",
    "<answer>nan</answer>", "<answer>1e999</answer>", "<answer>" + "9" * 5000 + "</answer>",
    "<answer>\ud800\x00</answer>", "<answer><answer></answer></answer>", "<answer>I do not know</answer>",
)  # fmt: skip
_TRIES = 20
_EXTREMES: dict[str, tuple[object, ...]] = {
    "int": (0, -1, 1, 10**40, -(10**300)),
    "bool": (True, False),
    "str": ("", " ", "\x00", "\u00e9" * 200, "0", "-1", "[]", "a b c", "qxzj", "\n", "(", "%s{0}\\", "None"),
}


def perturbations(value: object, vtype: ValueType, rng: random.Random, count: int) -> list[object]:
    """Up to `count` different wrong values near `value`; fewer where the type has fewer (one for a bool)."""
    seen = {canonical_bytes(value)}
    found: list[object] = []
    for other in islice(_others(value, vtype, rng), _TRIES * count):
        if not _is_legal(other):
            continue  # a value at a limit, made larger
        key = canonical_bytes(other)
        if key not in seen:
            seen.add(key)
            found.append(other)
        if len(found) == count:
            break
    return found


def empty(vtype: ValueType) -> object:
    """The emptiest value of a type."""
    if vtype.kind == "tuple":
        return tuple(empty(part) for part in vtype.args)
    return {"int": 0, "bool": False, "str": "", "list": [], "dict": {}}[vtype.kind]


def extremes(vtype: ValueType) -> list[object]:
    """Legal answers that nobody means: they must score nothing and crash nothing."""
    return [value for value in _extremes(vtype) if _is_legal(value)]


def _extremes(vtype: ValueType) -> list[object]:
    if vtype.kind == "tuple":
        together = zip_longest(*(_extremes(part) for part in vtype.args))
        blank = [empty(part) for part in vtype.args]
        return [
            tuple(other if part is None else part for part, other in zip(row, blank, strict=True)) for row in together
        ]
    if vtype.kind == "list":
        inner = _extremes(vtype.args[0])
        return [[], inner, inner[:1], inner[-1:], inner[-1:] * 20, inner[:1] * 300]
    if vtype.kind == "dict":
        keys, parts = _extremes(vtype.args[0]), _extremes(vtype.args[1])
        return [{}, dict(zip(keys, cycle(parts), strict=False)), {keys[0]: parts[0]}, {keys[-1]: parts[-1]}]
    return list(_EXTREMES[vtype.kind])


def _is_legal(value: object) -> bool:
    """Whether it is within the limits; a deeply nested list of twenties is not."""
    try:
        canonical_bytes(value)
    except IllegalValue:
        return False
    return True


def _others(value: object, vtype: ValueType, rng: random.Random) -> Iterator[object]:
    while True:
        yield _other(value, vtype, rng)


def _other(value: object, vtype: ValueType, rng: random.Random) -> object:
    """One change at random; it may leave the value as it was."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice((value + 1, value - 1, -value, 2 * value, 0, 1, value + rng.randint(-12, 12)))
    if isinstance(value, str):
        return _other_text(value, rng)
    if isinstance(value, list):
        return _other_list(value, vtype.args[0], rng)
    if isinstance(value, tuple):
        return _with_part(value, rng.randrange(len(value)), vtype, rng)
    if isinstance(value, dict):
        return _other_dict(value, vtype, rng)
    raise TypeError(f"a {type(value).__name__} is no answer")


def _other_text(text: str, rng: random.Random) -> str:
    at = rng.randint(0, len(text))
    letter = rng.choice("abcdefghijklmnopqrstuvwxyz0123456789")
    return rng.choice(
        (text[:-1], text[1:], text[::-1], text.swapcase(), text + text[-1:], text[:at] + letter + text[at:],
         text[:at] + letter + text[at + 1 :], "")
    )  # fmt: skip


def _other_list(items: list, vtype: ValueType, rng: random.Random) -> list:
    if not items:
        return [_fresh(vtype, rng) for _ in range(rng.randint(1, 3))]
    at = rng.randrange(len(items))
    changed = [*items[:at], _other(items[at], vtype, rng), *items[at + 1 :]]
    shuffled = rng.sample(items, len(items))
    appended = [*items, _other(items[-1], vtype, rng)]
    return rng.choice(
        (items[:-1], items[1:], items[::-1], [*items, items[at]], changed, changed, shuffled, appended, [])
    )


def _with_part(value: tuple, at: int, vtype: ValueType, rng: random.Random) -> tuple:
    return (*value[:at], _other(value[at], vtype.args[at], rng), *value[at + 1 :])


def _other_dict(value: dict, vtype: ValueType, rng: random.Random) -> dict:
    key_type, part_type = vtype.args
    if not value or rng.random() < 0.3:
        return {**value, _fresh(key_type, rng): _fresh(part_type, rng)}
    key = rng.choice(list(value))
    if rng.random() < 0.3:
        return {other: part for other, part in value.items() if other != key}
    return {**value, key: _other(value[key], part_type, rng)}


def _fresh(vtype: ValueType, rng: random.Random) -> object:
    """A small value of a type out of nothing."""
    if vtype.kind == "tuple":
        return tuple(_fresh(part, rng) for part in vtype.args)
    return _other(empty(vtype), vtype, rng) if vtype.kind != "list" else []
