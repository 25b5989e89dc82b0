"""Kinds of composites, operator and size together, chosen by where success has variance.

A size is a key of its own and no level (RACES studies 2 to 6: about 5 is best, then reward and its variance fall).
Invariant: what a kind weighs does not depend on how many composites of it there are, and each is chosen now and then.
Nothing is drawn or made here.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from envpool.curation.shown import Shown
from envpool.curation.tracks import Recent, learning_signal
from envpool.members import OperatorName

Kind = tuple[OperatorName, int]
LEAST = 0.1
"""Share of the choices that goes to all kinds alike, so that one that was hopeless is tried again (ours)."""
EVEN = 0.5
"""Success above guessing from which a kind is judged before anything is known of it."""
PRIOR_ANSWERS = 2.0
"""How many answers that counts for."""


def evened(signals: Mapping[str, float], kinds: Mapping[str, str]) -> dict[str, float]:
    """Weights of composites from their learning signals: a kind weighs the mean of its members', shared out by theirs.

    All together they weigh what they did, so that composites keep their part against other members.
    """
    sums: defaultdict[str, float] = defaultdict(float)
    sizes: defaultdict[str, int] = defaultdict(int)
    for member, signal in signals.items():
        sums[kinds[member]] += signal
        sizes[kinds[member]] += 1
    means = [total / sizes[kind] for kind, total in sums.items()]
    scale = sum(sums.values()) / sum(means) if means else 0.0
    return {member: scale * signal / sizes[kinds[member]] for member, signal in signals.items()}


def choose_kinds(
    rng: random.Random, operators: Iterable[OperatorName], sizes: Iterable[int], shown: Shown, count: int
) -> list[Kind]:
    """What to make next: operators are drawn alike, and of each its sizes by the variance of success there."""
    sizes = sorted(sizes)
    chances = {operator: _chances(operator, sizes, shown) for operator in operators}
    chosen = rng.choices(list(chances), k=count)
    return [(operator, rng.choices(sizes, chances[operator])[0]) for operator in chosen]


def _chances(operator: OperatorName, sizes: Sequence[int], shown: Shown) -> list[float]:
    signals = [signal(shown, (operator, size)) for size in sizes]
    return [LEAST / len(sizes) + (1 - LEAST) * each / sum(signals) for each in signals]


def signal(shown: Shown, kind: Kind) -> float:
    """Expected variance of one success above guessing, times 4, over the composites of a kind, resting ones too."""
    of_kind = [each for each in shown.composites if (each.operator, each.size) == kind]
    answers, solved = map(sum, zip((0.0, 0.0), *(each.above_guessing for each in of_kind), strict=True))
    rate = (max(0.0, solved) + PRIOR_ANSWERS * EVEN) / (answers + PRIOR_ANSWERS)
    known = [learning_signal(each.recent, 1.0, rate, PRIOR_ANSWERS, each.guess) for each in of_kind]
    return (sum(known) + learning_signal(Recent(1.0), 0.0, rate, PRIOR_ANSWERS)) / (len(known) + 1)
