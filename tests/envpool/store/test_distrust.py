"""A member that was found to lie: quarantined with evidence, and all that rests on its word is let go."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from envpool.answer_counts import AnswerCount, Counts
from envpool.members import Composite, Member, Origin, Program, Status
from envpool.store import PoolWriter, StoreError
from envpool.store.distrust import findings
from envpool.store.integrity import check

MAP_SIZE = 64 << 20
EVIDENCE = {"seed": 7, "level": 5, "used": {"value": "4"}, "recomputed": [{"value": "3"}, {"value": "3"}]}


def program(name: str) -> Member:
    return Member(Program(f"source of {name}", name, "Rule.", "int", "int"), Origin.POLICY)


def chain(*parts: Member) -> Member:
    composite = Composite("SEQUENTIAL", (tuple(part.id for part in parts),), "int", "int")
    return Member(composite, Origin.COMPOSER, parents=tuple(part.id for part in parts))


LIAR, HONEST = program("liar"), program("honest")
BUILT, DEEPER, APART = chain(LIAR, HONEST), chain(chain(LIAR, HONEST), HONEST), chain(HONEST, HONEST)


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[PoolWriter]:
    with PoolWriter.open(tmp_path / "pool", MAP_SIZE) as writer:
        for member in (LIAR, HONEST, BUILT, DEEPER, APART):
            writer.admit(member)
            for policy in ("main", "rival"):
                writer.record([AnswerCount(member.id, policy, level, 8, 2, 8) for level in (0, 256)])
        yield writer


def test_it_is_quarantined_with_all_that_is_composed_of_it_and_no_other(pool: PoolWriter) -> None:
    assert set(pool.distrust(LIAR.id, "audit", EVIDENCE, step=4)) == {LIAR.id, BUILT.id, DEEPER.id}
    standing = {member.id: pool.status(member.id) for member in (LIAR, BUILT, DEEPER, HONEST, APART)}
    assert [*standing.values()] == [Status.QUARANTINED] * 3 + [Status.ACTIVE] * 2


def test_its_answers_are_forgotten_whichever_policy_gave_them(pool: PoolWriter) -> None:
    pool.distrust(LIAR.id, "audit", EVIDENCE)
    for policy in ("main", "rival"):
        assert set(pool.all_stats(policy)) == {HONEST.id, APART.id}
        assert pool.stats(HONEST.id, policy) == {0: Counts(8, 2, 8), 256: Counts(8, 2, 8)}


def test_answers_that_were_under_way_are_let_go_when_they_arrive(pool: PoolWriter) -> None:
    pool.distrust(LIAR.id, "audit", EVIDENCE)
    pool.record([AnswerCount(LIAR.id, "main", 0, 8, 8, 8), AnswerCount(HONEST.id, "main", 0, 8, 8, 8)])
    pool.record([AnswerCount(BUILT.id, "main", 0, 8, 8, 8)])
    assert pool.stats(LIAR.id, "main") == pool.stats(BUILT.id, "main") == {}
    assert pool.stats(HONEST.id, "main")[0] == Counts(16, 10, 16)


def test_the_journal_has_the_evidence_and_what_was_dropped(pool: PoolWriter) -> None:
    pool.distrust(LIAR.id, "audit: it lies", EVIDENCE, step=4)
    told = {entry.id: entry for entry in pool.journal() if entry.kind == "distrust"}
    assert set(told) == {LIAR.id, BUILT.id, DEEPER.id}
    rows = [["main", 0, 8], ["main", 256, 8], ["rival", 0, 8], ["rival", 256, 8]]
    assert told[LIAR.id].evidence == {**EVIDENCE, "dropped": rows}
    assert told[BUILT.id].evidence == {"part": LIAR.id, "dropped": rows}
    assert told[LIAR.id].reason == "audit: it lies" and told[LIAR.id].step == 4


def test_a_finding_is_read_from_the_journal_once_with_all_that_fell_with_it(pool: PoolWriter) -> None:
    before = pool.last_sequence()
    pool.distrust(LIAR.id, "audit: it lies", EVIDENCE, step=4)
    last = pool.last_sequence()
    [found], upto = findings(pool, before)
    assert upto == last and before < found.sequence <= last
    assert (found.member, set(found.composites)) == (LIAR.id, {BUILT.id, DEEPER.id})
    assert (found.reason, found.step) == ("audit: it lies", 4) and found.evidence.items() >= EVIDENCE.items()
    assert findings(pool, last) == ([], last)


def test_findings_are_the_same_however_many_entries_are_read_at_a_time(pool: PoolWriter) -> None:
    pool.distrust(LIAR.id, "audit: it lies", EVIDENCE)
    pool.record([AnswerCount(HONEST.id, "main", 0, 8, 8, 8)])
    pool.distrust(HONEST.id, "audit: it lies too", EVIDENCE)
    for limit in (1, 2, 3, 1000):
        members, after = [], 0
        while after < pool.last_sequence():
            found, after = findings(pool, after, limit)
            members += [each.member for each in found]
        assert members == [LIAR.id, HONEST.id]


def test_the_second_time_changes_nothing(pool: PoolWriter) -> None:
    pool.distrust(LIAR.id, "audit", EVIDENCE)
    last = pool.last_sequence()
    assert pool.distrust(LIAR.id, "audit", EVIDENCE) == []
    assert pool.last_sequence() == last


def test_one_that_was_quarantined_before_still_loses_its_answers(pool: PoolWriter) -> None:
    pool.transition(LIAR.id, Status.QUARANTINED, "it hangs")
    assert set(pool.distrust(LIAR.id, "audit", EVIDENCE)) == {LIAR.id, BUILT.id, DEEPER.id}
    assert pool.stats(LIAR.id, "main") == {}


def test_a_finding_about_one_that_was_quarantined_and_has_no_answers_is_told_all_the_same(pool: PoolWriter) -> None:
    silent = program("silent")
    pool.admit(silent)
    pool.transition(silent.id, Status.QUARANTINED, "it hangs")
    assert pool.distrust(silent.id, "audit: it lies", EVIDENCE, step=4) == [silent.id]
    [found], _ = findings(pool, 0)
    assert (found.member, found.reason, found.evidence) == (silent.id, "audit: it lies", {**EVIDENCE, "dropped": []})
    assert pool.distrust(silent.id, "audit: it lies", EVIDENCE) == []
    assert check(pool) == []


def test_one_that_fell_as_a_part_and_is_found_to_lie_itself_is_told_once(pool: PoolWriter) -> None:
    pool.distrust(LIAR.id, "audit", EVIDENCE)
    for effect in ([BUILT.id], []):
        assert pool.distrust(BUILT.id, "audit: it lies too", EVIDENCE) == effect
    assert [each.member for each in findings(pool, 0)[0]] == [LIAR.id, BUILT.id]


def test_who_was_never_admitted_cannot_be_distrusted(pool: PoolWriter) -> None:
    with pytest.raises(StoreError, match="never admitted"):
        pool.distrust("p-unknown", "audit")


def test_the_pool_agrees_with_its_journal_afterwards_and_after_more_answers(pool: PoolWriter) -> None:
    pool.distrust(LIAR.id, "audit", EVIDENCE)
    pool.record([AnswerCount(HONEST.id, "main", 0, 8, 8, 8)])
    assert check(pool) == []
