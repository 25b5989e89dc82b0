"""What client and service say to each other: JSON of these shapes, under `PREFIX`.

Invariant: text of a model is any text, lone surrogates among it, and travels unchanged: JSON is written in ASCII.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainValidator

from envpool.contract import Failed, Outcome, Recipe, Scored, Unparsed
from envpool.exchange.service.backend import Question

PREFIX = "/v1"
TOKEN_VARIABLE = "ENVOLVE_TOKEN"
"""Environment variable that client and service take their token from."""
MAX_QUESTIONS = 256
"""Questions in one request (ours)."""
MAX_RESPONSES = 1024
"""Responses in one request (ours)."""
MAX_CHARACTERS = 1 << 20
"""Of one response (ours)."""


def _text(value: Any) -> str:
    # Not pydantic's own check, which refuses lone surrogates.
    if not isinstance(value, str) or len(value) > MAX_CHARACTERS:
        raise ValueError(f"a response is text of at most {MAX_CHARACTERS} characters")
    return value


Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[\w.:/@+-]+$")]


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RecipeFields(_Message):
    """A `Recipe`."""

    member: Annotated[str, Field(max_length=64)]
    seed: int
    level: Annotated[int, Field(ge=0, le=1 << 16)]
    attempt: Annotated[int, Field(ge=0, le=1 << 16)] = 0

    def recipe(self) -> Recipe:
        return Recipe(self.member, self.seed, self.level, self.attempt)


class SampleRequest(_Message):
    """POST `/v1/sample`."""

    client: Name
    """Who asks; shown in the status."""
    count: Annotated[int, Field(ge=1, le=MAX_QUESTIONS)] = 1


class ScoreRequest(_Message):
    """POST `/v1/score`: responses to one question. The same request sent again is answered alike and counted once."""

    client: Name
    request: Name
    """Made by the client, the same for each try."""
    recipe: RecipeFields
    responses: Annotated[
        list[Annotated[str, PlainValidator(_text)]], Field(min_length=1, max_length=MAX_RESPONSES)
    ]


def question_to_dict(question: Question) -> dict[str, Any]:
    """As it travels."""
    return asdict(question)


def question_from_dict(data: Mapping[str, Any]) -> Question:
    """Raises KeyError or TypeError where it is none."""
    return Question(Recipe.from_dict(data["recipe"]), data["prompt"], data["name"], data["family"])


def outcome_to_dict(outcome: Outcome) -> dict[str, Any]:
    """`score`; `unparsed` with the reason, which counts as 0; or `failed` with the reason, which is no score at all."""
    match outcome:
        case Scored(score=score):
            return {"score": score}
        case Unparsed(reason=reason):
            return {"unparsed": reason}
        case Failed(reason=reason):
            return {"failed": reason}


def outcome_from_dict(data: Mapping[str, Any]) -> Outcome:
    """Raises ValueError where it is none: what cannot be read is no verdict either."""
    match dict(data):
        case {"score": int() | float() as score}:
            return Scored(score)
        case {"unparsed": str(reason)}:
            return Unparsed(reason)
        case {"failed": str(reason)}:
            return Failed(reason)
    raise ValueError(f"not an outcome: {data!r}")


def packed(message: Mapping[str, Any]) -> bytes:
    """JSON, in ASCII: what a model wrote may not be UTF-8."""
    return json.dumps(message).encode("ascii")
