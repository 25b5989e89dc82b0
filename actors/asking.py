"""What gates ask of models: answers of the run's own policy to calibrate a candidate with, and reviews of it.

Invariant: a model that does not answer says nothing about the candidate, which is an InfrastructureFault; a model that
does not take the prompt, say because it is too long, cannot judge the candidate, which is a Refusal, and so is what the
candidate itself breaks on. What the answers mean is `envpool.admission`'s. Reviews are nobody's samples: they are never
trained on. What a program said while it was calibrated is not audited: it is no member yet that a finding could
quarantine, and is recomputed once it is asked in training.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ray.exceptions import RayTaskError

from actors.base import Actor
from actors.peers import PeerRetired, PeerUnavailable
from envpool.admission.verdict import Refusal
from envpool.answer_counts import Counts
from envpool.contract import Failed, Instance, Scored
from envpool.execution import Examiner
from envpool.members import Member
from envpool.sandbox import InfrastructureFault
from training.policy.errors import GenerationRefused, PolicyEngineError


class Models:
    """The models of one validator, for `Admission`."""

    def __init__(self, actor: Actor) -> None:
        self._actor = actor
        self._policy = actor.config.policy
        self._settings = actor.config.review
        self._reviewer = "" if self._settings.by == self._policy.name else self._settings.by
        self._reviewers = actor.solvers_of(self._reviewer)

    async def calibrate(self, member: Member, instances: list[Instance]) -> Counts | None:
        """One answer of the live solver for each instance, counted; None where the machine gave one no verdict.

        Raises Refusal where the program gave none: what breaks on an answer falls where scoring is tried (L5).
        """
        policy, prompts = self._policy, [instance.prompt for instance in instances]
        with _answering("solver"):
            answers = await self._actor.solvers.generate(prompts, 1, policy.max_tokens, policy.temperature)
        examiner = Examiner(self._actor.sandboxes, lambda _: member)
        outcomes = [
            await examiner.score(instance, answer[0]["text"])
            for instance, answer in zip(instances, answers, strict=True)
        ]
        failed = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
        for outcome in failed:
            if outcome.culprit:
                raise Refusal(f"it breaks on an answer: {outcome.reason.removeprefix('quarantine: ')}", "L5")
        if failed:
            return None
        scored = [outcome for outcome in outcomes if isinstance(outcome, Scored)]
        return Counts(len(outcomes), sum(outcome.success for outcome in scored), len(scored))

    async def review(self, prompt: str, count: int) -> Sequence[str]:
        """Replies of the declared reviewer to one prompt, each without the others in sight."""
        settings = self._settings
        hint = f" (`envolve attach {self._reviewer}` lets it join)" if self._reviewer else ""
        with _answering(f"reviewer {self._reviewer or self._policy.name}", hint):
            (samples,) = await self._reviewers.generate(
                [prompt], count, settings.max_tokens, settings.temperature, True
            )
        return [str(sample["text"]) for sample in samples]


@contextmanager
def _answering(who: str, hint: str = "") -> Iterator[None]:
    """The ways in which a model gives no answer, as gates tell them apart."""
    try:
        yield
    except GenerationRefused as refusal:
        raise Refusal(f"the {who} cannot be asked: {_said(refusal)}") from refusal
    except PeerRetired as error:
        raise InfrastructureFault(f"the {who} is no part of the run{hint}: {_said(error)}") from error
    except (PeerUnavailable, PolicyEngineError) as error:
        raise InfrastructureFault(f"the {who} does not answer: {_said(error)}") from error


def _said(error: Exception) -> str:
    """What the model's actor said; Ray puts the whole way to it in front, which would end up in the pool."""
    return str(error.cause if isinstance(error, RayTaskError) else error)
