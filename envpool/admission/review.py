"""Gate "review": readers look for what no machine sees, such as a rule that says something else than the oracle does.

EvoEnv has the policy itself review each program three times: any "likely bug" rejects. It guards the pool and is never
rewarded, so it comes last, after calibration has measured all that a reward is made of; few get so far, and the
others cost no review. A review without the fixed last line is asked for once more, and then rejects. Whoever reads
comes in as a callable; prompt and verdict line are `review_text`'s.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

from envpool.admission.draws import Draw
from envpool.admission.form import Candidate
from envpool.admission.review_text import Opinion, read_opinion, review_prompt
from envpool.admission.verdict import Refusal
from envpool.answers import answer_line
from envpool.contract import render_prompt
from envpool.sandbox import InfrastructureFault
from envpool.signatures import literal

Review = Callable[[str, int], Awaitable[Sequence[str]]]
"""So many replies to one prompt, each given without the others in sight.

Raises InfrastructureFault where the reviewer gives none, Refusal where it cannot be asked this one.
"""

UNREADABLE = "unreadable"
KEPT_CHARACTERS = 4_000  # of a review, its end
SHOWN_CHARACTERS = 160  # of it in a reason


async def reviewed(review: Review, candidate: Candidate, draws: Sequence[Draw], count: int) -> Mapping[str, Any]:
    """What the reviewers said and how far they agree, as evidence. Raises Refusal, InfrastructureFault."""
    prompt = review_prompt(candidate.program.source, *_example(candidate, draws))
    replies = await _asked(review, prompt, count)
    if unreadable := sum(read_opinion(reply) is None for reply in replies):
        readable = [reply for reply in replies if read_opinion(reply) is not None]
        replies = [*readable, *await _asked(review, prompt, unreadable)]
    evidence = _evidence(replies)
    for reply in replies:
        if read_opinion(reply) is Opinion.LIKELY_BUG:
            reason = f"{_share(evidence)} find a likely bug: {_last_words(reply)}"
            raise Refusal(reason, review=reply[-KEPT_CHARACTERS:], **evidence)
    for reply in replies:
        if read_opinion(reply) is None:
            reason = "a review has no verdict in its last line, asked twice"
            raise Refusal(reason, review=reply[-KEPT_CHARACTERS:], **evidence)
    return evidence


def agreement(opinions: Sequence[str]) -> float | None:
    """The share of pairs of readable reviews that say the same; None where there is no pair."""
    pairs = list(combinations([each for each in opinions if each != UNREADABLE], 2))
    return sum(one == other for one, other in pairs) / len(pairs) if pairs else None


async def _asked(review: Review, prompt: str, count: int) -> list[str]:
    replies = list(await review(prompt, count))
    if len(replies) != count:
        raise InfrastructureFault(f"the reviewer gave {len(replies)} reviews, not {count}")
    return replies


def _evidence(replies: Sequence[str]) -> dict[str, Any]:
    opinions = [opinion.value if (opinion := read_opinion(reply)) else UNREADABLE for reply in replies]
    return {"reviews": opinions, "review_agreement": agreement(opinions)}


def _share(evidence: Mapping[str, Any]) -> str:
    counted = Counter(evidence["reviews"])
    return f"{counted[Opinion.LIKELY_BUG]} of {counted.total()} reviews"


def _example(candidate: Candidate, draws: Sequence[Draw]) -> tuple[str, str]:
    """The shortest question of the highest level, where most of a program is at work, and its reference."""
    highest = max(draw.recipe.level for draw in draws)
    draw = min((draw for draw in draws if draw.recipe.level == highest), key=lambda each: len(each.shown))
    line = answer_line([candidate.codomain])
    return render_prompt(candidate.program.rule, draw.shown, line), literal(draw.reference)


def _last_words(reply: str) -> str:
    """What stands above the verdict, on one line."""
    words = " ".join(reply.rstrip().splitlines()[:-1]).split()
    said = " ".join(words)
    return said if len(said) <= SHOWN_CHARACTERS else f"...{said[-SHOWN_CHARACTERS:]}"
