"""`envolve serve --pool`: the command itself, as a process that is ended or killed."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cluster.cli import app
from envpool.contract import Scored
from envpool.exchange.service.client import ServiceClient
from envpool.members import Member
from envpool.pool import Pool
from envpool.store import PoolReader
from tests.envpool.exchange.exchanged import members, perfect, write_members, write_pool


@pytest.fixture(scope="module")
def found() -> dict[str, Member]:
    return members()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, found: dict[str, Member]) -> Iterator[Pool]:
    with Pool.open(write_members(tmp_path_factory.mktemp("library"), found)) as pool:
        yield pool


@pytest.fixture
def run(tmp_path: Path, found: dict[str, Member]) -> Path:
    return write_pool(tmp_path / "run", found)


@contextmanager
def serving(*arguments: object, token: str = "") -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process, and the line that says what it serves."""
    command = [sys.executable, "-c", "from cluster.cli import app; app()", "serve", *map(str, arguments)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "ENVOLVE_TOKEN": token}
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline()
    finally:
        process.kill()
        process.wait()


def url_in(line: str) -> str:
    (url,) = re.findall(r"http://[\w.:]+\d", line)
    return str(url)


def attempts(run: Path, policy: str) -> int:
    with PoolReader.open(run / "pool") as pool:
        stats = pool.all_stats(policy).values()
        return sum(counts.attempts for levels in stats for counts in levels.values())


def test_a_run_that_stands_still_is_served_until_the_command_is_ended(run: Path, library: Pool) -> None:
    with serving("--pool", run, "--policy", "qwen", "--port", 0) as (process, line):
        assert "serving 15 active members" in line
        assert "counted as qwen" in line
        client = ServiceClient(url_in(line))
        for question in client.sample(3):
            assert client.score(question.recipe, [perfect(library.build(question.recipe))]) == [Scored(1.0)]
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        assert process.stdout is not None
        assert "answered and counted" in process.stdout.read()
    assert attempts(run, "qwen") == 3


def test_a_service_that_is_killed_is_started_anew_and_counts_nothing_twice(run: Path, library: Pool) -> None:
    with serving("--pool", run, "--port", 0) as (process, line):
        client = ServiceClient(url_in(line), "trainer", patience=120)
        questions = client.sample(4)
        answers = [[perfect(library.build(question.recipe))] for question in questions]
        for turn in (0, 1):
            client.score(questions[turn].recipe, answers[turn], f"r{turn}")
        process.kill()
        process.wait()
    with serving("--pool", run, "--port", url_in(line).rpartition(":")[2]):
        for turn, question in enumerate(
            questions
        ):  # the first two once more: their replies may have been lost
            assert client.score(question.recipe, answers[turn], f"r{turn}") == [Scored(1.0)]
        again = client.sample(4)
    assert not {each.recipe.key() for each in again} & {each.recipe.key() for each in questions}
    assert attempts(run, "trainer") == 4


def test_a_snapshot_is_served_without_counting(tmp_path: Path, found: dict[str, Member]) -> None:
    with serving("--pool", write_members(tmp_path, found), "--port", 0, token="secret") as (_, line):
        assert "not counted" in line
        client = ServiceClient(url_in(line), token="secret")
        assert len(client.sample(3)) == 3
        status = client.status()
    assert (status["kind"], status["counts"]) == ("snapshot", False)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--pool", "nowhere"], 1, "there is no pool at nowhere"),
        (["--pool", "nowhere", "--host", "0.0.0.0"], 2, "set ENVOLVE_TOKEN"),
        (["--pool", "nowhere", "--endpoint", "http://x/v1"], 2, "without a run"),
        (["--pool", "nowhere", "run.name=x"], 2, "without a run"),
        (["--as-is"], 2, "belong to --pool"),
        (["--package", "x=/nowhere"], 2, "belong to --pool"),
    ],
)
def test_what_cannot_be_served_is_told_with_the_way_out(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, said: str
) -> None:
    monkeypatch.delenv("ENVOLVE_TOKEN", raising=False)
    arguments = arguments if "--host" in arguments else [*arguments, "--port", "0"]
    result = CliRunner().invoke(app, ["serve", *arguments])
    assert (result.exit_code, said in result.stderr) == (code, True), result.stderr


def test_a_pool_that_is_written_to_by_another_process_is_refused_by_its_name(run: Path) -> None:
    with serving("--pool", run, "--port", 0):
        time.sleep(0.1)
        result = CliRunner().invoke(app, ["serve", "--pool", str(run), "--port", "0"])
    assert result.exit_code == 1
    assert "has a writer already" in result.stderr
