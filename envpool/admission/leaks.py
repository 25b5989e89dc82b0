"""Leaks (EvoEnv, L5): the reference stands in the public input, or in the prompt beside the input (rules ours).

In the input only references with structure count: a number or a short text may stand there by right. A part of the
input is a leak where the reference equals it at one and the same place in every draw; a task that asks which part is
none. Beside the input anything counts, a number too: words of the shown text that are neither the input's nor the same
in all draws of a level, and that hold the answer in every draw.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from envpool.admission.draws import Draw, brief
from envpool.admission.form import Candidate
from envpool.signatures import canonical_bytes, literal

LONG_TEXT = 12  # characters from which a text has structure
TELLING = 3  # draws with such a reference, without which nothing is said
_MAX_DEPTH = 4
_WORD = re.compile(r"-?\w+")


def find_leak(candidate: Candidate, draws: Sequence[Draw]) -> str | None:
    """What leaks, in words."""
    if hints := _hints(draws):
        seen = f"such as {brief(hints[0].reference)} for {hints[0].where}"
        return f"the answer stands beside the input in the shown text, in all {len(hints)} draws that can tell, {seen}"
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


def _hints(draws: Sequence[Draw]) -> list[Draw]:
    """Draws whose shown text adds the answer to the input; none where it does not in all that can tell."""
    by_level: dict[int, list[tuple[Draw, Counter[str]]]] = defaultdict(list)
    for draw in draws:
        added = _words(draw.shown) - _words(literal(draw.x))
        by_level[draw.recipe.level].append((draw, added))
    hints: list[Draw] = []
    for own in by_level.values():
        frame = own[0][1].copy()
        for _, added in own[1:]:
            frame &= added
        for draw, added in own:
            answer = _words(literal(draw.reference))
            if not answer or answer <= frame:
                continue  # nothing to find, or nothing that could tell
            if not answer <= added - frame:
                return []
            hints.append(draw)
    return hints if len(hints) >= TELLING else []


def _words(text: str) -> Counter[str]:
    return Counter(word.lower() for word in _WORD.findall(text))
