"""What the outcomes of one question add to a policy's statistics."""

from collections.abc import Sequence

from envpool.answer_counts import AnswerCount
from envpool.contract import Failed, Outcome, Recipe, Scored
from envpool.sandbox import InfrastructureFault


def count_of(recipe: Recipe, policy: str, outcomes: Sequence[Outcome]) -> AnswerCount:
    """The count. A program's own failure is no answer of anybody's, as in a run."""
    scored = [outcome for outcome in outcomes if isinstance(outcome, Scored)]
    failed = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
    return AnswerCount(
        recipe.member,
        policy,
        recipe.level,
        attempts=len(outcomes) - len(failed),
        successes=sum(outcome.success for outcome in scored),
        parsed=len(scored),
        failures=sum(outcome.machine or outcome.killed for outcome in failed),
    )


def machine_fault(outcomes: Sequence[Outcome]) -> InfrastructureFault | None:
    """Why a request is to come again whole; None where the machine failed none of it.

    What could be judged is not left by chance: it is what needs no sandbox, such as a response without an answer.
    """
    reasons = [each.reason for each in outcomes if isinstance(each, Failed) and each.machine]
    return InfrastructureFault(reasons[0]) if reasons else None
