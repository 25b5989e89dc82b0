"""The funnel over time, from recorded histories: what rises is said to rise, and what does not is not."""

import json
import random
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import Result
from typer.testing import CliRunner

from cluster.cli import app
from cluster.inspect import funnel
from cluster.inspect.funnel import READINGS, Ended, trends, windows
from cluster.inspect.funnel_plot import svg
from envpool.admission.passing import STAGES, Share
from envpool.members import Member, Origin, Program
from envpool.store import PoolReader, PoolWriter

STEPS, BATCH = 100, 8
OF_ALL = READINGS["of all"]


def recorded(seed: int, first: float, last: float) -> Ended:
    """A history of which so many get past L2 at the first step and at the last; half of those fall at L4."""
    rng = random.Random(seed)
    history = {}
    for step in range(STEPS):
        good = first + (last - first) * step / (STEPS - 1)
        history[step] = Counter("L2" if rng.random() >= good else rng.choice(("L4", "")) for _ in range(BATCH))
    return history


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with a pool whose journal holds a few candidates of two makers, a step fallen back to among them."""
    folder = tmp_path / "demo"
    folder.mkdir()
    (folder / "config.yaml").write_text("run: {name: demo}\n", encoding="utf-8")
    with PoolWriter.open(folder / "pool", map_size=1 << 24) as pool:
        for n, (step, gate) in enumerate([(0, "L1"), (0, "L2"), (2, "L2"), (1, "scan"), (2, "L4"), (2, "L5")]):
            pool.reject(f"p{n}", Origin.POLICY, gate, "a reason", {}, "source", step)
        pool.reject("p0", Origin.POLICY, "L1", "the same reply again", {}, "source", 3)
        pool.reject("g", Origin.GRAMMAR, "L5", "a reason", {}, "source", 1)
        for n in range(2):
            member = Member(Program(f"program {n}", "P", "A rule.", "int", "int"), Origin.POLICY)
            pool.admit(member, step=3)
    return folder


def command(run: Path, *options: str) -> Result:
    return CliRunner().invoke(app, ["pool", "funnel", "--folder", str(run.parent), *options])


def row(printed: str, name: str) -> list[str]:
    """The number of proposals and the shares from L1 to L5 of one row."""
    lines = [line.strip() for line in printed.splitlines()]
    (line,) = (line for line in lines if line.startswith(f"{name} "))
    return line.removeprefix(name).split()[:7]


def test_every_candidate_of_the_maker_is_counted_once_at_its_step(run: Path) -> None:
    with PoolReader.open(run / "pool") as reader:
        assert funnel.ended_by_step(reader, Origin.POLICY) == {
            0: Counter({"L1": 1, "L2": 1}),
            1: Counter({"scan": 1}),
            2: Counter({"L2": 1, "L4": 1, "L5": 1}),
            3: Counter({"": 2, "L1": 1}),
        }
        assert funnel.ended_by_step(reader, Origin.GRAMMAR) == {1: Counter({"L5": 1})}


def test_windows_hold_all_candidates_and_steps_without_any() -> None:
    ended = {0: Counter({"L1": 2}), 7: Counter({"": 1})}
    found = windows(ended, 3)
    assert [each.steps for each in found] == ["0-2", "3-5", "6-7"]
    assert [each.passing.candidates for each in found] == [2, 0, 1]
    assert found[1].passing.of_all["L1"].rate is None
    assert len(windows(recorded(0, 0.5, 0.5))) == funnel.WINDOWS
    assert windows({}) == []


def test_shares_that_move_as_far_as_the_paper_tells_are_said_to_move_that_way() -> None:
    up = [trends(recorded(seed, 0.53, 0.74), OF_ALL) for seed in range(50)]
    down = [trends(recorded(seed, 0.74, 0.53), OF_ALL) for seed in range(50)]
    assert sum(each["L2"].word == "rose" for each in up) >= 35  # 43 are to be expected of 800 proposals
    assert sum(each["L2"].word == "fell" for each in down) >= 35
    assert {each["L1"].word for each in up} == {"not clear"}  # all of them passed, in both halves
    assert all(each["L2"].low < each["L2"].after - each["L2"].before < each["L2"].high for each in up)


def test_shares_that_stay_are_seldom_said_to_move() -> None:
    moved = [trends(recorded(seed, 0.6, 0.6), OF_ALL)["L2"].word != "not clear" for seed in range(100)]
    assert sum(moved) <= 12  # 5 are to be expected, more than 12 once in a thousand times


def test_copies_take_from_the_share_of_all_and_not_from_those_that_came_to_a_gate() -> None:
    ended = {0: Counter({"": 10}), 1: Counter({"duplicate": 5, "": 5})}
    late = windows(ended, 1)[1].passing
    assert late.of_all["L2"] == Share(5, 10)
    assert late.of_those_that_came["L2"] == Share(5, 5)


def test_the_command_prints_shares_by_window_and_both_readings(run: Path) -> None:
    told = command(run, "--window", "2")
    assert told.exit_code == 0, told.output
    assert row(told.output, "0-1") == ["3", "33%", "33%", "0%", "0%", "0%", "0%"]
    assert row(told.output, "2-3") == ["6", "83%", "83%", "67%", "67%", "50%", "33%"]
    assert row(told.output, "of all") == ["9", "67%", "67%", "44%", "44%", "33%", "22%"]
    assert row(told.output, "of those that came") == ["9", "67%", "100%", "67%", "100%", "75%", "67%"]
    assert "EvoEnv" in told.output
    assert "share past each gate of candidates made by policy" in told.output


def test_the_command_gives_counts_as_json_and_another_makers_funnel(run: Path) -> None:
    told = json.loads(command(run, "--json", "--window", "1").output)
    assert (told["run"], told["candidates"], told["fell"]["L2"]) == ("demo", 9, 2)
    assert [each["candidates"] for each in told["windows"]] == [2, 1, 3, 3]
    assert set(told["trends"]["of all"]) == set(told["stages"]) == set(STAGES)
    assert json.loads(command(run, "--json", "--origin", "grammar").output)["fell"]["L5"] == 1
    empty = command(run, "--origin", "brick")
    assert (empty.exit_code, empty.output) == (0, "demo has no candidates of brick yet\n")


def test_the_plot_is_an_svg_with_a_curve_for_each_stage_and_reading(run: Path, tmp_path: Path) -> None:
    path = tmp_path / "funnel.svg"
    assert command(run, "--svg", str(path)).exit_code == 0
    lines = ElementTree.parse(path).getroot().findall(".//{*}polyline")
    assert len(lines) >= len(STAGES) * len(READINGS) - 2  # two stages nobody came to in one window
    assert command(run, "--svg", str(tmp_path / "no" / "such.svg")).exit_code == 2


@pytest.mark.parametrize("ended", [{}, {0: Counter({"": 1})}, recorded(1, 0.2, 0.8)], ids=["none", "one", "many"])
def test_a_plot_of_any_history_is_well_formed_and_stays_inside_its_frame(ended: Ended) -> None:
    root = ElementTree.fromstring(svg(windows(ended), "a <title> & more"))
    width = float(root.attrib["viewBox"].split()[2])
    for circle in root.findall(".//{*}circle"):
        assert 0 < float(circle.attrib["cx"]) < width
    assert root.findall(".//{*}text")[0].text == "a <title> & more"
