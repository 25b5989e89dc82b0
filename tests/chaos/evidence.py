"""What is known of a run after it ended: its stores, and what was seen and acknowledged while it went.

Invariant: it reads only, and from files alone; no actor is asked. `checks` judges.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from cluster import wanted
from cluster.config import Config
from cluster.wanted import for_policy
from envpool.store import PoolReader
from envpool.store.encoding import JournalEntry, unpack
from tests.simulated import ledger
from tests.simulated.learner import updates_in
from training.grpo import checkpoints
from training.grpo.checkpoints import Checkpoint


@dataclass(frozen=True)
class Compared:
    """A replica held against the writer's pool, both at one position."""

    node: str
    position: int
    differs: str = ""
    """The first row that differs; empty: none. Says also why they could not be compared."""


@dataclass
class Seen:
    """What was looked at while the run went."""

    ids: set[str] = field(default_factory=set)
    """Members that a reader saw admitted."""
    dropped: dict[str, set[str]] = field(default_factory=dict)
    """Groups that a buffer's state said were dropped, by the state's key; which were trained, the weights say."""
    versions: dict[str, list[int]] = field(default_factory=dict)
    """Versions of the published weights in the order seen, by the state's key."""
    replicas: list[Compared] = field(default_factory=list)
    shipped: int = 0
    """Members that were there when training began."""
    counts: dict[str, set[int]] = field(default_factory=dict)
    """By kind, what may be wanted: the last count that was acknowledged, and those ordered since without an answer."""

    def look(self, pool: PoolReader, config: Config) -> None:
        """Take in what the pool shows now."""
        self.ids.update(pool.ids())
        for own in policies(config, pool):
            state = pool.state(own.own("buffer")) or {}
            self.dropped.setdefault(own.own("buffer"), set()).update(dropped_in(state))
            if weights := pool.state(own.own("weights")):
                self.versions.setdefault(own.own("weights"), []).append(int(weights["version"]))


@dataclass
class Evidence:
    """A run that has ended."""

    config: Config
    seen: Seen

    @cached_property
    def pool(self) -> PoolReader:
        """The run's pool."""
        return PoolReader.open(self.config.pool_folder)

    @cached_property
    def journal(self) -> list[JournalEntry]:
        """The whole history."""
        return list(history(self.pool))

    def lines(self, what: str) -> list[dict[str, Any]]:
        """Of all ledgers, in the order of time."""
        return sorted(ledger.lines(self.config.run_folder, what), key=lambda line: line["at"])

    def steps(self) -> list[dict[str, Any]]:
        """Update records of the run's own policy in the metrics, as they were written."""
        path, found = self.config.run_folder / "metrics.jsonl", []
        for text in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            try:
                line = json.loads(text)
            except ValueError:
                continue  # torn by a kill
            if line.get("kind") == "step":
                found.append(line)
        return found

    def responses(self) -> Iterator[dict[str, Any]]:
        """Prompt, response and reward of what was trained on, as far as the metrics actor lived to write it."""
        for path in sorted((self.config.run_folder / "samples").rglob("*.parquet")):
            yield from pq.read_table(path, columns=["group", "prompt", "response", "reward"]).to_pylist()

    def learners(self) -> list[Learnt]:
        """What each trained policy has come to."""
        return [Learnt(own, self.pool) for own in policies(self.config, self.pool)]


@dataclass
class Learnt:
    """One policy's surviving weights, and the groups on their way to it."""

    config: Config
    pool: PoolReader

    @cached_property
    def saved(self) -> Checkpoint | None:
        """The newest whole checkpoint."""
        return checkpoints.latest(self.config.policy_folder / "checkpoints")

    @cached_property
    def updates(self) -> list[tuple[int, list[str]]]:
        """Version and groups of each update in the surviving weights."""
        return updates_in(self.saved.folder) if self.saved else []

    @property
    def trained(self) -> list[str]:
        """Groups in the surviving weights, once for each time they are in them."""
        return [group for _, ids in self.updates for group in ids]

    @property
    def state(self) -> dict[str, Any]:
        """The buffer's own."""
        return self.pool.state(self.config.own("buffer")) or {}

    @cached_property
    def waiting(self) -> set[str]:
        """Groups that a next learner would be given."""
        entries = self.state.get("entries", {})
        version = self.saved.version if self.saved else 0
        known = {entry["id"] for entry in entries.values() if _waits(entry, version)}
        gone = set(self.state.get("gone", ()))
        prefix = f"{self.config.own('buffer')}/"
        for key in self.pool.group_keys(prefix):
            if key.removeprefix(prefix) not in {*entries, *gone}:  # put since the last save
                known.add(unpack(self.pool.group(key) or b"")["id"])
        return known


def policies(config: Config, pool: PoolReader) -> list[Config]:
    """The configuration of each policy that is trained, the run's own first."""
    attached = wanted.kept(pool.state(wanted.KEY), config).policies
    return [config, *(for_policy(config, spec) for spec in attached if spec.trainable)]


def dropped_in(state: Mapping[str, Any]) -> set[str]:
    """What a buffer's state remembers as dropped: permits and groups."""
    return {key for key, value in state.get("past", ()) if value == "dropped"}


def _waits(entry: Mapping[str, Any], version: int) -> bool:
    """Whether a learner that goes on from this version would be given the group."""
    return entry["state"] in ("ready", "taken") or (
        entry["state"] == "trained" and entry["version"] > version
    )


def history(pool: PoolReader, after: int = 0) -> Iterator[JournalEntry]:
    """The journal from an entry on."""
    while page := pool.journal(after, 5000):
        yield from page
        after = page[-1].seq


def compare(node: str, replica: Path, pool: PoolReader) -> Compared | None:
    """A replica held against the writer's pool row by row; None while they are not at one position."""
    with PoolReader.open(replica) as copy, pool.snapshot(), copy.snapshot():
        position = pool.position()
        if copy.position() != position:
            return None
        ours, theirs = pool.rows(), copy.rows()
        for row, other in zip(ours, theirs, strict=False):
            if row != other:
                return Compared(node, position.change, f"{row[0]} {row[1]!r}")
        for rest in (*ours, *theirs):
            return Compared(node, position.change, f"{rest[0]} {rest[1]!r} is in one only")
    return Compared(node, position.change)
