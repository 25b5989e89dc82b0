"""How often an answer is right that was given without looking at the question (EvoEnv, L5; ours).

Ways of guessing: another instance's reference, one constant answer, the empty answer, one that nobody means, the input
itself or a part of it. The rate of the best way is the guess rate that calibration is read against.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from envpool.admission.draws import Draw
from envpool.admission.form import Candidate
from envpool.admission.perturb import empty, extremes
from envpool.signatures import IllegalValue, canonical_bytes, check_type, literal

CONSTANTS = 16  # different references that are tried as the constant answer
PART = "the part "
DEEP = 2  # parts of parts
WORDS = {
    "another reference": "the answer of another draw",
    "constant": "one constant answer",
    "empty": "the empty answer",
    "meaningless": "an answer that nobody means",
    "echo": "the input itself",
}


class Asked(Protocol):
    """One answer to one draw."""

    @property
    def draw(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def answer(self) -> object: ...


A = TypeVar("A", bound=Asked)


@dataclass(frozen=True, slots=True)
class GuessRates:
    """Share of full verdicts by way of guessing."""

    by_way: Mapping[str, float]

    @property
    def best_way(self) -> str:
        return max(self.by_way, key=lambda way: self.by_way[way])

    @property
    def best(self) -> float:
        return self.by_way[self.best_way]


def guesses(
    candidate: Candidate, draws: Sequence[Draw], ask: Callable[[int, str, object], A], *, parts: bool
) -> list[A]:
    """What the guessers answer: each frequent reference to every draw, the empty answer, the echo; and, where wanted,
    what stands at one place of every input.
    """
    places = range(len(draws))
    constants = _constants(draws)
    asks = [ask(place, "constant", answer) for place in places for answer in constants]
    asks += [ask(place, "empty", empty(candidate.codomain)) for place in places]
    asks += [ask(place, "meaningless", answer) for place in places for answer in extremes(candidate.codomain)]
    if candidate.domain == candidate.codomain:
        asks += [ask(place, "echo", draw.x) for place, draw in enumerate(draws)]
    if parts:
        found = [dict(_parts(candidate, draw.x, "x", 0)) for draw in draws]
        for path in sorted(set(found[0]).intersection(*found[1:])):
            asks += [ask(place, PART + path, own[path]) for place, own in enumerate(found)]
    return asks


def _parts(candidate: Candidate, value: object, path: str, depth: int) -> Iterator[tuple[str, object]]:
    """The proper parts of an input that could be an answer, by where they stand, from either end of a list."""
    if depth and _is_answer(candidate, value):
        yield path, value
    if depth == DEEP:
        return
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _parts(candidate, part, f"{path}[{literal(key)}]", depth + 1)
    elif isinstance(value, list | tuple) and value:
        ends = value if isinstance(value, tuple) else value[:1]
        for place, part in enumerate(ends):
            yield from _parts(candidate, part, f"{path}[{place}]", depth + 1)
        if isinstance(value, list):
            yield from _parts(candidate, value[-1], f"{path}[-1]", depth + 1)


def _is_answer(candidate: Candidate, value: object) -> bool:
    try:
        check_type(value, candidate.codomain)
    except IllegalValue:
        return False
    return True


def in_words(way: str) -> str:
    """A way of guessing as a reason names it."""
    return WORDS.get(way, f"{way} of the input")


def guess_rates(draws: Sequence[Draw], asks: Sequence[Asked], scores: Sequence[float]) -> GuessRates:
    """Rates from the scores of `guesses` (other asks are passed over)."""
    hits: dict[tuple[str, bytes], list[bool]] = defaultdict(list)
    others: list[bool] = []
    own = [canonical_bytes(draw.reference) for draw in draws]
    weight = {key: own.count(key) for key in set(own)}
    for ask, score in zip(asks, scores, strict=True):
        if ask.kind not in ("constant", "meaningless", "empty", "echo") and not ask.kind.startswith(PART):
            continue
        key = canonical_bytes(ask.answer)
        fixed = ask.kind in ("constant", "meaningless")
        hits[ask.kind, key if fixed else b""].append(score == 1.0)
        if ask.kind == "constant":
            # As often as another draw has this reference, a guesser who draws among references gives it.
            others += [score == 1.0] * (weight[key] - (key == own[ask.draw]))
    rates = {"another reference": _share(others)}
    for (way, _), full in hits.items():
        rates[way] = max(rates.get(way, 0.0), _share(full))
    return GuessRates(rates)


def _constants(draws: Sequence[Draw]) -> list[object]:
    """The most frequent references, each once."""
    counts: dict[bytes, int] = defaultdict(int)
    values: dict[bytes, object] = {}
    for draw in draws:
        key = canonical_bytes(draw.reference)
        counts[key] += 1
        values[key] = draw.reference
    return [values[key] for key in sorted(counts, key=lambda key: -counts[key])[:CONSTANTS]]


def _share(verdicts: Sequence[bool]) -> float:
    return sum(verdicts) / len(verdicts) if verdicts else 0.0
