"""Gate L2, on size: questions and answers stay below limits, also one level above those that are used first (ours).

The time of a call needs no limit here: the sandbox ends a call that burns its CPU time, and that is a fault. So a
program whose work explodes with the level falls at the level where it does.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from envpool.admission.draws import Draw, runs
from envpool.admission.form import Candidate
from envpool.admission.settings import AdmissionSettings
from envpool.admission.verdict import Outgrown
from envpool.answers import answer_line, write
from envpool.contract import Recipe, render_prompt
from envpool.sandbox import Executor

FORESEEN = 2  # seeds


def fits(candidate: Candidate, draws: Sequence[Draw], settings: AdmissionSettings) -> Mapping[str, Any]:
    """The longest question and answer, in characters, as evidence. Raises Outgrown."""
    longest = {"prompt_characters": 0, "answer_characters": 0}
    line = answer_line([candidate.codomain])
    for draw in draws:
        prompt = len(render_prompt(candidate.program.rule, draw.shown, line))
        answer = len(write([draw.reference], [candidate.codomain]))
        if prompt > settings.prompt_characters:
            limit = settings.prompt_characters
            said = f"the question has {prompt} characters for {draw.where}, more than {limit}"
            raise Outgrown(draw.recipe.level, said)
        if answer > settings.answer_characters:
            limit = settings.answer_characters
            said = f"the answer has {answer} characters for {draw.where}, more than {limit}"
            raise Outgrown(draw.recipe.level, said)
        longest["prompt_characters"] = max(longest["prompt_characters"], prompt)
        longest["answer_characters"] = max(longest["answer_characters"], answer)
    return longest


async def foresees(
    executor: Executor, candidate: Candidate, highest: int, headroom: int, settings: AdmissionSettings
) -> None:
    """The levels just above must run as well. Raises Refusal."""
    for level in range(highest + 1, highest + 1 + headroom):
        recipes = [Recipe(candidate.program.id, seed, level) for seed in range(FORESEEN)]
        fits(candidate, await runs(executor, candidate, recipes), settings)
