"""Random histories of proposals, answers, kills and restarts over a real pool on disk.

Whatever the order: no environment is admitted twice, none is lost, what is set apart is not copied, the seed floor
holds, no question is asked twice, and index, families and pool agree. A kill keeps what is on disk at that moment and
nothing else; it may take everything, or the validator, the novelty actor or the curator alone, and come between any two
steps of an admission. The gates are admission's own.
"""

import asyncio
import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from envpool.admission.copies import Claim, Copies
from envpool.admission.form import Candidate
from envpool.admission.register import Register
from envpool.admission.settings import AdmissionSettings
from envpool.admission.verdict import Refusal
from envpool.answer_counts import AnswerCount
from envpool.contract import Recipe
from envpool.curation import CurationSettings, Curator, Promote, Rest, Retire, Wake
from envpool.curation.standings import PLAYING, standing_in
from envpool.families import family_of, state_key
from envpool.members import Composite, Member, Origin, Program, Status
from envpool.novelty.archive import Archive
from envpool.novelty.embedding import DIMENSION, to_bytes
from envpool.signatures import parse_type
from envpool.store import PoolWriter
from envpool.store.integrity import check

MAP_SIZE = 32 << 20
LIMITS = CurationSettings(
    rest_draws=4, rests=1, retire_epochs=6.0, rest_hard=0.2, window=32, promote_at=0.85, rest_easy=0.9
)
GATES = AdmissionSettings()
LIMIT = GATES.near_duplicate or 0.0
TOPICS = st.integers(0, 4)
MOMENTS = st.sampled_from(["never", "before it is known", "before it is stored", "once it is stored"])
MADE_BY = st.sampled_from([Origin.POLICY, Origin.POLICY, Origin.GRAMMAR, Origin.BRICK])
VICTIMS = st.sampled_from(["everything", "validator", "novelty", "curator"])
PROPOSALS = st.lists(
    st.fixed_dictionaries(
        {
            "topic": TOPICS,
            "variant": st.integers(0, 3),
            "names": st.integers(0, 1),
            "by": MADE_BY,
            "apart": st.booleans(),
            "killed": MOMENTS,
            "victim": st.sampled_from(["everything", "validator", "novelty"]),
        }
    ),
    min_size=1,
    max_size=4,
)


class Killed(Exception):
    """The process is gone."""


def embedding(topic: int, variant: int) -> bytes:
    """Variants of a topic are 0.7 to 0.95 similar, by their number."""
    base = np.random.default_rng(topic).normal(size=DIMENSION)
    other = np.random.default_rng(100 + topic * 10 + variant).normal(size=DIMENSION)
    mixed = base + variant / 4 * other
    return to_bytes(mixed / np.linalg.norm(mixed))


class ArchiveNovelty:
    """What the novelty actor answers, over the archive that there is at the moment."""

    def __init__(self, histories: "Histories") -> None:
        self._histories = histories

    async def nearest(self, rule: str, stripped: str) -> tuple[str | None, float, bytes]:
        topic, variant = map(int, stripped.split())
        found = embedding(topic, variant)
        return *self._histories.archive.index.nearest(found), found

    async def add(self, id: str, embedding: bytes) -> None:
        self._histories.archive.add(id, embedding)

    async def contamination(self, embedding: bytes, fingerprint: str, normal: str) -> str:
        histories = self._histories
        histories.publish(histories.archive.follow(histories.pool))
        return histories.archive.held_out.copied_by(embedding, fingerprint, normal)


class Histories(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="histories-"))
        self.lives = self.draws = self.seeds_drawn = 0
        self.admitted: list[str] = []
        self.asked: set[int] = set()
        self.rng = random.Random(0)
        self.open()
        self.admit(Member(Program("a seed", "Seed", "Rule.", "int", "int"), Origin.SEED))

    def teardown(self) -> None:
        if hasattr(self, "pool"):
            assert check(self.pool) == []
            self.pool.close()
            shutil.rmtree(self.folder)

    def open(self) -> None:
        """A new life: all that is in memory is made from what is on disk."""
        self.pool = PoolWriter.open(self.folder / f"pool-{self.lives}", MAP_SIZE)
        self.kill_validator()
        self.kill_novelty()
        self.kill_curator()

    def kill_validator(self) -> None:
        """It comes back with what the pool says, and novelty may know what it had been about to admit."""
        self.register = Register(filter(None, map(self.pool.get, self.pool.ids())))
        self.copies = Copies(self.register, ArchiveNovelty(self), GATES)

    def kill_novelty(self) -> None:
        """It comes back with its file, or anew, and what the journal says; the validator goes on."""
        self.archive = Archive.open(self.folder / "novelty.npz", self.pool)
        self.publish(self.archive.clusters.family)

    def kill_curator(self) -> None:
        """It comes back with the state it saved last, and what the pool says."""
        self.curator = Curator(LIMITS)
        self.seen = self.pool.last_sequence()
        for identity in self.pool.ids():
            if standing := standing_in(self.pool, identity, "main"):
                self.curator.take(standing)
        if state := self.pool.state("curator"):
            self.curator.load_state_dict(state)
        self.pool.put_state("curator", self.curator.state_dict())

    @rule(victim=VICTIMS)
    def kill(self, victim: str) -> None:
        """One that dies alone comes back while the others go on."""
        if victim == "everything":
            self.kill_everything()
        else:
            {"validator": self.kill_validator, "novelty": self.kill_novelty, "curator": self.kill_curator}[victim]()

    def kill_everything(self) -> None:
        old, self.lives = self.folder / f"pool-{self.lives}", self.lives + 1
        new = self.folder / f"pool-{self.lives}"
        new.mkdir()
        shutil.copyfile(old / "data.mdb", new / "data.mdb")
        self.pool.close()  # lets its memory go; what counts was copied before
        self.open()

    @rule(proposals=PROPOSALS)
    def propose(self, proposals: list[dict[str, Any]]) -> None:
        for each in proposals:
            apart = each["apart"] and each["by"] is Origin.BRICK
            candidate = self.candidate(each["topic"], each["variant"], each["by"], apart, each["names"])
            self.judge(candidate, each["killed"], each["victim"])

    def judge(self, candidate: Member, killed: str, victim: str) -> None:
        self.victim = victim
        try:
            if self.passes(candidate):
                self.take_note(candidate, killed)
                self.admit(candidate)
                self.die(killed, "once it is stored")
        except Killed:
            self.kill(victim)
            if killed == "once it is stored":  # whoever asked got no answer, and asks again
                self.admit(candidate)

    @rule(topic=TOPICS, variants=st.permutations([0, 1, 2, 3]))
    def propose_at_once(self, topic: int, variants: list[int]) -> None:
        """They are judged one after the other, and stored in the opposite order."""
        candidates = [self.candidate(topic, variant, Origin.POLICY, False) for variant in variants]
        passed = []
        for candidate in candidates:
            if self.passes(candidate):
                self.take_note(candidate, "never")
                passed.append(candidate)
        for candidate in reversed(passed):
            self.admit(candidate)

    @rule(size=st.integers(2, 3))
    def compose(self, size: int) -> None:
        parts = [
            each
            for each in self.pool.ids()
            if self.status_of(each) is Status.ACTIVE and not self.is_apart(each)
        ]
        if len(parts) >= size:
            chosen = tuple(self.rng.sample(parts, size))
            self.admit(Member(Composite("SEQUENTIAL", (chosen,), "int", "int"), Origin.COMPOSER, chosen))

    def candidate(self, topic: int, variant: int, by: Origin, apart: bool, names: int = 0) -> Member:
        """Under other names it is another program with the same code."""
        text = f"topic {topic} variant {variant} names {names}"
        program = Program(text, "Name", text, "int", "int")
        normal = f"code {topic} {variant}"
        return Member(
            program, by, held_out=apart, embedding=embedding(topic, variant), evidence={"normal": normal}
        )

    def passes(self, candidate: Member) -> bool:
        """The gates that compare with what is known, as admission asks them."""
        try:
            asyncio.run(self.compared(candidate))
        except Refusal as refusal:
            self.pool.reject(candidate.id, candidate.origin, refusal.gate or "duplicate", refusal.reason)
            return False
        return True

    async def compared(self, member: Member) -> None:
        assert isinstance(member.material, Program)
        whole, normal = parse_type("int"), str(member.evidence["normal"])
        candidate = Candidate(member.material, whole, whole, normal, normal.removeprefix("code "), normal)
        claim = Claim(candidate, member.origin, member.held_out)
        await self.copies.by_code(claim)
        nearest = await self.copies.nearest(candidate)
        assert nearest is not None
        await self.copies.set_apart(claim, nearest, member.fingerprint)
        await self.copies.by_embedding(claim, nearest)

    def take_note(self, candidate: Member, killed: str) -> None:
        self.die(killed, "before it is known")
        self.archive.add(candidate.id, candidate.embedding)
        self.register.add(candidate)
        self.die(killed, "before it is stored")

    def die(self, killed: str, now: str) -> None:
        if killed != now:
            return
        if self.victim != "novelty":
            raise Killed
        self.kill_novelty()  # the validator asks its successor

    def admit(self, member: Member) -> None:
        if self.pool.admit(member):
            self.admitted.append(member.id)

    @rule(count=st.integers(1, 60), solved=st.integers(0, 8))
    def play(self, count: int, solved: int) -> None:
        self.follow()
        with self.pool.batch():
            self.ask(self.curator.choose(count), solved)

    def ask(self, recipes: list[Recipe], solved: int) -> None:
        for recipe in recipes:
            assert recipe.seed not in self.asked
            self.asked.add(recipe.seed)
            self.draws += 1
            self.seeds_drawn += self.pool.status_row(recipe.member).origin is Origin.SEED
            answers = AnswerCount(recipe.member, "main", recipe.level, 8, solved, 8)
            self.pool.record([answers])
            for decision in self.curator.record(answers):
                self.carry_out(decision)

    def carry_out(self, decision: Promote | Rest | Retire | Wake) -> None:
        match decision:
            case Promote(member=member, level=level) if self.rng.random() < 0.5:
                self.curator.promoted(member, level)
                self.pool.set_level(member, "main", level, decision.reason)
            case Promote(member=member):
                self.curator.cap(member)
            case Rest(member=member):
                self.pool.transition(member, Status.RESTING, decision.reason)
            case Retire(member=member):
                assert self.pool.status_row(member).origin not in (Origin.SEED, Origin.BRICK)
                self.pool.transition(member, Status.RETIRED, decision.reason)
            case Wake(member=member):
                self.pool.transition(member, Status.ACTIVE, decision.reason)

    @precondition(lambda self: len(self.admitted) > 1)
    @rule(which=st.integers(0, 100))
    def quarantine(self, which: int) -> None:
        self.pool.transition(
            self.admitted[1:][which % (len(self.admitted) - 1)], Status.QUARANTINED, "it fails"
        )

    @rule()
    def save(self) -> None:
        self.follow()
        self.pool.put_state("curator", self.curator.state_dict())
        self.archive.save(self.folder / "novelty.npz", self.pool)

    def follow(self) -> None:
        self.publish(self.archive.follow(self.pool))
        self.curator.follow(self.pool.journal(self.seen, 10_000), self.pool)
        self.seen = self.pool.last_sequence()

    def publish(self, families: dict[str, str]) -> None:
        for identity, family in families.items():
            self.pool.put_state(state_key(identity), family)

    def status_of(self, identity: str) -> Status | None:
        return self.pool.status(identity)

    def is_apart(self, identity: str) -> bool:
        return self.pool.status_row(identity).held_out

    @invariant()
    def none_is_admitted_twice_and_none_is_lost(self) -> None:
        if hasattr(self, "pool"):
            told = [entry.id for entry in self.pool.journal(limit=10_000) if entry.kind == "admit"]
            assert told == self.admitted and len(set(told)) == len(told)
            assert set(self.pool.ids()) == set(told)
            assert all(self.pool.get(identity) is not None for identity in told)

    @invariant()
    def what_is_set_apart_is_not_copied_and_no_policy_copies_what_was_there(self) -> None:
        if not hasattr(self, "pool"):
            return
        earlier: list[Member] = []
        for member in filter(None, map(self.pool.get, self.admitted)):
            if not isinstance(member.material, Program) or not member.embedding:
                assert not any(self.is_apart(part) for part in member.parents)
                continue
            for other in earlier:
                assert member.evidence["normal"] != other.evidence["normal"], "renamed"
                near = float(np.frombuffer(member.embedding, "<f4") @ np.frombuffer(other.embedding, "<f4"))
                assert near < LIMIT or member.origin is not Origin.POLICY
            earlier.append(member)

    @invariant()
    def index_families_and_curator_agree_with_the_pool(self) -> None:
        if not hasattr(self, "pool"):
            return
        self.follow()
        members = {identity: self.pool.get(identity) for identity in self.admitted}
        embedded = {identity for identity, member in members.items() if member.embedding}
        assert {each for each in embedded if each in self.archive.index} == embedded
        assert len(self.archive.index) == len(embedded) + len(self.archive.ahead)
        assert all(self.archive.index.embedding(each) == members[each].embedding for each in embedded)
        anew = Archive()
        anew.follow(self.pool)
        assert anew.clusters.family == self.archive.clusters.family
        assert anew.held_out.ids == self.archive.held_out.ids
        assert {each: family_of(self.pool, each) for each in embedded} == anew.clusters.family
        assert all(family_of(self.pool, each) for each in members)
        playing = {each for each in members if self.status_of(each) in PLAYING and not self.is_apart(each)}
        assert playing == set(self.curator.waits()) | set(self.curator.resting())

    @invariant()
    def the_seed_floor_holds(self) -> None:
        if hasattr(self, "pool"):
            assert self.seeds_drawn >= LIMITS.seed_floor * self.draws - 3 * (self.lives + 1)


Histories.TestCase.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)
TestHistories = Histories.TestCase
