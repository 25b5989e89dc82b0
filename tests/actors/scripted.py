"""An actor for tests: it answers, fails, or takes its time, as it is told."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from actors.roster import Post


class ScriptedActor:
    def __init__(self, config: dict[str, Any], name: str) -> None:
        self.name = name
        self.calls = 0

    async def pid(self) -> int:
        return os.getpid()

    async def count(self) -> int:
        self.calls += 1
        return self.calls

    async def refuse(self, text: str) -> None:
        raise ValueError(text)

    async def delivered(self, mark: str) -> int:
        """Leaves a mark; the first delivery never returns."""
        with Path(mark).open("a") as file:
            file.write(f"{os.getpid()}\n")
        if len(Path(mark).read_text().split()) == 1:
            await asyncio.sleep(600)
        return os.getpid()


def scripted(name: str = "scripted") -> Post:
    return Post(name, "tests.actors.scripted:ScriptedActor")
