"""Leaks (EvoEnv, L5): the reference stands in the public input, or in the prompt beside the input (rules ours).

Only references with structure count: a number or a short text may stand in an input by right. A part of the input
is a leak where the reference equals it at one and the same place in every draw; a task that asks which part is none.
"""

from collections.abc import Iterator, Sequence

from envpool.admission.draws import Draw
from envpool.admission.form import Candidate
from envpool.signatures import canonical_bytes, literal

LONG_TEXT = 12  # characters from which a text has structure
TELLING = 3  # draws with such a reference, without which nothing is said
_MAX_DEPTH = 4


def find_leak(candidate: Candidate, draws: Sequence[Draw]) -> str | None:
    """What leaks, in words."""
    telling = [draw for draw in draws if _has_structure(draw.reference)]
    if len(telling) < TELLING:
        return None
    places = set.intersection(*(_places(draw) for draw in telling))
    if places:
        return f"the answer stands in the input, as {min(places, key=len)}, in all {len(telling)} draws"
    if all(_beside_the_input(candidate.program.rule, draw) for draw in telling):
        return f"the answer stands in the prompt beside the input in all {len(telling)} draws"
    return None


def _has_structure(value: object) -> bool:
    if isinstance(value, str):
        return len(value) >= LONG_TEXT
    return isinstance(value, list | tuple | dict) and len(value) >= 2


def _places(draw: Draw) -> set[str]:
    """Where the reference stands in the input."""
    wanted = canonical_bytes(draw.reference)
    return {path for path, part in _parts(draw.x, "x", 0) if canonical_bytes(part) == wanted}


def _parts(value: object, path: str, depth: int) -> Iterator[tuple[str, object]]:
    if _has_structure(value):
        yield path, value
    if depth >= _MAX_DEPTH:
        return
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _parts(part, f"{path}[{literal(key)}]", depth + 1)
    elif isinstance(value, list | tuple):
        for place, part in enumerate(value):
            yield from _parts(part, f"{path}[{place}]", depth + 1)


def _beside_the_input(rule: str, draw: Draw) -> bool:
    text, shown = literal(draw.reference), literal(draw.x)
    return text not in shown and (text in rule or text in draw.shown)
