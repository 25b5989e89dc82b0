"""What is read of a policy's answers where the replica of the pool lags behind the state that was written into it."""

from collections.abc import Mapping
from typing import Any

from envpool.answer_counts import AnswerCount
from envpool.curation import Curator, Standing
from envpool.curation.shown import Showing
from envpool.members import Composite, Member, Origin
from tests.envpool.composition.simulated import AddOne, Double, member


class Lagging:
    """A replica that has the curator's state, and members only once they come."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self._state = state
        self.members: dict[str, Member] = {}

    def state(self, key: str) -> Any:
        return self._state

    def get(self, identity: str) -> Member | None:
        return self.members.get(identity)


def test_a_member_that_the_replica_does_not_have_yet_is_read_once_it_has_it() -> None:
    late, curator = member(Double), Curator()
    curator.take(Standing.of(late))
    curator.record(AnswerCount(late.id, "main", 0, 8, 6, 8))
    pool, showing = Lagging(curator.state_dict()), Showing("curator", level=0)
    assert showing.read(pool).programs == {}
    pool.members[late.id] = late
    assert showing.read(pool).programs[late.id].rate == 0.75


def test_a_composite_is_shown_with_the_guess_rate_that_its_answers_are_read_against() -> None:
    chain, evidence = (member(Double).id, member(AddOne).id), {"guess_rate": 0.5}
    order, sequence = (
        Member(Composite(operator, (chain,), "int", "int"), Origin.COMPOSER, evidence=evidence)
        for operator in ("SORT", "SEQUENTIAL")
    )
    curator = Curator()
    for each in (order, sequence):
        curator.take(Standing.of(each))
        curator.record(AnswerCount(each.id, "main", 0, 8, 6, 8))
    pool = Lagging(curator.state_dict())
    pool.members = {each.id: each for each in (order, sequence)}
    shown = {each.operator: each for each in Showing("curator", level=0).read(pool).composites}
    assert shown["SORT"].above_guessing == (4, 2), "of 8 answers 4 are a guess's, and right"
    assert shown["SEQUENTIAL"].above_guessing == (8, 6)
