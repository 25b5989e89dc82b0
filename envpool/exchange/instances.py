"""An instance as plain data that any consumer can keep, and the answer that a perfect solver would give.

Invariant: `instance_from(plain(instance))` is the instance, also after JSON, so that scoring needs neither the program
that drew it nor its recipe to be run again.
"""

from collections.abc import Mapping
from typing import Any

from envpool.answers import CLOSE, OPEN, extract, write
from envpool.contract import Instance, Recipe
from envpool.signatures import from_wire, parse_type


def plain(instance: Instance) -> dict[str, Any]:
    """All that is needed to judge a response; values in wire form, which JSON takes."""
    return {
        "recipe": instance.recipe.to_dict(),
        "answer_types": list(instance.answer_types),
        "references": list(instance.references),
        "inputs": list(instance.inputs),
    }


def instance_from(data: Mapping[str, Any], prompt: str) -> Instance:
    """The instance that `plain` was asked about. Raises KeyError or TypeError for something else."""
    return Instance(
        recipe=Recipe.from_dict(data["recipe"]),
        prompt=prompt,
        answer_types=tuple(data["answer_types"]),
        references=tuple(data["references"]),
        inputs=tuple(data["inputs"]),
    )


def answer_of(instance: Instance) -> str:
    """A right answer, as it stands between the tags; where several are right, the one that was planted."""
    types = [parse_type(text) for text in instance.answer_types]
    values = [from_wire(reference) for reference in instance.references]
    return extract(write(values, types)).strip()


def response_with(answer: str) -> str:
    """A bare answer as a response; what opens an answer is one already, and stays unclosed if it is."""
    return answer if OPEN in answer else f"{OPEN}{answer}{CLOSE}"
