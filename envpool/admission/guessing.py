"""How often an answer is right that was given without looking at the question (EvoEnv, L5; ours).

Ways of guessing: another instance's reference, one constant answer, the empty answer, the input itself. The rate
of the best way is the guess rate that calibration is read against.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from envpool.admission.draws import Draw
from envpool.admission.form import Candidate
from envpool.admission.perturb import empty
from envpool.signatures import canonical_bytes

CONSTANTS = 16  # different references that are tried as the constant answer


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


def guesses(candidate: Candidate, draws: Sequence[Draw], ask: Callable[[int, str, object], A]) -> list[A]:
    """What the guessers answer: each frequent reference to every draw, the empty answer, the echo."""
    constants = _constants(draws)
    asks = [ask(place, "constant", answer) for place in range(len(draws)) for answer in constants]
    asks += [ask(place, "empty", empty(candidate.codomain)) for place in range(len(draws))]
    if candidate.domain == candidate.codomain:
        asks += [ask(place, "echo", draw.x) for place, draw in enumerate(draws)]
    return asks


def guess_rates(draws: Sequence[Draw], asks: Sequence[Asked], scores: Sequence[float]) -> GuessRates:
    """Rates from the scores of `guesses` (other asks are passed over)."""
    hits: dict[tuple[str, bytes], list[bool]] = defaultdict(list)
    others: list[bool] = []
    own = [canonical_bytes(draw.reference) for draw in draws]
    weight = {key: own.count(key) for key in set(own)}
    for ask, score in zip(asks, scores, strict=True):
        if ask.kind not in ("constant", "empty", "echo"):
            continue
        key = canonical_bytes(ask.answer)
        hits[ask.kind, key if ask.kind == "constant" else b""].append(score == 1.0)
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
