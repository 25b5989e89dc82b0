"""What a run came to, read from its folder."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from cluster.report import gains, report
from envpool.store import PoolReader, PoolWriter
from tests.cluster.sample import make_pool


def answers(successes: int, of: int) -> list[dict[str, object]]:
    return [{"member": "p", "success": float(index < successes), "parsed": 1.0} for index in range(of)]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    make_pool(tmp_path / "demo")
    return tmp_path / "demo"


def evaluated(run: Path) -> None:
    with PoolWriter.open(run / "pool", map_size=1 << 24) as pool:
        before = {"training_families": answers(10, 400), "held_out_families": answers(0, 100)}
        after = {"training_families": answers(110, 400), "held_out_families": answers(4, 100)}
        pool.put_state("evaluation:before", before)
        pool.put_state("evaluation:after", after)


def printed(run: Path) -> str:
    console = Console(file=io.StringIO(), width=160)
    console.print(report(run))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_gain_is_of_the_same_questions_and_well_formed_answers_stand_apart(run: Path) -> None:
    evaluated(run)
    with PoolReader.open(run / "pool") as reader:
        found = gains(reader)
    success = found["training_families"]["success"]
    assert (success.count, success.before, success.after) == (400, 0.025, 0.275)
    assert success.low > 0
    assert found["held_out_families"]["parsed"].gain == 0


def test_the_report_prints_both_sets_with_their_interval(run: Path) -> None:
    evaluated(run)
    picture = printed(run)
    assert "families set apart whole" in picture
    assert "+0.250" in picture


def test_only_members_between_the_first_update_and_the_last_count_as_grown_while_training(run: Path) -> None:
    rows = [
        [cell.strip() for cell in row.split("│")[1:-1]] for row in printed(run).splitlines() if "│" in row
    ]
    assert ["seed", "1", "0"] in rows  # before the first update
    assert ["brick", "1", "1"] in rows  # after the first of four
    assert ["composer", "1", "1"] in rows


def test_a_run_without_evaluation_says_so(run: Path) -> None:
    assert "no evaluation" in printed(run)
    with PoolReader.open(run / "pool") as reader:
        assert gains(reader) == {}
