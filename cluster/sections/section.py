"""What sections are made of: the base of all of them, and the types of common values. No key stands here."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0)]


class Section(BaseModel):
    """A group of keys; frozen, and closed to keys that it does not name."""

    model_config = ConfigDict(extra="forbid", frozen=True)
