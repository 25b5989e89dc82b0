"""Predicted success of a chain before anybody was asked: the product of its members' measured success.

What a longer prompt, or another question about the same chain, does to it is measured for each operator and size, and
put on top; where an order is asked for, success is what comes above guessing. RACES searches at random and names guided
search as what it leaves open; all values here are ours.
Invariant: a prediction lies in (0, 1) whatever was answered, and one that nothing is known for is even. Nothing is
searched here.
"""

import math
from collections import defaultdict
from collections.abc import Sequence

from envpool.curation.shown import Answered, Shown
from envpool.members import OperatorName

PRIOR_ANSWERS = 2.0
"""How many answers the success of all programs counts for in that of one."""
PRIOR_SUCCESSES = 2.0
"""Expected and found, before a kind's successes are believed against what was predicted."""
LEAST_SUCCESSES = 0.1
"""Of a kind whose answers do worse than guesses."""
OF_STEPS = ("SEQUENTIAL", "PARALLEL")
"""Operators whose success is that of every step."""
WIDTH = 0.2
"""Standard deviation around the success that is sought, as in EvoEnv's quality (the value is ours)."""
LEAST_WEIGHT = 0.05
"""Of a program in the search, so that none is left out for ever."""


class Prediction:
    """Success of programs as steps, and of chains under an operator."""

    def __init__(self, shown: Shown) -> None:
        self._sums = _sums(shown)
        weights, successes = (sum(each) for each in zip((0.0, 0.0), *self._sums.values(), strict=True))
        self._mean = (successes + PRIOR_ANSWERS / 2) / (weights + PRIOR_ANSWERS)
        self._lifts = self._measured_lifts(shown.composites)

    def step(self, program: str) -> float:
        """Success of a program as a step."""
        weight, successes = self._sums.get(program, (0.0, 0.0))
        return (successes + PRIOR_ANSWERS * self._mean) / (weight + PRIOR_ANSWERS)

    def chain(self, operator: OperatorName, steps: Sequence[str]) -> float:
        """Success of these steps under an operator."""
        lift = self._lifts.get((operator, len(steps)), 1.0)
        return min(lift * self._product(steps), 1 - 1e-6)

    def _product(self, steps: Sequence[str]) -> float:
        return math.prod(map(self.step, steps))

    def _measured_lifts(self, composites: Sequence[Answered]) -> dict[tuple[OperatorName, int], float]:
        """By operator and size: successes that came, against those that the products had promised."""
        found: defaultdict[tuple[OperatorName, int], float] = defaultdict(lambda: PRIOR_SUCCESSES)
        promised = found.copy()
        for each in composites:
            answers, solved = each.above_guessing
            found[each.operator, each.size] += solved
            promised[each.operator, each.size] += answers * self._product(each.steps)
        return {kind: max(found[kind], LEAST_SUCCESSES) / promised[kind] for kind in found}


class Aim:
    """What a search prefers: chains whose predicted success is near the one that is sought."""

    def __init__(self, prediction: Prediction, success: float, sizes: Sequence[int]) -> None:
        self._prediction, self._success = prediction, success
        self._a_step = success ** (len(sizes) / sum(sizes))

    def weight(self, program: str) -> float:
        """How much a program is preferred as a step, in (0, 1]: most where all steps alike would make the chain."""
        return max(LEAST_WEIGHT, _bell(self._prediction.step(program), self._a_step))

    def nearness(self, operator: OperatorName, steps: Sequence[str]) -> float:
        """How near a chain comes, in [0, 1]."""
        return _bell(self._prediction.chain(operator, steps), self._success)


def _sums(shown: Shown) -> dict[str, tuple[float, float]]:
    """Answers and successes of each program: to itself, and its part of those to what is composed of it."""
    sums = {program: (recent.weight, recent.successes) for program, recent in shown.programs.items()}
    for each in shown.composites:
        if each.operator not in OF_STEPS:
            continue
        answers = each.recent.weight / each.size
        rate = ((each.recent.successes + 1) / (each.recent.weight + 2)) ** (1 / each.size)
        for step in each.steps:
            weight, successes = sums.get(step, (0.0, 0.0))
            sums[step] = weight + answers, successes + answers * rate
    return sums


def _bell(success: float, centre: float) -> float:
    return math.exp(-((success - centre) ** 2) / (2 * WIDTH**2))
