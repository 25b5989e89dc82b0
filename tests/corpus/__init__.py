"""Replies as a language model might write them, and what each should meet."""

from dataclasses import dataclass
from pathlib import Path

import yaml

FOLDER = Path(__file__).parent
REPLIES = FOLDER / "replies"


@dataclass(frozen=True)
class Row:
    """A line of the manifest; `gate` is empty where the gates must let it pass."""

    name: str
    by: str
    style: str
    gate: str = ""
    reason: str = ""
    needs: str = ""
    fault: str = ""
    kind: str = ""

    @property
    def path(self) -> Path:
        return REPLIES / f"{self.name}.txt"


def rows() -> list[Row]:
    """The manifest, in its order."""
    return [Row(**row) for row in yaml.safe_load((FOLDER / "manifest.yaml").read_text(encoding="utf-8"))]
