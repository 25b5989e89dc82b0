"""Gate L5: an answer that says nothing earns nothing, not even a little (ours).

Of a text it can be known that nobody means it; a number or a list that nobody means may still be an answer. What is
paid for such a text question after question is paid for any answer, and teaches to answer without reading. So is a
question on which every such text is wholly right: there the scorer does not look at the answer.
"""

from collections import defaultdict
from collections.abc import Sequence

from envpool.admission.draws import Draw, brief
from envpool.admission.form import Candidate
from envpool.admission.guessing import Asked

NOISE = ("\x00", "\u00e9" * 200, "%s{0}\\")
"""Of the extremes of a text, those that answer no question; they have no letter or digit of an answer in common."""
NOTHING = ("", " ", *NOISE)
PAID_LIMIT = 0.5
"""Of the draws; a scorer that seldom pays for a shared sign is let pass."""


def pays_for_nothing(
    candidate: Candidate, draws: Sequence[Draw], asks: Sequence[Asked], scores: Sequence[float]
) -> str | None:
    """What is paid for a text that says nothing, in words."""
    if candidate.program.oracle != "feasibility" or candidate.codomain.kind != "str":
        return None  # an equality oracle pays for the reference alone
    earned: dict[str, dict[int, float]] = defaultdict(dict)
    for ask, score in zip(asks, scores, strict=True):
        if ask.kind == "meaningless" and ask.answer in NOTHING:
            earned[str(ask.answer)][ask.draw] = score
    for place, draw in enumerate(draws):
        if all(earned[text][place] == 1.0 for text in NOISE):
            return f"any text scores 1 for {draw.where}, such as {brief(NOISE[-1])}: the answer is not read"
    for text, own in earned.items():
        paid = [score for score in own.values() if score > 0]
        if len(paid) > PAID_LIMIT * len(draws):
            often = f"{len(paid)} of {len(draws)} draws"
            return f"an answer that says nothing, {brief(text)}, scores {min(paid):.3g} or more in {often}"
    return None
