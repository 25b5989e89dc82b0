"""What an actor's name says of it. Making and ending actors: `tests/actors/test_supervisor.py`."""

from __future__ import annotations

import pytest

from actors import roster


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("solver-1", "solver"),
        ("learner", "learner"),
        ("follower-0123456789ab", "follower"),
        ("rival.solver-0", "rival.solver"),
        ("follower-x.solver-0", "follower-x.solver"),
        ("solver-7.learner", "solver-7.learner"),
    ],
)
def test_an_actors_kind_is_told_from_its_name_whatever_its_policy_is_called(name: str, kind: str) -> None:
    assert roster.kind_of(name) == kind
    assert roster.is_follower(name) == (kind == "follower")
