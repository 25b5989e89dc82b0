"""`envolve pool proposals`, `proposal` and `policies`: what models wrote, from the files that a run leaves. No Ray."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cluster.cli import app
from cluster.metrics.samples import SampleTable
from envpool.members import Member, Origin, Program
from envpool.store import PoolWriter
from tests.cluster.sample import FALLEN, FIRST, PROGRAM, make_pool, status_of
from training.draft import Draft
from training.proposals import ProposalRewards, proposal_reward
from training.trajectory import Sample

REWARDS = ProposalRewards()
COUNT = Program(PROGRAM, "CountLarge", "Count.", "list[int]", "int")
SOUGHT = {"success_rate": 0.3, "similarity": 0.4}
ADMITTED = {"gate": "", "reason": "", "valid": True, "admitted": True, "evidence": SOUGHT}
AT_L4 = {"id": FALLEN, "gate": "L4", "reason": "only 1 answer", "valid": False, "admitted": False, "evidence": {}}


def envolve(*arguments: object) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def draft(id: str, writer: str, *replies: str) -> Draft:
    samples = tuple(Sample(reply, [], [], [], 2, 3, True) for reply in replies)
    return Draft(id, writer, "m at http://far/v1", "Write one.", (FIRST.id,), samples)


def hand_on(run: Path, drawn: Draft, *verdicts: dict[str, Any]) -> None:
    """As a generator does, through the metrics actor."""
    SampleTable(run, 1).proposals(
        [drawn.row(index, verdict, proposal_reward(verdict, REWARDS)) for index, verdict in enumerate(verdicts)]
    )


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with one run, `demo`, whose writer made two proposals, and its own policy one."""
    run = tmp_path / "runs" / "demo"
    make_pool(run)
    far = draft("far.generator-0-1", "far", "a program", "a \x1b[2J constant")
    hand_on(run, far, ADMITTED | {"id": FIRST.id}, AT_L4)
    hand_on(run, draft("generator-0-2", "main", "nothing"), AT_L4 | {"id": "p0000", "gate": "reply"})
    return tmp_path / "runs"


def test_proposals_are_listed_with_the_parts_of_their_rewards(runs: Path) -> None:
    told = json.loads(envolve("pool", "proposals", "--folder", runs, "--json").stdout)
    assert {row["proposal"] for row in told} == {"far.generator-0-1/0", "far.generator-0-1/1", "generator-0-2/0"}
    [best] = json.loads(envolve("pool", "proposals", "--folder", runs, "--gate", "admitted", "--json").stdout)
    assert (best["validation"], best["quality"], best["novelty"], best["total"]) == (0.2, 0.5, 0.3, 1.0)
    assert "far.generator-0-1/1" in envolve("pool", "proposals", "--folder", runs, "--writer", "far").stdout


@pytest.mark.parametrize(
    ("filters", "told"),
    [
        (["--writer", "nobody"], "none that 'nobody' wrote"),
        (["--gate", "L5"], "none that fell at 'L5'"),
        (["--writer", "main", "--gate", "admitted"], "none that 'main' wrote and that was admitted"),
    ],
)
def test_no_proposals_of_that_kind_and_none_at_all_are_told_apart(filters: list[str], told: str, runs: Path) -> None:
    assert envolve("pool", "proposals", "--folder", runs, *filters).stdout == f"{told}\n"
    make_pool(runs / "young")
    none = envolve("pool", "proposals", "--folder", runs, "--run", "young", *filters)
    assert (none.exit_code, none.stdout) == (0, "young has no proposals yet\n")


@pytest.mark.parametrize("id", ["far.generator-0-1/0", FIRST.id, FIRST.id[:6]])
def test_a_proposal_is_traced_from_its_id_or_its_programs_to_prompt_parents_and_reward(id: str, runs: Path) -> None:
    told = envolve("pool", "proposal", id, "--folder", runs).stdout
    for words in ("far", "m at http://far/v1", f"SortUp ({FIRST.id})", "quality 0.500", "Write one.", "a program"):
        assert words in told
    [row] = json.loads(envolve("pool", "proposal", id, "--folder", runs, "--json").stdout)
    assert (row["version_low"], row["version_high"], row["parents"]) == (2, 3, {FIRST.id: "SortUp"})


def test_escape_sequences_of_a_reply_do_not_reach_the_terminal(runs: Path) -> None:
    assert "\\x1b[2J" in (told := envolve("pool", "proposal", "far.generator-0-1/1", "--folder", runs).stdout)
    assert "\x1b" not in told


def test_a_proposal_that_was_cut_off_before_it_was_handed_on_is_traced_by_the_pool(runs: Path) -> None:
    origin = {"id": "far.generator-0-9/0", "writer": "far", "model": "m", "version_low": 0, "version_high": 0}
    member = Member(COUNT, Origin.POLICY, (FIRST.id,), evidence={"proposal": origin, "success_rate": 0.5})
    with PoolWriter.open(runs / "demo" / "pool", map_size=1 << 24) as pool:
        pool.admit(member)
    told = envolve("pool", "proposal", member.id, "--folder", runs).stdout
    assert "far.generator-0-9/0" in told and "SortUp" in told and "its group is not handed on" in told


def test_what_no_policy_wrote_is_no_proposal(runs: Path) -> None:
    with PoolWriter.open(runs / "demo" / "pool", map_size=1 << 24) as pool:
        pool.admit(Member(COUNT, Origin.BRICK))
    result = envolve("pool", "proposal", COUNT.id, "--folder", runs)
    assert result.exit_code == 1 and "no policy of this run wrote" in result.stderr


def test_policies_tell_who_writes_how_much_came_of_it_and_the_tokens_it_took(runs: Path) -> None:
    spec = {"name": "far", "model": "m", "endpoint": "http://far/v1", "writes": True, "solves": False}
    with PoolWriter.open(runs / "demo" / "pool", map_size=1 << 24) as pool:
        counts = {"solver": 1, "far.solver": 1, "far.generator": 1}
        pool.put_state("wanted", {"counts": counts, "configured": {}, "policies": [spec]})
    gauges = {"prompt_tokens": 1200.0, "generated_tokens": 3400.0}
    report = {"waiting_for": "", "failures": 0, "gauges": gauges}
    status = status_of("demo", actors={"far.solver-0": report, "far.generator-0": report | {"gauges": {}}})
    (runs / "demo" / "status.json").write_text(json.dumps(status), encoding="utf-8")
    own, far = json.loads(envolve("policies", "--folder", runs, "--json").stdout)
    assert (own["written"], own["admitted"], own["tokens"]) == (1, 0, None)
    assert (far["written"], far["admitted"], far["tokens"]) == (2, 1, [1200.0, 3400.0])
    told = envolve("policies", "--folder", runs).stdout
    assert "solves, writes" in told and "1200, 3400" in told


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--endpoint", "far:8000", "--writes"], "--endpoint: 'far:8000' is no base URL; write it as http://HOST:8000/v1"),
        (["--endpoint", "http://far/v1", "--writes", "--key-env", "sk-1"], "--key-env"),
        (["--no-solves"], "nothing to do"),
        (["--writes", "--no-solves", "--trainable"], "cannot only write"),
        (["--endpoint", "http://far/v1", "--writes", "--retries", "-1"], "--retries"),
        (["--endpoint", "http://far/v1", "--writes", "--timeout-seconds", "0"], "--timeout-seconds"),
    ],
)
def test_a_writer_that_cannot_be_is_refused_before_anything_is_reached(arguments: list[str], words: str) -> None:
    result = envolve("attach", "far", "--model", "m", *arguments)
    assert (result.exit_code, words in result.stderr.replace("\n", "")) == (2, True), result.stderr
