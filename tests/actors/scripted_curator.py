"""A curator that gives the recipes it is told, in place of the real one where a test wants a certain one."""

from __future__ import annotations

from typing import Any

from actors.roster import Post
from envpool.answer_counts import AnswerCount
from envpool.contract import Recipe


class ScriptedCurator:
    def __init__(self, config: dict[str, Any], name: str) -> None:
        self.member = ""
        self.refuses = False
        self.counts: list[AnswerCount] = []
        self.seed = 0

    async def tell(self, member: str, refuses: bool = False) -> None:
        """Which member to ask, and whether its counts are taken."""
        self.member, self.refuses = member, refuses

    async def choose(self, count: int) -> list[dict[str, Any]]:
        if not self.member:
            return []
        self.seed += count
        return [Recipe(self.member, self.seed + index, 0).to_dict() for index in range(count)]

    async def record(self, counts: list[AnswerCount]) -> None:
        if self.refuses:
            raise ValueError("no counts today")
        self.counts += counts

    async def recorded(self) -> list[AnswerCount]:
        return self.counts


CURATOR = Post("curator", "tests.actors.scripted_curator:ScriptedCurator")
