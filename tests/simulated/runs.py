"""The configuration of a simulated run, and such a run begun, watched and stopped in a Ray that is there already."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import ray
from ray._private.state import actors
from ray.exceptions import GetTimeoutError, RayActorError, RayTaskError

from actors import roster
from cluster.config import Config

HELD_OUT = "lists/last_number"
SIMULATED = {
    "solver": "tests.simulated.solver:SimulatedSolver",
    "learner": "tests.simulated.learner:SimulatedLearnerActor",
    "novelty": "tests.simulated.novelty:SimulatedNovelty",
    "validator": "tests.simulated.recorded:RecordedValidator",
    "generator": "tests.simulated.recorded:RecordedGenerator",
}
QUICK: dict[str, Any] = {
    "run": {"steps": 10**6, "actors": SIMULATED},
    "learner": {"groups_per_step": 4, "group_size": 4, "checkpoint_every": 5, "max_staleness": 1},
    "solver": {"concurrent_groups": 8},
    "sandbox": {"count": 2, "cpu_seconds": 5, "wall_seconds": 60},
    "generator": {"interval_seconds": 1, "group_size": 2, "few_shot": 1, "max_tokens": 64},
    "grammar": {"interval_seconds": 1, "batch": 1},
    "compose": {"size": 2},
    "composer": {"interval_seconds": 1, "batch": 2},
    "pool": {
        "map_size_gib": 1,
        "seeds": ["subset_sum"],
        "bricks": [
            "strings/upper_case", "strings/first_letter", "strings/first_word", "strings/count_words",
            "lists/first_number", HELD_OUT,
        ],
        "held_out": [HELD_OUT],
    },
    "evaluation": {"questions": 8, "held_out_questions": 4},
    "reward": {"format_bonus": 0.1},
    "supervision": {
        "heartbeat_seconds": 2, "missed_heartbeats": 5, "longest_pause_seconds": 2, "drain_seconds": 60,
        "node_failures": 10**6,
    },
    "metrics": {"prometheus": False, "tensorboard": False, "wandb": "off"},
}  # fmt: skip
"""Small pool, quick makers, small batches."""


def simulated(name: str, folder: Path, *changes: Mapping[str, Any]) -> Config:
    """A run whose stages are simulated; `changes` are sections laid over each other."""
    model = folder / "model"
    model.mkdir(parents=True, exist_ok=True)  # a policy's model is a folder, also where nothing reads it
    settings = merged(QUICK, {"run": {"name": name, "folder": str(folder)}, "policy": {"model": str(model)}})
    for change in changes:
        settings = merged(settings, change)
    return Config.model_validate(settings)


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with the leaves of `over` in place of its own."""
    found = dict(base)
    for key, value in over.items():
        known = found.get(key)
        found[key] = (
            merged(known, value) if isinstance(known, Mapping) and isinstance(value, Mapping) else value
        )
    return found


class SimulatedRun:
    """A run in the Ray that this process has joined, as its driver sees it."""

    def __init__(self, config: Config) -> None:
        self.config = config

    def begin(self, seconds: float = 120.0) -> None:
        """Make its supervisor, or adopt it, and wait until the run has begun."""
        roster.make(roster.supervisor(), self.config)
        self.until(lambda: self.ask("supervisor", "begin", None), seconds)

    def actor(self, name: str) -> Any:
        """The handle of the one that has the name now. Raises ValueError."""
        return ray.get_actor(name, self.config.namespace)

    def ask(self, name: str, method: str, *arguments: Any, seconds: float = 10.0) -> Any:
        """A call's answer; None while the actor is away. Raises the actor's own error."""
        try:
            return ray.get(getattr(self.actor(name), method).remote(*arguments), timeout=seconds)
        except RayTaskError:
            raise
        except (ValueError, GetTimeoutError, RayActorError):
            return None

    def until(self, condition: Callable[[], Any], seconds: float = 120.0) -> Any:
        """The first true value of the condition. Fails when it takes too long, and says what the run waits for."""
        deadline = time.monotonic() + seconds
        while not (value := condition()):
            assert time.monotonic() < deadline, f"nothing for {seconds:.0f} s: {self.waits()}"
            time.sleep(0.2)
        return value

    def status(self) -> dict[str, Any]:
        """What the metrics actor says; empty while it is away."""
        return self.ask("metrics", "status") or {}

    def waits(self) -> dict[str, Any]:
        """Who waits for whom, and who failed at what."""
        actors = self.status().get("actors", {})
        return {
            name: (report["waiting_for"], *(trace[-300:] for trace in report["first_failures"].values()))
            for name, report in actors.items()
        }

    def step(self) -> int:
        """Updates of the run's own policy so far."""
        return int((self.ask("learner", "progress") or {"step": 0})["step"])

    def pids(self) -> dict[str, int]:
        """Process ids of all actors of the run that live, by name."""
        return {name: row["Pid"] for name, row in self.rows().items() if row["State"] == "ALIVE"}

    def rows(self) -> dict[str, dict[str, Any]]:
        """What Ray knows of each actor of the run, by name: state, node and process."""
        table = actors()
        found = {}
        for name in roster.present(self.config):
            with suppress(ValueError, KeyError):  # made or gone just now
                found[name] = table[self.actor(name)._actor_id.hex()]
        return found

    def stop(self, now: bool = False, seconds: float = 120.0) -> None:
        """Have the run end as `envolve stop` does, and wait until none of its actors is left."""
        deadline = time.monotonic() + seconds
        while roster.present(self.config):
            self.ask("supervisor", "stop_run", now, seconds=seconds)
            assert time.monotonic() < deadline, f"left: {roster.present(self.config)}"
            time.sleep(0.5)
