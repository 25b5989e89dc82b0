"""The buffer: staleness, permits, exactly once."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from training.buffer import GroupBuffer
from training.trajectory import Group, Sample, Trajectory


def group(
    name: str, version: int = 0, rewards: tuple[float, ...] = (0.0, 1.0), role: str = "solver"
) -> Group:
    trajectories = tuple(
        Trajectory(Sample("", [1], [2], [-1.0], version, version, True), reward, reward == 1.0, True)
        for reward in rewards
    )
    return Group(name, role, "main", {}, trajectories)  # type: ignore[arg-type]


def filled(count: int, version: int = 0, max_staleness: int = 1) -> GroupBuffer:
    buffer = GroupBuffer(2, max_staleness)
    for index, permit in enumerate(buffer.reserve(count, version)):
        buffer.put(permit, group(f"g{index}", version))
    return buffer


def test_permits_are_bounded_by_what_can_still_be_trained_in_time() -> None:
    buffer = GroupBuffer(groups_per_step=3, max_staleness=1)
    assert len(buffer.reserve(100, 0)) == 6
    assert buffer.reserve(1, 0) == []


def test_without_staleness_nothing_is_generated_while_a_batch_is_out() -> None:
    buffer = filled(2, max_staleness=0)
    assert buffer.take(0) is not None
    assert buffer.reserve(1, 0) == []
    buffer.trained(["g0", "g1"], 1)
    assert len(buffer.reserve(5, 1)) == 2


def test_a_group_without_variance_is_dropped_and_its_permit_freed() -> None:
    buffer = GroupBuffer(1, 0)
    (permit,) = buffer.reserve(1, 0)
    assert buffer.put(permit, group("flat", rewards=(0.5, 0.5))) == "dropped"
    assert buffer.counts()["dropped: no variance"] == 1
    assert len(buffer.reserve(1, 0)) == 1


def test_shaping_alone_gives_variance() -> None:
    sample = Sample("", [1], [2], [-1.0], 0, 0, True)
    shaped = (Trajectory(sample, 0.0, False, True, 0.1), Trajectory(sample, 0.0, False, False))
    assert Group("g", "solver", "main", {}, shaped).has_variance


def test_putting_twice_changes_nothing() -> None:
    buffer = GroupBuffer(1, 0)
    (permit,) = buffer.reserve(1, 0)
    assert [buffer.put(permit, group("g")) for _ in range(2)] == ["ready", "ready"]
    assert buffer.counts()["ready"] == 1
    assert buffer.take(0) is not None
    buffer.trained(["g"], 1)
    buffer.checkpointed(1)
    assert buffer.put(permit, group("g")) == "trained"


def test_the_same_group_under_two_permits_is_kept_once() -> None:
    buffer = GroupBuffer(2, 0)
    first, second = buffer.reserve(2, 0)
    assert buffer.put(first, group("g")) == "ready"
    assert buffer.put(second, group("g")) == "dropped"


def test_too_old_groups_are_dropped_with_a_reason() -> None:
    buffer = filled(2, max_staleness=1)
    assert buffer.take(2) is None
    assert buffer.counts()["dropped: stale"] == 2


def test_the_permits_of_a_lost_owner_come_back() -> None:
    buffer = GroupBuffer(2, 0)
    (lost,) = buffer.reserve(1, 0, owner="a")
    buffer.reserve(1, 0, owner="b")
    assert buffer.forget("a") == 1
    assert buffer.forget("a") == 0
    assert buffer.put(lost, group("late")) == "dropped"
    assert len(buffer.reserve(5, 0)) == 1


def test_a_batch_that_was_lost_with_its_learner_is_handed_out_again() -> None:
    buffer = filled(2)
    first, second = buffer.take(0), buffer.take(0)
    assert first is not None and first == second


def test_groups_trained_after_the_checkpoint_wait_again_under_the_new_version() -> None:
    buffer = filled(2)
    assert buffer.take(0) is not None
    buffer.trained(["g0", "g1"], 1)
    assert buffer.reopen(since=0, version=7) == 2
    for key in buffer.missing():
        buffer.supply(key, group(f"g{int(key[-8:]) - 1}", 0))
    again = buffer.take(7)
    assert again is not None and {item.version_low for item in again} == {7}
    assert buffer.counts()["trained"] == 0


def test_groups_trained_before_the_checkpoint_never_come_back() -> None:
    buffer = filled(2)
    assert buffer.take(0) is not None
    buffer.trained(["g0", "g1"], 1)
    buffer.checkpointed(1)
    assert buffer.reopen(since=1, version=7) == 0
    assert buffer.counts()["trained"] == 2


def test_an_offered_group_needs_no_permit_and_is_taken_once() -> None:
    buffer = GroupBuffer(1, 0)
    assert [buffer.offer(group("made", role="generator"), 0) for _ in range(2)] == ["ready", "ready"]
    taken = buffer.take(0)
    assert taken is not None and taken[0].role == "generator"
    buffer.trained(["made"], 1)
    assert buffer.offer(group("made", role="generator"), 1) == "trained"


def test_an_offered_group_may_be_older_than_others_and_is_dropped_beyond_its_own_bound() -> None:
    buffer = GroupBuffer(1, 0, offered_staleness=2)
    for version in (2, 3):
        buffer.offer(group(f"made for {version}", 0, role="generator"), version)
        taken = buffer.take(version)
        assert (taken is not None) is (version == 2)
        if taken is not None:
            buffer.trained([taken[0].id], version)
    (permit,) = buffer.reserve(1, 0)
    buffer.put(permit, group("g", 0))
    assert buffer.take(1) is None
    assert buffer.counts()["dropped: stale"] == 2


def test_a_group_survives_the_trip_through_plain_data() -> None:
    made = group("g", 3)
    assert Group.from_dict(made.to_dict()) == made


def test_a_saved_state_holds_no_bodies_and_stays_small() -> None:
    buffer = GroupBuffer(100, 1)
    long = Sample("x" * 10_000, [1] * 1000, [2] * 1000, [-1.0] * 1000, 0, 0, True)
    pair = (Trajectory(long, 0.0, False, True), Trajectory(long, 1.0, True, True))
    for index, permit in enumerate(buffer.reserve(200, 0)):
        buffer.put(permit, Group(f"g{index}", "solver", "main", {}, pair))
    assert len(json.dumps(buffer.state_dict())) < 200 * 300


def test_a_body_is_named_as_gone_once_nobody_needs_it_and_not_before() -> None:
    buffer = filled(2)
    assert buffer.take(0) is not None
    buffer.trained(["g0", "g1"], 1)
    assert buffer.gone() == []
    buffer.checkpointed(1)
    assert len(buffer.gone()) == 2
    buffer.forgotten(buffer.gone())
    assert buffer.gone() == []


def test_a_body_that_is_lost_is_a_drop_with_a_reason() -> None:
    buffer = filled(2)
    state = buffer.state_dict()
    again = GroupBuffer(2, 1)
    again.load_state_dict(state, [])
    for key in again.missing():
        again.supply(key, None)
    assert again.counts()["dropped: lost"] == 2 and again.counts()["ready"] == 0


class Life(RuleBasedStateMachine):
    """Solvers, a learner, checkpoints and crashes in any order, against a plain record of what was trained."""

    @initialize(size=st.integers(1, 3), staleness=st.integers(0, 2))
    def begin(self, size: int, staleness: int) -> None:
        self.size, self.staleness = size, staleness
        self.buffer = GroupBuffer(size, staleness)
        self.version = self.saved = self.made = 0
        self.permits: list[tuple[str, int]] = []
        self.weights: list[tuple[int, str]] = []  # (version, id) of every group in the living weights
        self.bodies: dict[str, Group] = {}  # as they lie on disk
        self.ready: set[str] = set()
        self.issued = self.closed = 0

    @rule(count=st.integers(1, 4))
    def reserve(self, count: int) -> None:
        permits = self.buffer.reserve(count, self.version)
        self.issued += len(permits)
        self.permits += [(permit, self.version) for permit in permits]

    @precondition(lambda self: self.permits)
    @rule(flat=st.booleans(), data=st.data())
    def put(self, flat: bool, data: st.DataObject) -> None:
        permit, version = self.permits.pop(data.draw(st.integers(0, len(self.permits) - 1)))
        self.made += 1
        made = group(f"g{self.made}", version, (1.0, 1.0) if flat else (0.0, 1.0))
        assert self.buffer.put(permit, made) == ("dropped" if flat else "ready")
        if not flat:
            self.ready.add(made.id)
            self.bodies[permit] = made
        self.closed += flat

    @precondition(lambda self: self.permits)
    @rule()
    def release(self) -> None:
        self.buffer.release(self.permits.pop()[0], "no instance")
        self.closed += 1

    @rule(dies=st.booleans())
    def learn(self, dies: bool) -> None:
        batch = self.buffer.take(self.version)
        if batch is None:
            return
        assert len(batch) == self.size
        assert all(self.version - item.version_low <= self.staleness for item in batch)
        known = {name for _, name in self.weights}
        assert all(item.id in self.ready and item.id not in known for item in batch)
        if dies:
            return
        self.version += 1
        self.buffer.trained([item.id for item in batch], self.version)
        self.weights += [(self.version, item.id) for item in batch]

    @rule()
    def checkpoint(self) -> None:
        self.saved = self.version
        self.buffer.checkpointed(self.version)

    @rule()
    def fall_back(self) -> None:
        lost = [name for version, name in self.weights if version > self.saved]
        self.weights = [item for item in self.weights if item[0] <= self.saved]
        self.version += 1
        assert self.buffer.reopen(self.saved, self.version) == len(lost)
        self.supply()
        self.saved = self.version  # as a learner does that publishes what it fell back to

    @rule()
    def reopen_from_disk(self) -> None:
        state = self.buffer.state_dict()
        self.buffer = GroupBuffer(self.size, self.staleness)
        self.buffer.load_state_dict(state, self.bodies)
        self.supply()
        self.closed += len(self.permits)  # nobody is left who could use them
        self.permits = []

    def supply(self) -> None:
        for key in self.buffer.missing():
            self.buffer.supply(key, self.bodies[key])

    @invariant()
    def every_permit_is_accounted_for(self) -> None:
        if not hasattr(self, "buffer"):
            return
        counts = self.buffer.counts()
        under_way = counts["reserved"] + counts["ready"] + counts["taken"]
        stale = counts.get("dropped: stale", 0)
        assert self.issued == under_way + counts["trained"] + self.closed + stale
        assert counts["trained"] == len(self.weights)
        assert counts["reserved"] == len(self.permits)

    @invariant()
    def no_more_is_under_way_than_can_be_trained_in_time(self) -> None:
        if not hasattr(self, "buffer"):
            return
        counts = self.buffer.counts()
        reopened_at_most = self.size * self.version
        assert counts["reserved"] <= self.buffer.capacity
        assert (
            counts["reserved"] + counts["ready"] + counts["taken"] <= self.buffer.capacity + reopened_at_most
        )


Life.TestCase.settings = settings(max_examples=120, stateful_step_count=40, deadline=None)
TestLife = Life.TestCase


def about(member: str, name: str, version: int = 0) -> Group:
    return replace(group(name, version), recipe={"member": member})


def test_a_group_of_a_distrusted_member_is_dropped_when_it_is_put_or_offered() -> None:
    buffer = GroupBuffer(2, 0, distrusted={"liar"}.__contains__)
    first, second = buffer.reserve(2, 0)
    assert not buffer.would_keep(first, about("liar", "a")) and buffer.would_keep(second, about("honest", "b"))
    assert buffer.put(first, about("liar", "a")) == "dropped"
    assert buffer.put(second, about("honest", "b")) == "ready"
    assert not buffer.would_take_in(about("liar", "c"), 0) and buffer.offer(about("liar", "c"), 0) == "dropped"
    assert buffer.counts()["dropped: distrusted"] == 2
    assert len(buffer.reserve(5, 0)) == 1, "its permit is free again"


def test_groups_that_wait_are_dropped_once_their_member_is_distrusted() -> None:
    lying: set[str] = set()
    buffer = GroupBuffer(2, 1, distrusted=lying.__contains__)
    for permit, name in zip(buffer.reserve(3, 0), ("a", "b", "c"), strict=True):
        buffer.put(permit, about("liar" if name == "b" else "honest", name))
    lying.add("liar")
    assert [each.id for each in buffer.take(0) or ()] == ["a", "c"]
    assert buffer.counts()["dropped: distrusted"] == 1 and len(buffer.gone()) == 1


def test_a_batch_that_its_learner_lost_is_handed_out_again_without_the_liar() -> None:
    lying: set[str] = set()
    buffer = GroupBuffer(2, 1, distrusted=lying.__contains__)
    for permit, name in zip(buffer.reserve(3, 0), ("a", "b", "c"), strict=True):
        buffer.put(permit, about("liar" if name == "a" else "honest", name))
    assert [each.id for each in buffer.take(0) or ()] == ["a", "b"]
    lying.add("liar")
    assert [each.id for each in buffer.take(0) or ()] == ["b", "c"]


def test_weights_that_fell_back_are_not_trained_on_a_liar_again() -> None:
    lying: set[str] = set()
    buffer = GroupBuffer(2, 1, distrusted=lying.__contains__)
    groups = [about("liar", "a"), about("honest", "b")]
    for permit, each in zip(buffer.reserve(2, 0), groups, strict=True):
        buffer.put(permit, each)
    assert buffer.take(0) is not None
    buffer.trained(["a", "b"], 1)
    lying.add("liar")
    assert buffer.reopen(since=0, version=2) == 2
    for key in buffer.missing():
        buffer.supply(key, groups.pop(0))
    assert buffer.take(2) is None and buffer.counts()["ready"] == 1
