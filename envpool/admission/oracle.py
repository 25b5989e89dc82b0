"""Gate L5: the reference scores; wrong, malformed and meaningless answers do not; guessing does not pay; no leak.

Invariant: answers are judged as in training: an equality oracle by comparing canonical bytes here, a feasibility
oracle by `verify` in the child. What reaches it is always well typed, because answers are read by type; so what is
malformed must fail in reading, and nothing that is well typed may make `verify` fail.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from envpool.admission.draws import Draw, brief, expect, runs
from envpool.admission.form import Candidate
from envpool.admission.guessing import GuessRates, guess_rates, guesses, in_words
from envpool.admission.leaks import find_leak
from envpool.admission.nonsense import pays_for_nothing
from envpool.admission.perturb import MALFORMED, perturbations
from envpool.admission.settings import AdmissionSettings
from envpool.admission.verdict import Refusal
from envpool.answers import UnparsableAnswer, read, write
from envpool.contract import Recipe, seeded
from envpool.sandbox import Call, Executor
from envpool.signatures import canonical_bytes, to_wire

FEASIBLE_SHARE = 0.5  # of a feasibility oracle's perturbed answers that may be valid too (ours)
MORE_DRAWS = (120, 480)  # looked at, one after the other, while the guess rate is in doubt (ours)
FIRST_CHUNK, CHUNK = 4, 64  # verifications to a job: one that fails ends the gate, and each failure costs a child
MORE_SEEDS = 1_000_000  # where their seeds begin


@dataclass(frozen=True, slots=True)
class Ask:
    """One answer to one draw, and why it is asked."""

    draw: int
    kind: str  # "reference", "perturbed", "meaningless", "malformed", or a way of guessing
    answer: object


async def judges(
    executor: Executor,
    candidate: Candidate,
    draws: Sequence[Draw],
    settings: AdmissionSettings,
    *,
    strict: bool = False,
) -> Mapping[str, Any]:
    """Guess rates as evidence; `strict` refuses an answer that is only looked up. Raises Refusal.

    A brick may do no more than take the first of a pair; what a policy writes must ask for more.
    """
    _reads_back(candidate, draws)
    if leak := find_leak(candidate, draws):
        raise Refusal(leak)
    parts = strict or candidate.program.oracle == "feasibility"
    asks = [*_asks(candidate, draws, settings), *guesses(candidate, draws, Ask, parts=parts)]
    scores = await _scores(executor, candidate, draws, asks)
    _references_score(draws, asks, scores)
    valid = _perturbed_valid(candidate, draws, asks, scores)
    if payment := pays_for_nothing(candidate, draws, asks, scores):
        raise Refusal(payment)
    rates = await _guess_rates(executor, candidate, draws, settings, guess_rates(draws, asks, scores), parts)
    evidence = {"guess_rate": rates.best, "guess_rates": dict(rates.by_way), "perturbed_valid": valid}
    if rates.best > settings.guess_limit:
        reason = f"{rates.best:.2f} of the draws are solved by guessing ({in_words(rates.best_way)}), above"
        raise Refusal(f"{reason} {settings.guess_limit}", **evidence)
    return evidence


def _reads_back(candidate: Candidate, draws: Sequence[Draw]) -> None:
    """The reference must survive the way a solver's answer takes."""
    for draw in draws:
        (value,) = read(write([draw.reference], [candidate.codomain]), [candidate.codomain])
        if isinstance(value, UnparsableAnswer) or canonical_bytes(value) != canonical_bytes(draw.reference):
            raise Refusal(f"the reference does not read back for {draw.where}: {brief(draw.reference)}")


def _asks(candidate: Candidate, draws: Sequence[Draw], settings: AdmissionSettings) -> list[Ask]:
    asks: list[Ask] = []
    malformed = list(_legible(MALFORMED, candidate))
    for place, draw in enumerate(draws):
        rng = seeded(f"perturb:{draw.recipe.key()}")
        wrong = perturbations(draw.reference, candidate.codomain, rng, settings.perturbations)
        asks.append(Ask(place, "reference", draw.reference))
        asks += [Ask(place, "perturbed", answer) for answer in wrong]
        asks += [Ask(place, "malformed", answer) for answer in malformed]
    return asks


def _legible(texts: Iterable[str], candidate: Candidate) -> Iterable[object]:
    """What the answer grammar makes of malformed texts: nothing, nearly always."""
    for text in texts:
        try:
            (value,) = read(text, [candidate.codomain])
        except UnparsableAnswer:
            continue
        if not isinstance(value, UnparsableAnswer):
            yield value


async def _scores(
    executor: Executor, candidate: Candidate, draws: Sequence[Draw], asks: Sequence[Ask]
) -> list[float]:
    if candidate.program.oracle == "equality":
        keys = [canonical_bytes(draw.reference) for draw in draws]
        return [float(canonical_bytes(ask.answer) == keys[ask.draw]) for ask in asks]
    scores: dict[int, float] = {}
    for chunk in _chunks(sorted(range(len(asks)), key=lambda n: asks[n].draw)):
        calls = [Call("verify", (draws[asks[n].draw].wire, to_wire(asks[n].answer))) for n in chunk]
        results = await executor.run(candidate.program.source, calls)
        for n, result in zip(chunk, results, strict=True):
            what = f"verify of the {asks[n].kind} answer {brief(asks[n].answer)}"
            scores[n] = _score(expect(result, what, draws[asks[n].draw].recipe))
    return [scores[n] for n in range(len(asks))]


def _chunks(order: Sequence[int]) -> Iterator[Sequence[int]]:
    """Few at first, then more: a scorer that hangs must not burn the limit in many answers before the gate ends."""
    start, length = 0, FIRST_CHUNK
    while start < len(order):
        yield order[start : start + length]
        start, length = start + length, min(2 * length, CHUNK)


def _score(value: object) -> float:
    if not isinstance(value, float) or not 0 <= value <= 1:
        raise Refusal(f"verify returns {value!r:.40}, which is no verdict")
    return value


def _references_score(draws: Sequence[Draw], asks: Sequence[Ask], scores: Sequence[float]) -> None:
    for ask, score in zip(asks, scores, strict=True):
        if ask.kind == "reference" and score != 1.0:
            where = draws[ask.draw].where
            raise Refusal(f"the reference scores {score}, not 1, for {where}: {brief(ask.answer)}")


def _perturbed_valid(
    candidate: Candidate, draws: Sequence[Draw], asks: Sequence[Ask], scores: Sequence[float]
) -> float:
    """The share of perturbed answers that score fully. Raises Refusal where it is too large."""
    verdicts = [
        (score == 1.0, ask) for ask, score in zip(asks, scores, strict=True) if ask.kind == "perturbed"
    ]
    valid = [ask for full, ask in verdicts if full]
    share = len(valid) / len(verdicts) if verdicts else 0.0
    if share > (FEASIBLE_SHARE if candidate.program.oracle == "feasibility" else 0.0):
        draw = draws[valid[0].draw]
        example = f"{brief(valid[0].answer)} in place of {brief(draw.reference)} for {draw.where}"
        raise Refusal(f"{share:.2f} of the perturbed answers score, such as {example}", perturbed_valid=share)
    return share


async def _guess_rates(
    executor: Executor,
    candidate: Candidate,
    draws: Sequence[Draw],
    settings: AdmissionSettings,
    rates: GuessRates,
    parts: bool,
) -> GuessRates:
    """Where the draws leave doubt, the rates over more of them: a fair two-valued answer must not fall by chance."""
    seen = list(draws)
    for wanted in MORE_DRAWS if candidate.program.oracle == "equality" else ():
        if abs(rates.best - settings.guess_limit) > 1 / math.sqrt(len(seen)):  # about two standard errors
            break
        seen += await runs(executor, candidate, _more(candidate, draws, range(len(seen), wanted)))
        asks = guesses(candidate, seen, Ask, parts=parts)
        rates = guess_rates(seen, asks, await _scores(executor, candidate, seen, asks))
    return rates


def _more(candidate: Candidate, draws: Sequence[Draw], places: range) -> list[Recipe]:
    levels = sorted({draw.recipe.level for draw in draws})
    return [Recipe(candidate.program.id, MORE_SEEDS + n, levels[n % len(levels)]) for n in places]
