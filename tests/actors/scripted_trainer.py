"""A scripted trainer: it asks a service for questions, answers half of them rightly, and has the answers judged.

    python -m tests.actors.scripted_trainer URL NAME RUN_FOLDER LOG [STEPS]

It knows the answers from the pool itself. LOG gets a line before each request to score, with the number of responses,
and another one after it, so that whoever kills it knows what it had sent and what it was told.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import httpx

from envpool import Pool
from envpool.async_pool import UnknownMember
from envpool.contract import Recipe
from envpool.exchange.service.messages import packed
from tests.envpool.exchange.exchanged import perfect

GROUP = 4
QUESTIONS = 4
PATIENCE_SECONDS = 120.0


class ScriptedTrainer:
    """One client of a service, by its protocol alone."""

    def __init__(self, url: str, name: str, pool: Pool, log: Path) -> None:
        self._client = httpx.Client(base_url=f"{url}/v1", timeout=60.0)
        self._name, self._pool, self._log = name, pool, log
        self._sent = 0

    def step(self) -> None:
        """One batch: questions, a group of answers to each, their verdicts."""
        for question in self._post("/sample", {"client": self._name, "count": QUESTIONS})["questions"]:
            responses = self._answers(Recipe.from_dict(question["recipe"]))
            self._sent += 1
            request = f"{self._name}/{self._sent}"
            self._write(f"sent {request} {len(responses)}")
            scored = {"client": self._name, "request": request, "recipe": question["recipe"], "responses": responses}
            outcomes = self._post("/score", scored)["outcomes"]
            self._write(f"told {request} {sum('failed' not in each for each in outcomes)}")

    def _answers(self, recipe: Recipe) -> list[str]:
        """Half of them right, where the pool knew the member when it was opened."""
        try:
            right = perfect(self._pool.build(recipe))
        except UnknownMember:
            right = "I do not know."
        return [right, "<answer>nothing of the kind</answer>"] * (GROUP // 2)

    def _post(self, path: str, message: dict[str, Any]) -> dict[str, Any]:
        """The reply, through whatever the service goes meanwhile."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                reply = self._client.post(path, content=packed(message), headers={"content-type": "application/json"})
            except httpx.TransportError:
                reply = None
            if reply is not None and reply.status_code != 503:
                reply.raise_for_status()
                return json.loads(reply.content)
            if time.monotonic() > deadline:
                raise TimeoutError(f"{path} was not answered for {PATIENCE_SECONDS:.0f} s")
            time.sleep(0.2)

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


def main(url: str, name: str, run: str, log: str, steps: str = "1000000") -> None:
    with Pool.open(run) as pool:
        trainer = ScriptedTrainer(url, name, pool, Path(log))
        for _ in range(int(steps)):
            trainer.step()


if __name__ == "__main__":
    main(*sys.argv[1:])
