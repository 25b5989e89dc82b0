"""Gate L5: an answer that says nothing earns nothing, not even a little (ours).

An answer says nothing of a draw when it was written without the question and has no part in common with the reference.
Of a text it can be known that nobody means it: what is paid for such a text question after question is paid for any
answer, and teaches to answer without reading. A number or a list may be near the right one by its size alone, so there
every answer that says nothing must be paid. A question on which any text is wholly right does not look at the answer.

Partial credit stays where it pays for a part of the answer, or fades with the distance. What this does not see is a
scorer that pays for the form alone, such as for any list of the right length.
"""

from collections.abc import Sequence

from envpool.admission.draws import Draw, brief
from envpool.admission.form import Candidate
from envpool.admission.guessing import Asked
from envpool.admission.perturb import empty

NOISE = ("\x00", "\u00e9" * 200, "%s{0}\\")
"""Of the extremes of a text, those that answer no question."""
PAID_LIMIT = 0.5
"""Of the draws; a scorer that seldom pays for a shared sign is let pass."""
FADED = 0.001
"""No more than this is nothing: what a score by distance leaves for a number of 300 digits."""
Earned = Sequence[Sequence[tuple[object, float]]]
"""What each answer that nobody means earns, by draw."""


def pays_for_nothing(
    candidate: Candidate, draws: Sequence[Draw], asks: Sequence[Asked], scores: Sequence[float]
) -> str | None:
    """What is paid for an answer that says nothing, in words."""
    if candidate.program.oracle != "feasibility":
        return None  # an equality oracle pays for the reference alone
    earned: list[list[tuple[object, float]]] = [[] for _ in draws]
    for ask, score in zip(asks, scores, strict=True):
        if ask.kind == "meaningless":
            earned[ask.draw].append((ask.answer, score))
    if candidate.codomain.kind == "str":
        return _any_is_right(draws, earned) or _one_is_paid(draws, earned)
    return _every_one_is_paid(candidate, draws, earned)


def _any_is_right(draws: Sequence[Draw], earned: Earned) -> str | None:
    for draw, own in zip(draws, earned, strict=True):
        if all(score == 1.0 for answer, score in own if answer in NOISE):
            return f"any text scores 1 for {draw.where}, such as {brief(NOISE[-1])}: the answer is not read"
    return None


def _one_is_paid(draws: Sequence[Draw], earned: Earned) -> str | None:
    silent = [dict(_silent(draw, own)) for draw, own in zip(draws, earned, strict=True)]
    for text in dict.fromkeys(text for own in silent for text in own):
        paid = [own.get(text, 0.0) for own in silent]
        if often := _often(paid):
            return f"an answer that says nothing, {brief(text)}, {often}"
    return None


def _every_one_is_paid(candidate: Candidate, draws: Sequence[Draw], earned: Earned) -> str | None:
    silent = [_silent(draw, own) for draw, own in zip(draws, earned, strict=True)]
    if often := _often([min(score for _, score in own) for own in silent if own]):
        return f"every answer that says nothing, such as {brief(empty(candidate.codomain))}, {often}"
    return None


def _often(paid: Sequence[float]) -> str | None:
    """In how many draws something is paid, in words, where it is too many."""
    more = [score for score in paid if score > FADED]
    if len(more) <= PAID_LIMIT * len(paid):
        return None
    return f"scores {min(more):.3g} or more in {len(more)} of {len(paid)} draws"


def _silent(draw: Draw, own: Sequence[tuple[object, float]]) -> list[tuple[object, float]]:
    """Those that have no part in common with the reference."""
    parts = _parts(draw.reference)
    return [(answer, score) for answer, score in own if parts.isdisjoint(_parts(answer))]


def _parts(value: object) -> set[object]:
    """Numbers and signs that a value is made of. Digits in a text are all alike: any may be near the right number."""
    if isinstance(value, str):
        return {"0" if sign.isdigit() else sign for sign in value}
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list | tuple):
        return set().union(*map(_parts, value))
    return {value}
