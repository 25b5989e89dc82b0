"""What a page of the documentation shows a reader: files to write, commands to type, scripts, and what comes out.

A fenced block with a title is a file. In a `bash` block every line is a command. A `text` block that follows a command
or a script at once is what it prints, where `...` stands for anything.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

FENCE = re.compile(
    r"^(?:<!-- exit (?P<exit>\d+) -->\n)?```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
REMARK = re.compile(r"(?:^|\s{2,})#.*$")
SHELL = re.compile(r"[|&;<>$`]")
"""What only a shell understands."""


@dataclass(frozen=True)
class Block:
    """A fenced block; `exits` is what its last command ends with, `prints` what the page says comes out."""

    language: str
    title: str
    text: str
    exits: int
    prints: str | None

    @property
    def commands(self) -> list[str]:
        """The lines of a `bash` block without their remarks."""
        if self.language != "bash" or self.title:
            return []
        lines = self.text.replace("\\\n", " ").splitlines()
        return [line for line in (REMARK.sub("", line).strip() for line in lines) if line]


def blocks(page: Path) -> list[Block]:
    """Every fenced block of a page, in its order."""
    text = page.read_text(encoding="utf-8")
    shown = []
    for match, after in pairwise([*FENCE.finditer(text), None]):
        assert match is not None
        follows = (
            after is not None
            and after["language"] == "text"
            and not text[match.end() : after.start()].strip()
        )
        prints = after["text"] if after is not None and follows else None
        shown.append(
            Block(match["language"], match["title"] or "", match["text"], int(match["exit"] or 0), prints)
        )
    return shown


def commands(page: Path) -> Iterator[str]:
    """Every command that a page shows."""
    for block in blocks(page):
        yield from block.commands


def words(command: str) -> list[str] | None:
    """The arguments of a command that needs no shell; None for one that does."""
    return None if SHELL.search(command) else shlex.split(command)


def matches(printed: str, shown: str) -> bool:
    """Whether a program printed what a page shows, by lines, whatever the spaces; `...` stands for anything."""
    parts = [r"\s+".join(map(re.escape, part.split())) for part in shown.split("...")]
    return re.search(r"[\s\S]*?".join(parts), printed) is not None
