"""Random histories of a pool: whatever is done, the indexes, counters and journal tell the same story."""

import shutil
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from envpool.answer_counts import AnswerCount, Counts
from envpool.members import Composite, Member, Origin, Program, Status
from envpool.store import PoolWriter, StoreError
from envpool.store.writing import MOVES

TYPES = ("int", "str", "list[int]")
MAP_SIZE = 64 << 20


class PoolHistory(RuleBasedStateMachine):
    members = Bundle("members")

    @initialize()
    def open(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pool-"))
        self.pool = PoolWriter.open(self.folder, MAP_SIZE)
        self.records: dict[str, Member] = {}
        self.standing: dict[str, Status] = {}
        self.origins: dict[str, Origin] = {}
        self.funnel: Counter[str] = Counter()
        self.sums: dict[tuple[str, int], Counts] = {}
        self.moves = 0

    def teardown(self) -> None:
        if hasattr(self, "pool"):
            self.pool.close()
            shutil.rmtree(self.folder)

    @rule(
        target=members,
        text=st.integers(0, 9),
        domain=st.sampled_from(TYPES),
        origin=st.sampled_from([Origin.SEED, Origin.GRAMMAR, Origin.POLICY]),
        status=st.sampled_from([Status.ACTIVE, Status.RESTING]),
    )
    def admit_a_program(self, text: int, domain: str, origin: Origin, status: Status) -> str:
        program = Program(f"source {text} \ud800", "Name", "Rule.", domain, "int")
        return self._admit(Member(program, origin, evidence={"n": text}), status)

    @rule(target=members, parts=st.lists(members, min_size=1, max_size=3))
    def admit_a_composite(self, parts: list[str]) -> str:
        composite = Composite("SEQUENTIAL", (tuple(parts),), "int", "int")
        member = Member(composite, Origin.COMPOSER, parents=tuple(dict.fromkeys(parts)))
        broken = any(self.standing.get(part) is Status.QUARANTINED for part in parts)
        if member.id in self.records or (all(part in self.records for part in parts) and not broken):
            return self._admit(member, Status.ACTIVE)
        with pytest.raises(StoreError, match=r"never admitted|quarantined"):
            self.pool.admit(member)
        return member.id

    def _admit(self, member: Member, status: Status) -> str:
        is_new = member.id not in self.records
        assert self.pool.admit(member, status) is is_new
        if is_new:
            self.records[member.id] = member
            self.standing[member.id], self.origins[member.id] = status, member.origin
            self.funnel["admitted"] += 1
            self.moves += 1
        return member.id

    @rule(target=members, text=st.integers(0, 9), gate=st.sampled_from(["L1", "duplicate"]))
    def reject_a_candidate(self, text: int, gate: str) -> str:
        identity = Program(f"source {text} \ud800", "", "", "int", "int").id
        self.pool.reject(identity, Origin.POLICY, gate, "it fell", {"line": 3}, source="s \udfff")
        if identity not in self.records:
            self.standing[identity], self.origins[identity] = Status.REJECTED, Origin.POLICY
            assert self.pool.rejection(identity).gate == gate
            assert self.pool.rejection(identity).source == "s \udfff"
        self.funnel[gate] += 1
        self.moves += 1
        return identity

    @rule(identity=members, to=st.sampled_from(list(Status)))
    def move(self, identity: str, to: Status) -> None:
        now = self.standing.get(identity, Status.REJECTED)
        if now is not Status.REJECTED and to is now:
            assert self.pool.transition(identity, to, "again") is False
        elif to in MOVES[now]:
            assert self.pool.transition(identity, to, "so decided") is True
            self._moved(identity, to)
        else:
            with pytest.raises(StoreError):
                self.pool.transition(identity, to, "not allowed")

    def _moved(self, identity: str, to: Status) -> None:
        self.standing[identity] = to
        self.moves += 1
        if to is Status.QUARANTINED:
            for child, record in self.records.items():
                if identity in record.parents and self.standing[child] is not to:
                    self._moved(child, to)

    @rule(identity=members)
    def distrust(self, identity: str) -> None:
        if identity not in self.records:
            with pytest.raises(StoreError, match="never admitted"):
                self.pool.distrust(identity, "it lies")
            return
        before = dict(self.standing)
        if before[identity] is not Status.QUARANTINED:
            self._moved(identity, Status.QUARANTINED)
        lost = self._composed_of(identity)
        answered = {id for id, _ in self.sums}
        touched = [id for id in lost if id in answered or before[id] is not Status.QUARANTINED]
        assert sorted(self.pool.distrust(identity, "it lies", {"seed": 3})) == sorted(touched)
        assert self.pool.distrust(identity, "it lies") == [], "the second time changes nothing"
        self.sums = {key: counts for key, counts in self.sums.items() if key[0] not in lost}
        self.moves += len(touched)

    def _composed_of(self, identity: str) -> set[str]:
        found, rest = {identity}, [identity]
        while rest:
            part = rest.pop()
            new = {child for child, record in self.records.items() if part in record.parents} - found
            found |= new
            rest += new
        return found

    @rule(identity=members, level=st.integers(0, 300), solved=st.integers(0, 8))
    def answer(self, identity: str, level: int, solved: int) -> None:
        self.pool.record([AnswerCount(identity, "main", level, 8, solved, 8, 1)] * 2)
        if self.standing.get(identity) is Status.QUARANTINED:
            return
        key = (identity, level)
        self.sums[key] = self.sums.get(key, Counts()) + Counts(16, 2 * solved, 16, 2)
        self.moves += 1

    @rule(text=st.integers(10, 12))
    def fail_inside_a_batch(self, text: int) -> None:
        with pytest.raises(StoreError, match="never admitted"), self.pool.batch():
            self.pool.admit(Member(Program(f"source {text}", "", "", "int", "int"), Origin.USER))
            self.pool.transition("nobody", Status.RETIRED, "it does not exist")

    @rule()
    def reopen(self) -> None:
        self.pool.close()
        self.pool = PoolWriter.open(self.folder, MAP_SIZE)

    @invariant()
    def the_indexes_agree_with_the_records(self) -> None:
        if not hasattr(self, "pool"):
            return
        assert {identity: self.pool.get(identity) for identity in self.pool.ids()} == self.records
        for identity in self.standing:
            assert self.pool.status(identity) == self.standing[identity]
            assert (self.pool.rejection(identity) is None) == (identity in self.records)
        for status in Status:
            expected = {identity for identity, each in self.standing.items() if each is status}
            assert set(self.pool.ids(status)) == expected
            assert self.pool.counts()[status] == len(expected)
        for origin in Origin:
            expected = {identity for identity in self.records if self.origins[identity] is origin}
            assert set(self.pool.ids(origin=origin)) == expected
        for domain in TYPES:
            expected = {identity for identity, each in self.records.items() if each.material.domain == domain}
            assert (
                set(self.pool.by_signature(domain)) == set(self.pool.by_signature(domain, "int")) == expected
            )
        for identity in self.records:
            expected = {child for child, each in self.records.items() if identity in each.parents}
            assert set(self.pool.children(identity)) == expected

    @invariant()
    def the_journal_holds_one_entry_for_each_transition(self) -> None:
        if not hasattr(self, "pool"):
            return
        journal = self.pool.journal(limit=10_000)
        assert [entry.seq for entry in journal] == list(range(1, self.moves + 1))
        assert self.pool.last_sequence() == self.moves
        admitted = [entry.id for entry in journal if entry.kind == "admit"]
        assert len(admitted) == len(set(admitted)) and set(admitted) == set(self.records)
        replayed = {entry.id: entry.to for entry in journal if entry.kind in ("admit", "reject", "move")}
        assert replayed == self.standing
        assert self.pool.funnel() == dict(self.funnel)

    @invariant()
    def the_sums_are_the_sums(self) -> None:
        if hasattr(self, "pool"):
            every = self.pool.all_stats("main")
            assert {(who, level): sums for who in every for level, sums in every[who].items()} == self.sums
            for identity, level in self.sums:
                assert self.pool.stats(identity, "main")[level] == self.sums[identity, level]


PoolHistory.TestCase.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
TestPoolHistory = PoolHistory.TestCase
