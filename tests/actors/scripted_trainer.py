"""A scripted trainer: it asks a service for questions, answers half of them rightly, and has the answers judged.

    python -m tests.actors.scripted_trainer URL NAME RUN_FOLDER LOG

It knows the answers from the pool itself. LOG gets a line before each request to score and another one after it, so
that whoever kills it knows what it had sent and what it was told.
"""

from __future__ import annotations

import sys
from pathlib import Path

from envpool import Pool
from envpool.async_pool import UnknownMember
from envpool.contract import Failed, Recipe
from envpool.exchange.service.client import ServiceClient
from tests.envpool.exchange.exchanged import perfect

GROUP = 4
QUESTIONS = 4


class ScriptedTrainer:
    """One client of a service."""

    def __init__(self, url: str, name: str, pool: Pool, log: Path) -> None:
        self._service = ServiceClient(url, name)
        self._pool, self._log = pool, log
        self._sent = 0

    def step(self) -> None:
        """One batch: questions, a group of answers to each, their verdicts."""
        for question in self._service.sample(QUESTIONS):
            self._sent += 1
            self._write(f"sent {self._sent} {GROUP}")
            outcomes = self._service.score(question.recipe, self._answers(question.recipe), f"request-{self._sent}")
            self._write(f"told {self._sent} {sum(not isinstance(each, Failed) for each in outcomes)}")

    def _answers(self, recipe: Recipe) -> list[str]:
        """Half of them right, where the pool knew the member when it was opened."""
        try:
            right = perfect(self._pool.build(recipe))
        except UnknownMember:
            right = "I do not know."
        return [right, "<answer>nothing of the kind</answer>"] * (GROUP // 2)

    def _write(self, line: str) -> None:
        with self._log.open("a", encoding="utf-8") as log:
            log.write(line + "\n")


def told(log: Path) -> dict[str, int]:
    """Answers that were judged, by request."""
    rows = [line.split() for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []
    return {request: int(count) for kind, request, count in rows if kind == "told"}


def under_way(log: Path) -> list[int]:
    """Answers of the requests whose reply never came."""
    rows = [line.split() for line in log.read_text(encoding="utf-8").splitlines()]
    known = told(log)
    return [int(count) for kind, request, count in rows if kind == "sent" and request not in known]


def main(url: str, name: str, run: str, log: str) -> None:
    with Pool.open(run) as pool:
        trainer = ScriptedTrainer(url, name, pool, Path(log))
        while True:
            trainer.step()


if __name__ == "__main__":
    main(*sys.argv[1:])
