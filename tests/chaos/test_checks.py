"""The checks of a run: nothing is found in one that is whole, and each kind of violation is, on a doctored store."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lmdb
import pytest

from cluster.config import Config
from cluster.metrics import samples
from cluster.wanted import first
from envpool.answer_counts import AnswerCount
from envpool.members import Member, Origin, Program, Status
from envpool.store import PoolReader, PoolReplica, PoolWriter, encoding
from envpool.store.encoding import JournalEntry
from envpool.store.snapshots import snapshot_chunks
from tests.chaos import checks
from tests.chaos.checks import violations
from tests.chaos.evidence import Compared, Evidence, Seen, compare
from tests.simulated.learner import SimulatedLearner
from tests.simulated.ledger import Ledger
from tests.simulated.runs import simulated
from training.grpo.settings import LearnerSettings

SEED = Member(Program("seed", "Seed", "Rule.", "int", "int"), Origin.SEED)
GROWN = Member(Program("grown", "Grown", "Rule.", "int", "str"), Origin.GRAMMAR)
UPDATES = [(1, ["a", "b"]), (2, ["c", "d"])]
WAITING = "w"
QUESTION = 'Write the input in upper-case letters.\n\nInput: "abc"\n\nAnswer as text.'


class Ended:
    """A run that ended well, in files; each doctor spoils one thing."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.seen = Seen(
            ids={SEED.id, GROWN.id}, versions={"weights": [1, 2, 2]}, replicas=[Compared("n", 9)], shipped=1,
            counts={"sandbox": {2, 5}},
        )  # fmt: skip
        config.run_folder.mkdir(parents=True)
        self.ledger = Ledger(config, "test")
        self._fill_pool()
        self._save(UPDATES)
        self._tell()

    @property
    def evidence(self) -> Evidence:
        return Evidence(self.config, self.seen)

    def found(self) -> list[str]:
        evidence = self.evidence
        try:
            return violations(evidence)
        finally:
            evidence.pool.close()

    def put(self, database: str, key: bytes, value: bytes | None) -> None:
        """Behind the store's back."""
        with lmdb.open(str(self.config.pool_folder), max_dbs=20, map_size=1 << 26) as env:
            db = env.open_db(database.encode())
            with env.begin(write=True) as txn:
                if value is None:
                    assert txn.delete(key, db=db)
                else:
                    txn.put(key, value, db=db)

    def put_state(self, key: str, value: Any) -> None:
        self.put("state", encoding.state_key(key), encoding.pack(value))

    def buffer(self, **changes: Any) -> None:
        state = {
            "entries": {"permit-w": {"state": "ready", "version": 2, "stamp": None, "id": WAITING}},
            "gone": [], "past": [["x", "dropped"]], "dropped": {"stale": 1}, "trained": 4, "issued": 6,
        }  # fmt: skip
        self.put_state("buffer", state | changes)

    def update(self, group: dict[str, Any], version: int = 2) -> None:
        whole = {"id": "a", "role": "solver", "rewards": [0.0, 1.0], "successes": 1, "low": 1, "high": 1}
        self.ledger.write("update", version=version, groups=[whole | group])

    def save(self, updates: list[tuple[int, list[str]]], step: int | None = None) -> None:
        self._save(updates, step)

    def step(self, version: int) -> None:
        with (self.config.run_folder / "metrics.jsonl").open("a") as file:
            file.write(json.dumps({"kind": "step", "version": version}) + "\n")

    def respond(self, response: str, reward: float) -> None:
        row = {"group": "a", "prompt": QUESTION, "response": response, "reward": reward}
        path = self.config.run_folder / f"samples/second/version-{time.time_ns()}.parquet"
        samples.write(path, [row, row | {"prompt": "Of a rule that nobody knows."}])

    def _fill_pool(self) -> None:
        with PoolWriter.open(self.config.pool_folder, 1 << 26) as pool:
            pool.admit(SEED)
            pool.admit(GROWN)
            pool.reject("p0", Origin.POLICY, "L1", "no program")
            pool.transition(GROWN.id, Status.RESTING, "solved")
            pool.record([AnswerCount(SEED.id, "main", 0, 4, 2, 3, 0)])
            pool.put_state("checkpoint", {"step": 2, "version": 2})
            pool.put_state("phase", "training")
            pool.put_state("wanted", first(self.config).model_dump(mode="json"))
        self.buffer()

    def _save(self, updates: list[tuple[int, list[str]]], step: int | None = None) -> None:
        learner = SimulatedLearner(LearnerSettings(model_path=Path("none")))
        learner.updates, learner.version = updates, 2
        learner.save(self.config.run_folder / "checkpoints", {"step": len(updates) if step is None else step})

    def _tell(self) -> None:
        for id in (SEED.id, GROWN.id):
            self.ledger.write("admit", by="pool", id=id, new=True)
        for id in ("a", "b", "c", "d", WAITING, "x"):
            self.ledger.write("put", by="buffer", group=id, state="ready")
        self.ledger.write("put", by="buffer", group="flat", state="dropped")
        self.update({})
        self.respond("<answer>ABC</answer>", 1.0)
        self.respond("<answer>7</answer>", 0.0)
        self.step(1)
        self.step(2)


@pytest.fixture
def ended(tmp_path: Path) -> Ended:
    return Ended(simulated("doctored", tmp_path))


def entry(kind: str, **facts: Any) -> bytes:
    return encoding.pack_entry(JournalEntry(0, 0.0, 0, kind, **facts))


def counts(*row: Any) -> bytes:
    return entry("answers", evidence={"counts": [row]})


def twice_admitted(run: Ended) -> None:
    run.put("journal", encoding.sequence(6), entry("admit", id=SEED.id, origin="seed", to="active"))


def lost_record(run: Ended) -> None:
    run.put("members", GROWN.id.encode(), None)


def lost_altogether(run: Ended) -> None:
    run.ledger.write("admit", by="pool", id="never-there", new=True)


def seen_and_gone(run: Ended) -> None:
    run.seen.ids.add("seen-once")


def new_twice(run: Ended) -> None:
    run.ledger.write("admit", by="pool", id=SEED.id, new=True)


def another_status(run: Ended) -> None:
    run.put("status", GROWN.id.encode(), b"active\0grammar\x000")


def in_the_pool_unannounced(run: Ended) -> None:
    run.put("by_status", encoding.joined("active", "seed", "smuggled"), b"")


def a_right_answer_without_reward(run: Ended) -> None:
    run.respond("<answer>ABC</answer>", 0.0)


def a_wrong_answer_with_reward(run: Ended) -> None:
    run.respond("<answer>7</answer>", 1.0)


def too_many_answers(run: Ended) -> None:
    run.put("journal", encoding.sequence(6), counts(SEED.id, "main", 0, 400, 2, 3, 0))


def more_successes_than_answers(run: Ended) -> None:
    run.put("journal", encoding.sequence(5), counts(SEED.id, "main", 0, 4, 5, 4, 0))


def a_version_back(run: Ended) -> None:
    run.step(2)


def published_version_back(run: Ended) -> None:
    run.seen.versions["weights"].append(1)


def a_version_twice(run: Ended) -> None:
    run.save([(1, ["a", "b"]), (1, ["c", "d"])])


def a_group_twice(run: Ended) -> None:
    run.save([(1, ["a", "b"]), (2, ["c", "a", "d"])])


def trained_and_waiting(run: Ended) -> None:
    run.save([(1, ["a", "b"]), (2, ["c", "d", WAITING])])


def a_group_gone(run: Ended) -> None:
    run.ledger.write("put", by="buffer", group="vanished", state="ready")


def an_offered_group_gone(run: Ended) -> None:
    run.ledger.write("offer", by="buffer", group="vanished", state="ready")


def called_trained_and_in_no_weights(run: Ended) -> None:
    run.ledger.write("put", by="buffer", group="skipped", state="ready")
    run.buffer(past=[["skipped", "trained"]])


def kept_as_trained_and_in_no_weights(run: Ended) -> None:
    run.buffer(entries={"permit-w": {"state": "trained", "version": 2, "stamp": None, "id": WAITING}})


def a_waiting_group_gone(run: Ended) -> None:
    run.buffer(entries={})


def dropped_without_reason(run: Ended) -> None:
    run.buffer(dropped={"": 3})


def a_stale_group(run: Ended) -> None:
    run.update({"low": 0}, version=9)


def a_skipped_update(run: Ended) -> None:
    run.save(UPDATES[:1], step=2)


def another_checkpoint(run: Ended) -> None:
    run.put_state("checkpoint", {"step": 1, "version": 1})


def a_torn_checkpoint(run: Ended) -> None:
    (run.config.run_folder / "checkpoints/version-000002/updates.json").write_text("[")


def an_order_forgotten(run: Ended) -> None:
    run.seen.counts["sandbox"] = {3, 4}


def a_replica_that_differs(run: Ended) -> None:
    run.seen.replicas.append(Compared("m", 9, "members b'x'"))


def no_replica(run: Ended) -> None:
    run.seen.replicas.clear()


def nothing_trained(run: Ended) -> None:
    run.save([], step=0)


def nothing_admitted(run: Ended) -> None:
    run.seen.shipped = 2


DOCTORS: dict[Callable[[Ended], None], str] = {
    twice_admitted: "admitted_once",
    lost_record: "pool_is_whole",
    lost_altogether: "acknowledged_admissions_stay",
    seen_and_gone: "acknowledged_admissions_stay",
    new_twice: "acknowledged_admissions_stay",
    another_status: "pool_is_whole",
    in_the_pool_unannounced: "admitted_once",
    a_right_answer_without_reward: "verdicts_are_right",
    a_wrong_answer_with_reward: "verdicts_are_right",
    too_many_answers: "answers_were_asked",
    more_successes_than_answers: "answers_were_asked",
    a_version_back: "versions_only_rise",
    published_version_back: "versions_only_rise",
    a_version_twice: "versions_only_rise",
    a_group_twice: "groups_count_once",
    trained_and_waiting: "groups_count_once",
    a_group_gone: "no_group_is_skipped",
    an_offered_group_gone: "no_group_is_skipped",
    called_trained_and_in_no_weights: "no_group_is_skipped",
    kept_as_trained_and_in_no_weights: "no_group_is_skipped",
    a_waiting_group_gone: "no_group_is_skipped",
    dropped_without_reason: "no_group_is_skipped",
    a_stale_group: "groups_are_fresh",
    a_skipped_update: "checkpoint_is_what_was_trained",
    another_checkpoint: "checkpoint_is_what_was_trained",
    a_torn_checkpoint: "checkpoint_is_what_was_trained",
    an_order_forgotten: "orders_hold",
    a_replica_that_differs: "replicas_are_equal",
    no_replica: "replicas_are_equal",
    nothing_trained: "progress_was_made",
    nothing_admitted: "progress_was_made",
}


def test_nothing_is_found_in_a_run_that_ended_well(ended: Ended) -> None:
    assert ended.found() == []


@pytest.mark.parametrize("doctor", DOCTORS, ids=lambda doctor: doctor.__name__)
def test_each_violation_is_found_and_named(ended: Ended, doctor: Callable[[Ended], None]) -> None:
    doctor(ended)
    assert DOCTORS[doctor] in {text.partition(":")[0] for text in ended.found()}


@pytest.mark.parametrize("reward", [math.nan, math.inf, -0.1, 1.1, None])
def test_a_reward_that_is_no_verdict_is_found(ended: Ended, reward: Any) -> None:
    ended.update({"rewards": [0.0, reward]})
    assert any(text.startswith("rewards_are_verdicts") for text in ended.found())


def test_more_successes_than_answers_of_a_group_are_found(ended: Ended) -> None:
    ended.update({"successes": 3})
    assert any(text.startswith("rewards_are_verdicts") for text in ended.found())


def test_every_check_is_shown_to_fail() -> None:
    shown = {*DOCTORS.values(), "rewards_are_verdicts"}
    assert shown == {check.__name__ for check in checks.CHECKS}


def test_a_replica_is_compared_row_by_row(ended: Ended, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    with PoolReader.open(ended.config.pool_folder) as pool, PoolReplica.open(folder, 1 << 26) as replica:
        position = replica.restore(snapshot_chunks(pool))
    assert compared(ended, folder) == Compared("n", position.change)
    with lmdb.open(str(folder), max_dbs=20, map_size=1 << 26) as env, env.begin(write=True) as txn:
        txn.put(b"phase", encoding.pack("done"), db=env.open_db(b"state", txn))
    assert compared(ended, folder) == Compared("n", position.change, "state b'phase'")


def test_a_replica_that_is_behind_is_not_compared(ended: Ended, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    with PoolReader.open(ended.config.pool_folder) as pool, PoolReplica.open(folder, 1 << 26) as replica:
        replica.restore(snapshot_chunks(pool))
    with PoolWriter.open(ended.config.pool_folder, 1 << 26) as pool:
        pool.put_state("more", 1)
    assert compared(ended, folder) is None


def compared(run: Ended, folder: Path) -> Compared | None:
    with PoolReader.open(run.config.pool_folder) as pool:
        return compare("n", folder, pool)
