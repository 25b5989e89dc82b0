import itertools
import random
from collections.abc import Iterator

import pytest

from envpool.admission import Admission
from envpool.generation import Grammar
from envpool.generation.grammar import draw_steps
from envpool.generation.parts import PARTS, Kind, PartKind
from envpool.members import Origin
from envpool.sandbox import LocalExecutor


@pytest.fixture(scope="module")
def executor() -> Iterator[LocalExecutor]:
    executor = LocalExecutor()
    yield executor
    executor.close()


def test_the_same_seed_writes_the_same_programs_and_goes_on_where_it_stopped() -> None:
    first = Grammar(3).write(20)
    assert first == Grammar(3).write(20)
    assert Grammar(3, position=12).write(8) == first[12:]
    stopped = Grammar(3)
    stopped.write(5)
    assert stopped.position == 5 and stopped.write(15) == first[5:]
    assert first != Grammar(4).write(20)


def test_there_are_thousands_of_distinct_programs() -> None:
    proposals = Grammar(1).write(4000)
    assert len({proposal.notes for proposal in proposals}) > 2_000
    assert len({proposal.source for proposal in proposals}) > 2_000


def test_parts_have_unique_keys_and_cover_every_kind() -> None:
    keys = [part.key for part in PARTS]
    assert len(set(keys)) == len(keys)
    assert {part.does for part in PARTS} == set(PartKind)
    assert {part.takes for part in PARTS} == {kind for kind in Kind if not kind.terminal}
    for part in PARTS:
        assert ("{k}" in part.code) == bool(part.choices) and "{v}" in part.code, part.key
        assert part.clause[0].islower() and not part.clause.endswith("."), part.key


def test_chains_have_one_to_three_parts_whose_kinds_fit() -> None:
    lengths = set()
    for seed in range(500):
        steps = draw_steps(random.Random(seed))
        lengths.add(len(steps))
        for before, after in itertools.pairwise(steps):
            assert before.part.gives == after.part.takes
    assert lengths == {1, 2, 3}


def test_a_rule_tells_every_step_and_what_the_answer_is() -> None:
    for proposal in Grammar(5).write(300):
        rule = proposal.source[proposal.source.index("rule = (") : proposal.source.index("def sample")]
        assert "The input is a" in rule and "{" not in rule
        if len(proposal.notes) > 1:
            assert "First " in rule and "Then " in rule
        assert max(map(len, proposal.source.splitlines())) <= 140


async def test_most_proposals_pass_every_mechanical_gate(executor: LocalExecutor) -> None:
    admission = Admission(executor)
    verdicts = [await admission.judge(proposal.source, Origin.GRAMMAR) for proposal in Grammar(11).write(60)]
    fallen = [f"{verdict.gate}: {verdict.reason}" for verdict in verdicts if verdict.member is None]
    assert len(fallen) <= 0.4 * len(verdicts), fallen
    assert not [
        reason for reason in fallen if reason.startswith(("size", "L1", "imports", "scan", "L2", "L3"))
    ]
