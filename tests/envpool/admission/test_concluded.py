"""A proposal that was judged before keeps its verdict; one of another id is judged by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from envpool.admission.concluded import PROPOSAL, concluded
from envpool.members import Member, Origin, Program
from envpool.store import PoolWriter

SOUND, BROKEN = "a sound program", "a broken one"


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[PoolWriter]:
    """With a member and a rejection, each of a proposal."""
    with PoolWriter.open(tmp_path / "pool", 16 << 20) as writer:
        evidence = {"success_rate": 0.375, PROPOSAL: {"id": "g/0"}}
        writer.admit(Member(Program(SOUND, "S", "Rule.", "int", "int"), Origin.POLICY, evidence=evidence))
        fallen = Program(BROKEN, "", "", "", "").id
        writer.reject(fallen, Origin.POLICY, "L2", "it raises", {PROPOSAL: {"id": "g/1"}}, source=BROKEN)
        yield writer


def test_what_was_admitted_is_not_called_its_own_copy(pool: PoolWriter) -> None:
    verdict = concluded(pool, SOUND, "g/0")
    assert verdict is not None and verdict.valid
    told = verdict.to_dict()
    assert (told["admitted"], told["gate"], told["evidence"]["success_rate"]) == (True, "", 0.375)


def test_what_fell_falls_for_the_same_reason(pool: PoolWriter) -> None:
    verdict = concluded(pool, BROKEN, "g/1")
    assert verdict is not None and not verdict.valid
    assert (verdict.member, verdict.gate, verdict.reason) == (None, "L2", "it raises")


@pytest.mark.parametrize(("source", "proposal"), [(SOUND, "g/1"), (BROKEN, "g/0"), ("never seen", "g/0")])
def test_the_same_program_of_another_proposal_is_judged_by_itself(
    source: str, proposal: str, pool: PoolWriter
) -> None:
    assert concluded(pool, source, proposal) is None


def test_a_seed_is_nobodys_proposal(pool: PoolWriter) -> None:
    pool.admit(Member(Program("a seed", "S", "Rule.", "int", "int"), Origin.SEED))
    assert concluded(pool, "a seed", "g/0") is None
