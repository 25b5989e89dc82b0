"""The command line: what each command prints, and that an error says what to do. No Ray is started."""

import json
import re
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from cluster.cli import app
from cluster.resolve import resolve
from cluster.run_folder import held
from envpool.answer_counts import AnswerCount
from envpool.curation import Curator
from envpool.curation.standings import standing_in
from envpool.members import Member, Origin, Program
from envpool.store import PoolWriter
from tests.cluster.sample import BROKEN, FALLEN, FIRST, FUSED, PROGRAM, SECOND, make_pool, status_of

runner = CliRunner()


def envolve(*arguments: object) -> Result:
    result = runner.invoke(app, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with one run, `demo`, that has a pool."""
    make_pool(tmp_path / "runs" / "demo")
    return tmp_path / "runs"


@pytest.mark.parametrize(
    "command",
    [[], ["run"], ["status"], ["judge"], ["pool"], ["pool", "ls"], ["pool", "show"], ["pool", "add"]],
)
def test_every_command_explains_itself(command: list[str]) -> None:
    assert envolve(*command, "--help").exit_code == 0


def test_a_dry_run_prints_the_configuration_it_resolved() -> None:
    result = envolve("run", "--dry-run", "--config", "a100-node", "run.steps=7")
    tree = yaml.safe_load(result.stdout)
    assert (result.exit_code, tree["preset"], tree["run"]["steps"]) == (0, "a100-node", 7)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [(["lr=1"], "learner.lr"), (["--config", "locl"], "local"), (["run.steps"], "write run.steps=value")],
)
def test_a_wrong_configuration_ends_with_one_line_and_code_two(arguments: list[str], word: str) -> None:
    result = envolve("run", "--dry-run", *arguments)
    assert result.exit_code == 2
    assert word in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_finished_run_is_not_driven_again(tmp_path: Path) -> None:
    with PoolWriter.open(tmp_path / "over" / "pool", map_size=1 << 24) as pool:
        pool.put_state("phase", "done")
    result = envolve("run", f"run.folder={tmp_path}", "run.name=over")
    assert result.exit_code == 1
    assert "is finished and takes no further steps" in result.stderr
    assert "choose another run.name" in result.stderr


def test_judge_lets_a_sound_program_pass_every_gate_and_says_where_another_falls(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text(PROGRAM, encoding="utf-8")
    bad.write_text(BROKEN, encoding="utf-8")
    result = envolve("judge", good, bad, good, "--json")
    first, second, copy = (json.loads(line) for line in result.stdout.splitlines())
    assert (first["admitted"], first["gate"]) == (True, "")
    assert [step["gate"] for step in first["trail"]][:3] == ["size", "L1", "duplicate"]
    assert (second["file"], second["admitted"], second["gate"]) == (str(bad), False, "imports")
    assert "os" in second["reason"]
    assert (copy["admitted"], copy["gate"]) == (False, "duplicate")
    assert result.exit_code == 1


def test_judge_ends_well_when_all_pass(tmp_path: Path) -> None:
    file = tmp_path / "good.py"
    file.write_text(PROGRAM, encoding="utf-8")
    result = envolve("judge", file)
    assert result.exit_code == 0
    assert "passes" in result.stdout


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_judge_names_a_file_it_cannot_read(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    if content is not None:
        file.write_bytes(content)
    result = envolve("judge", file)
    assert result.exit_code == 2
    assert str(file) in result.stderr


def test_pool_ls_shows_members_with_their_whole_types(runs: Path) -> None:
    result = envolve("pool", "ls", "--folder", runs)
    assert result.exit_code == 0
    assert all(member.id in result.stdout for member in (FIRST, SECOND, FUSED))
    assert "list[int] -> list[int]" in result.stdout


def test_pool_ls_as_json_counts_answers_at_the_level_they_were_given(runs: Path) -> None:
    rows = {row["id"]: row for row in json.loads(envolve("pool", "ls", "--folder", runs, "--json").stdout)}
    assert (rows[FIRST.id]["answers"], rows[FIRST.id]["success"]) == (16, 0.5)
    assert (rows[SECOND.id]["answers"], rows[SECOND.id]["success"]) == (0, None)
    assert (rows[FUSED.id]["answers"], rows[FUSED.id]["level"]) == (8, 2)


@pytest.mark.parametrize("place", ["demo/pool", "demo"], ids=["its own folder", "a run's"])
@pytest.mark.parametrize(
    "command", [["ls"], ["show", FIRST.id[:10]], ["families"], ["census", "--composites", "0"]]
)
def test_a_pool_is_looked_into_by_its_path_as_by_its_run(
    runs: Path, command: list[str], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_run = envolve("pool", *command, "--run", "demo", "--folder", runs, "--json")
    monkeypatch.chdir(runs.parent)  # where no run lies
    by_path = envolve("pool", *command, "--pool", runs / place, "--json")
    assert (by_path.exit_code, by_path.stdout) == (0, of_run.stdout), by_path.output


def test_where_no_pool_lies_or_a_run_is_named_as_well_a_path_is_refused(runs: Path) -> None:
    nowhere = envolve("pool", "ls", "--pool", runs / "demo" / "none")
    assert (nowhere.exit_code, nowhere.stdout) == (1, "")
    assert (
        f"no pool in {runs / 'demo' / 'none'}: it holds neither data.mdb nor a run's config.yaml"
        in nowhere.stderr
    )
    both = envolve("pool", "ls", "--pool", runs / "demo" / "pool", "--run", "demo")
    assert (both.exit_code, "give one of the two" in both.stderr) == (2, True)


@pytest.mark.parametrize("run", [[], ["--run", "mine"]])
def test_a_pool_by_itself_where_a_run_was_looked_for_is_pointed_at(
    runs: Path, tmp_path: Path, run: list[str]
) -> None:
    mine = tmp_path / "pools" / "mine"
    mine.parent.mkdir()
    (runs / "demo" / "pool").rename(mine)
    result = envolve("pool", "ls", "--folder", mine.parent, *run)
    assert (result.exit_code, f"envolve pool ls --pool {mine}" in result.stderr) == (1, True), result.stderr


def test_pool_families_counts_members_by_family_and_names_the_founder(runs: Path) -> None:
    with PoolWriter.open(runs / "demo" / "pool", map_size=0) as pool:
        for id in (FIRST.id, SECOND.id):
            pool.put_state(f"family/{id}", FIRST.id)
    rows = json.loads(envolve("pool", "families", "--folder", runs, "--json").stdout)
    assert [(row["family"], row["founder"], row["members"], row["active"]) for row in rows] == [
        ("SortUp", FIRST.id, 2, 2),
        ("SEQUENTIAL:2", "", 1, 1),
    ]
    assert "2 families" in envolve("pool", "families", "--folder", runs).stdout


def test_pool_show_tells_recent_success_with_its_interval_and_how_long_a_member_waits(runs: Path) -> None:
    with PoolWriter.open(runs / "demo" / "pool", map_size=0) as pool:
        curator = Curator()
        for id in pool.ids():
            curator.take(standing_in(pool, id, "main"))
        curator.record(AnswerCount(FIRST.id, "main", 0, 16, 4, 16))
        curator.choose(30)
        pool.put_state("curator", curator.state_dict())
        waited = curator.waits()[FIRST.id]
    shown = json.loads(envolve("pool", "show", FIRST.id, "--folder", runs, "--json").stdout)
    assert shown["levels"]["0"]["lately"] == "0.36 (0.22 to 0.54)"
    assert shown["draws since its own"] == waited
    assert "0.22 to 0.54" in envolve("pool", "show", FIRST.id, "--folder", runs).stdout


def test_pool_ls_chooses_by_status_and_maker(runs: Path) -> None:
    by_seed = json.loads(envolve("pool", "ls", "--folder", runs, "--origin", "seed", "--json").stdout)
    assert [row["id"] for row in by_seed] == [FIRST.id]
    fallen = json.loads(envolve("pool", "ls", "--folder", runs, "--status", "rejected", "--json").stdout)
    assert [(row["id"], row["gate"], row["step"]) for row in fallen] == [(FALLEN, "L4", 2)]
    nothing = envolve("pool", "ls", "--folder", runs, "--status", "retired").stdout
    assert "no retired member yet; --status rejected" in nothing
    other = envolve("pool", "ls", "--folder", runs, "--status", "rejected", "--origin", "grammar").stdout
    assert "no rejected candidate made by grammar yet" in other


def test_pool_ls_says_that_a_pool_is_empty_so_far(tmp_path: Path) -> None:
    PoolWriter.open(tmp_path / "demo" / "pool", map_size=1 << 24).close()
    (tmp_path / "demo" / "config.yaml").write_text("", encoding="utf-8")
    assert envolve("pool", "ls", "--folder", tmp_path).stdout.startswith("no member yet; --status rejected")
    fallen = envolve("pool", "ls", "--folder", tmp_path, "--status", "rejected").stdout
    assert fallen == "no rejected candidate yet\n"


@pytest.mark.parametrize("option", ["--status", "--origin"])
def test_a_choice_that_is_none_is_refused_in_plain_words(option: str, runs: Path) -> None:
    result = envolve("pool", "ls", "--folder", runs, option, "bogus")
    told = " ".join(result.stderr.replace("│", "").split())
    assert result.exit_code == 2
    assert f"'{option}': 'bogus' is not one of" in told


def test_pool_ls_says_apart_from_the_status_which_members_are_held_out(tmp_path: Path) -> None:
    with PoolWriter.open(tmp_path / "demo" / "pool", map_size=1 << 24) as pool:
        pool.admit(replace(FIRST, held_out=True))
    (tmp_path / "demo" / "config.yaml").write_text("", encoding="utf-8")
    [row] = json.loads(envolve("pool", "ls", "--folder", tmp_path, "--json").stdout)
    assert (row["status"], row["held_out"]) == ("active", True)
    assert "active (held out)" in envolve("pool", "ls", "--folder", tmp_path).stdout


def test_pool_ls_on_a_narrow_terminal_loses_no_word(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cluster.cli.places.PIPE_WIDTH", 80)
    listed = envolve("pool", "ls", "--folder", runs).stdout
    assert all(word in listed for word in ("active", "composer", "SEQUENTIAL", FUSED.id[:10]))
    assert "…" not in listed
    assert max(map(len, listed.splitlines())) <= 80


def test_pool_show_takes_the_beginning_of_an_id(runs: Path) -> None:
    result = envolve("pool", "show", SECOND.id[:8], "--folder", runs)
    assert result.exit_code == 0
    assert "list[int] -> int" in result.stdout
    assert FUSED.id in result.stdout  # a child


def test_pool_show_tells_the_history_of_a_composite(runs: Path) -> None:
    record = json.loads(envolve("pool", "show", FUSED.id, "--folder", runs, "--json").stdout)
    assert record["material"]["chains"] == [[FIRST.id, SECOND.id]]
    assert (record["levels"]["2"]["success"], record["levels"]["2"]["well-formed"]) == (0.25, 1.0)
    assert [(event["step"], event["event"], event["to"]) for event in record["history"]] == [
        (3, "admit", "active")
    ]


def test_pool_show_tells_what_the_steps_of_a_composite_ask(runs: Path) -> None:
    shown = envolve("pool", "show", FUSED.id, "--folder", runs).stdout
    assert "SortUp -> Total" in shown
    assert f"{SECOND.id} Total: Add it up." in shown


def test_pool_show_tells_why_a_member_is_distrusted_and_on_what_evidence(runs: Path) -> None:
    with PoolWriter.open(runs / "demo" / "pool", map_size=1 << 24) as pool:
        found = {"seed": 41, "used": {"value": "8"}, "recomputed": [{"value": "7"}, {"value": "7"}]}
        pool.distrust(SECOND.id, "audit: solve for seed 41, level 0 is not what a fresh fork says", found)
    record = json.loads(envolve("pool", "show", SECOND.id, "--folder", runs, "--json").stdout)
    assert record["status"] == "quarantined" and record["evidence"]["audit: seed"] == 41
    assert record["evidence"]["audit: recomputed"] == [{"value": "7"}, {"value": "7"}]
    assert "distrust" in [event["event"] for event in record["history"]]
    assert "not what a fresh" in " ".join(envolve("pool", "show", SECOND.id, "--folder", runs).stdout.split())
    composite = json.loads(envolve("pool", "show", FUSED.id, "--folder", runs, "--json").stdout)
    assert composite["status"] == "quarantined" and composite["levels"] == {}


def test_escape_sequences_in_a_candidate_do_not_reach_the_terminal(runs: Path) -> None:
    with PoolWriter.open(runs / "demo" / "pool", map_size=1 << 24) as pool:
        pool.reject(
            "pbad", Origin.POLICY, "L2", "ValueError: \x1b[2J", {"copies": "\x9b2J"}, "# \x1b]0;x\x07\n", 2
        )
    for command in (["show", "pbad"], ["ls", "--status", "rejected"]):
        shown = envolve("pool", *command, "--folder", runs).stdout
        assert "\\x1b[2J" in shown
        assert not {"\x1b", "\x07", "\x9b"} & set(shown)


def test_pool_show_says_why_a_candidate_fell_and_shows_its_source(runs: Path) -> None:
    result = envolve("pool", "show", FALLEN, "--folder", runs)
    assert "only 1 different answers in list[int]" in result.stdout
    assert "class CountLarge" in result.stdout


@pytest.mark.parametrize(("id", "word"), [("p", "give more of it"), ("zzz", "envolve pool ls")])
def test_pool_show_refuses_an_id_that_means_no_or_many_members(id: str, word: str, runs: Path) -> None:
    result = envolve("pool", "show", id, "--folder", runs)
    assert result.exit_code == 1
    assert word in result.stderr


def test_pool_add_admits_what_passes_and_records_what_falls(runs: Path, tmp_path: Path) -> None:
    good, bad = tmp_path / "count_large.py", tmp_path / "bad.py"
    good.write_text(PROGRAM, encoding="utf-8")
    bad.write_text(BROKEN, encoding="utf-8")
    result = envolve("pool", "add", good, bad, "--folder", runs)
    assert result.exit_code == 1
    assert "admitted as p" in result.stdout
    assert "rejected at imports" in result.stdout
    [added] = json.loads(envolve("pool", "ls", "--folder", runs, "--origin", "user", "--json").stdout)
    assert (added["name"], added["status"]) == ("CountLarge", "active")
    again = envolve("pool", "add", good, "--folder", runs)
    assert f"rejected at duplicate: the same source as CountLarge ({added['id']})" in again.output
    record = json.loads(envolve("pool", "show", added["id"], "--folder", runs, "--json").stdout)
    assert (record["set apart with"], record["history"][0]["step"]) == ("count_large", 4)


def test_pool_add_says_that_a_finished_run_learns_nothing_from_it(runs: Path, tmp_path: Path) -> None:
    with PoolWriter.open(runs / "demo" / "pool", map_size=1 << 24) as pool:
        pool.put_state("phase", "done")
    file = tmp_path / "good.py"
    file.write_text(PROGRAM, encoding="utf-8")
    result = envolve("pool", "add", file, "--folder", runs)
    assert result.exit_code == 0
    assert "this run is finished" in result.stderr


def test_pool_add_waits_its_turn_behind_a_running_writer(runs: Path, tmp_path: Path) -> None:
    file = tmp_path / "good.py"
    file.write_text(PROGRAM, encoding="utf-8")
    with PoolWriter.open(runs / "demo" / "pool", map_size=1 << 24):
        result = envolve("pool", "add", file, "--folder", runs)
    assert result.exit_code == 1
    assert "while its run stands still" in result.stderr


def test_looking_needs_a_run_and_says_how_to_get_one(tmp_path: Path) -> None:
    result = envolve("status", "--folder", tmp_path)
    assert result.exit_code == 1
    assert "envolve run" in result.stderr


def test_an_unknown_run_names_the_nearest_one(runs: Path) -> None:
    result = envolve("pool", "ls", "--folder", runs, "--run", "dem")
    assert result.exit_code == 1
    assert "did you mean 'demo'" in result.stderr


def test_a_run_without_a_pool_says_so_and_gets_none_by_being_asked(tmp_path: Path) -> None:
    (tmp_path / "young").mkdir()
    (tmp_path / "young" / "config.yaml").write_text("", encoding="utf-8")
    file = tmp_path / "good.py"
    file.write_text(PROGRAM, encoding="utf-8")
    for command in (["ls"], ["show", "p1"], ["add", file]):
        result = envolve("pool", *command, "--folder", tmp_path)
        assert result.exit_code == 1
        assert "has no pool yet" in result.stderr
    assert not (tmp_path / "young" / "pool").exists()


@pytest.mark.parametrize("named", [[], ["--run", "demo"]], ids=["the newest", "named"])
@pytest.mark.parametrize(
    "command", ["pool ls", "pool check", "pool add {file}", "import folder {file}", "pool restore {file} --run demo"]
)
def test_a_broken_configuration_of_a_run_ends_each_command_with_one_line(
    runs: Path, tmp_path: Path, command: str, named: list[str]
) -> None:
    (runs / "demo" / "config.yaml").write_text("pool: [\nrun: {", encoding="utf-8")
    (file := tmp_path / "good.py").write_text(PROGRAM, encoding="utf-8")
    result = envolve(*command.format(file=file).split(), *named, "--folder", runs)
    assert result.exit_code == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"envolve: {runs / 'demo' / 'config.yaml'} is no configuration of a run: while parsing")


def test_status_before_the_first_one_is_written_says_to_wait(tmp_path: Path) -> None:
    with held(resolve("local", [f"run.folder={tmp_path}", "run.name=young"])):
        for command in (["status"], ["pool", "ls"]):
            result = envolve(*command, "--folder", tmp_path)
            assert result.exit_code == 1
            assert "it is starting" in result.stderr


def test_a_run_that_never_started_says_so_and_how_it_is_started_or_removed(tmp_path: Path) -> None:
    with held(resolve("local", [f"run.folder={tmp_path}", "run.name=crashed"])) as folder:
        pass
    for command in (["status"], ["pool", "ls"], ["pool", "add", __file__]):
        result = envolve(*command, "--folder", tmp_path)
        assert result.exit_code == 1
        assert "it did not start" in result.stderr
        assert f"--config {folder / 'config.yaml'}` starts it, `rm -r {folder}` removes it" in result.stderr


def test_a_run_that_was_killed_before_its_first_status_is_not_offered_for_removal(runs: Path) -> None:
    result = envolve("status", "--folder", runs)
    assert result.exit_code == 1
    assert "demo has no status yet, and nothing of it lives" in result.stderr
    assert "rm -r" not in result.stderr


def test_a_newer_run_that_never_started_is_passed_over_aloud(runs: Path) -> None:
    with held(resolve("local", [f"run.folder={runs}", "run.name=crashed"])):
        assert "crashed has no pool yet: it is starting" in envolve("pool", "ls", "--folder", runs).stderr
    result = envolve("pool", "ls", "--folder", runs, "--json")
    assert {row["id"] for row in json.loads(result.stdout)} == {FIRST.id, SECOND.id, FUSED.id}
    assert "crashed is newer but did not start; this is demo" in result.stderr


def test_status_of_a_finished_run_says_what_it_came_to(runs: Path) -> None:
    done = status_of("demo", phase="done", at=0.0)
    (runs / "demo" / "status.json").write_text(json.dumps(done), encoding="utf-8")
    told = envolve("status", "--folder", runs).stdout
    assert "Pool after 4 updates" in told
    assert "stopped" not in told


def test_status_of_a_finished_run_counts_what_its_pool_holds_now(runs: Path) -> None:
    done = status_of("demo", phase="done", at=0.0, pool={"active": 987}, origins={"seed": 987}, funnel={"L1": 987})
    (runs / "demo" / "status.json").write_text(json.dumps(done), encoding="utf-8")
    with PoolWriter.open(runs / "demo" / "pool", map_size=0) as pool:
        pool.admit(Member(Program("mine", "Mine", "Do it.", "list[int]", "int"), Origin.USER))
    told = envolve("status", "--folder", runs).stdout
    assert "987" not in told
    assert re.search(r"active +│ 4 ", told), told


def test_status_of_a_run_that_wrote_its_last_one_while_it_drained_says_stopped(runs: Path) -> None:
    file = runs / "demo" / "status.json"
    file.write_text(json.dumps(status_of("demo", draining=True, phase="starting", checkpoint=None)), encoding="utf-8")
    told = envolve("status", "--folder", runs).stdout
    assert "stopped (starting)" in told and "draining" not in told
    assert "stopped: last written" in told and "no step is saved" in told
    file.write_text(json.dumps(status_of("demo", draining=True, at=0.0, checkpoint={"step": 3})), encoding="utf-8")
    assert "step 3 is saved" in envolve("status", "--folder", runs).stdout


def test_status_of_a_run_whose_driver_lives_is_not_said_to_be_stopped(tmp_path: Path) -> None:
    with held(resolve("local", [f"run.folder={tmp_path}", "run.name=demo"])) as folder:
        for age in (0.0, 1000.0):
            drains = status_of("demo", draining=True, at=time.time() - age)
            (folder / "status.json").write_text(json.dumps(drains), encoding="utf-8")
            told = envolve("status", "--folder", tmp_path).stdout
            assert "draining" in told and "stopped" not in told
        assert "yet its driver lives" in told


def test_status_draws_the_run_and_says_when_it_stands_still(runs: Path) -> None:
    (runs / "demo" / "status.json").write_text(json.dumps(status_of("demo")), encoding="utf-8")
    live = envolve("status", "--folder", runs)
    assert "step 3 of 24" in live.stdout
    assert "stopped" not in live.stdout
    old = status_of("demo", at=0.0)
    (runs / "demo" / "status.json").write_text(json.dumps(old), encoding="utf-8")
    told = envolve("status", "--folder", runs).stdout.replace("\n", "")
    assert "stopped (training)" in told
    assert f"`envolve run --config {runs / 'demo' / 'config.yaml'}` resumes it" in told
    assert json.loads(envolve("status", "--folder", runs, "--json").stdout) == old


def test_policies_are_listed_with_what_they_answered_of_the_active_pool(runs: Path) -> None:
    spec = {"name": "coder", "model": "some/model", "endpoint": "http://far/v1", "key_env": "KEY"}
    with PoolWriter.open(runs / "demo" / "pool", map_size=1 << 24) as pool:
        kept = {"counts": {"solver": 2, "coder.solver": 1}, "configured": {}, "policies": [spec]}
        pool.put_state("wanted", kept)
        pool.record([AnswerCount(SECOND.id, "coder", 0, 8, 6, 8, 0)])
    own, coder = json.loads(envolve("policies", "--folder", runs, "--json").stdout)
    assert (own["name"], own["own"], own["solvers"]) == ("main", True, 2)
    assert (own["environments"], own["active"], own["answers"], own["success"]) == (2, 3, 24, 10 / 24)
    assert (coder["environments"], coder["answers"], coder["success"], coder["well-formed"]) == (
        1,
        8,
        0.75,
        1.0,
    )
    told = envolve("policies", "--folder", runs).stdout
    assert "1 of 3" in told and "some/model at http://far/v1" in told


def test_a_run_that_was_never_scaled_has_the_policy_of_its_configuration(runs: Path) -> None:
    [own] = json.loads(envolve("policies", "--folder", runs, "--json").stdout)
    assert (own["name"], own["model"], own["solvers"]) == ("main", "smollm2-135m", 1)


def test_a_pool_that_lies_elsewhere_is_found_by_the_runs_configuration(runs: Path, tmp_path: Path) -> None:
    (runs / "demo" / "pool").rename(tmp_path / "demo")
    (runs / "demo" / "config.yaml").write_text(f"pool: {{folder: {tmp_path}}}", encoding="utf-8")
    assert FIRST.id in envolve("pool", "ls", "--folder", runs).stdout
    shutil.rmtree(tmp_path / "demo")
    assert f"no pool in {tmp_path / 'demo'}" in envolve("pool", "ls", "--folder", runs).stderr
