"""The documentation is true: it builds with every link whole, its commands run as they stand, and what it names exists.

A command that is not run is in `APART`, with the reason; its syntax is checked all the same.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import typer.main
import yaml
from mkdocs.commands.build import build
from mkdocs.config import load_config
from typer.testing import CliRunner

from cluster.cli import app
from cluster.metrics.samples import SampleTable
from cluster.resolve import known_keys, resolve
from envpool.members import Origin
from envpool.store import PoolWriter
from tests.cluster.sample import BROKEN, FALLEN, status_of
from tests.documented import Block, blocks, commands, matches, words
from tests.envpool.exchange.exchanged import members, write_pool
from tests.envpool.exchange.rlve_stand_in import write_checkout
from training.draft import Draft
from training.proposals import ProposalRewards, proposal_reward
from training.trajectory import Sample

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
APART = {
    r"make \w+": "the whole set-up, all tests, or a whole run: continuous integration makes them",
    r"source \.venv/bin/activate": "of the reader's shell",
    r"pip install [^e]": "scripts/setup, and the test of the base install",
    r"git clone ": "another server",
    r"envolve import reasoning-gym all": "a hundred tasks: tests/envpool/exchange has each",
    r"python -m tests\.benchmarks ": "minutes",
    r"python -m verl": "GPUs; on CPU cores: tests/test_verl_elsewhere.py",
    r"export \w+=": "of the reader's shell and cluster",
    r"ray ": "a cluster of several machines: tests/cluster/test_submission_on_ray.py",
    r"envolve run (?!.*--dry-run)": "a whole run: tests/test_end_to_end.py",
    r"envolve serve (?!--pool )": "a run of its own: tests/cluster/test_served_run.py",
    r"envolve warmstart": "half an hour: tests/cluster/test_cli_warmstart.py",
    r"envolve (scale|pause|resume|checkpoint|stop|attach|detach)\b": "a run that goes: tests/cluster/test_control.py",
    r"envolve pool census --composites [1-9]": "minutes: tests/cluster/test_cli_census.py",
    r"mkdocs ": "the first test here",
}
"""Commands that are not run here, by how they begin, and why; each is run elsewhere, or is the reader's own."""
AS_HERE = {
    "/backup/": "backup/",
    "p3b8c6": "ID",
    "runs/local-1": "runs/demo",
    "--run big": "--run demo",
    "RLVE Multiplication Sorting": "RLVE NearlySorted",
    "CHECKOUT Sorting 'Min*'": "RLVE 'Nearly*'",
}
"""What a page writes, and what stands for it in the folder of a test."""
INSTALLS = re.compile(r"pip install (exports/\S+)$")
"""A package that the page has made: it is put on the path, since nothing is installed in a test."""
ELSEWHERE = "pool.imports="
"""An override that names a pool which only the reader has."""
FEW = " --train 20 --questions 4 --families 4"
"""Beside an export that would write ten thousand questions."""
SERVES = re.compile(r"envolve serve --pool ")
SERVED = "http://127.0.0.1:8321"
"""Where a service is by default."""


def apart(command: str) -> bool:
    return any(re.match(pattern, command) for pattern in APART)


# It builds, and its links lead somewhere.


class Links(HTMLParser):
    """The links of a page, and the places in it that may be linked to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.places |= {place for place in (named.get("id"), named.get("name")) if place}
        self.links += [link for link in (named.get("href"), named.get("src")) if link]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation, built strictly: a warning is an error."""
    target = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(target), strict=True)
        config.plugins.on_startup(command="build", dirty=False)
        build(config)
        config.plugins.on_shutdown()
    return target


def test_every_link_leads_to_a_page_and_a_place_in_it(site: Path) -> None:
    pages = {page: Links(page) for page in site.rglob("*.html") if page.name != "404.html"}
    broken = []
    for page, found in pages.items():
        for link in found.links:
            target, _, place = unquote(link).partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            path = (page.parent / target).resolve() if target else page
            path = path / "index.html" if path.is_dir() else path
            if not path.is_file() or (
                place and path in pages and place not in pages[path].places | {"__codelineno"}
            ):
                broken.append(f"{page.relative_to(site)}: {link}")
    assert broken == []


def test_the_reference_has_every_key_and_every_command(site: Path) -> None:
    keys = Links(site / "reference/configuration/index.html").places
    assert [key for key in known_keys() if key not in keys] == []
    page = (site / "reference/commands/index.html").read_text(encoding="utf-8")
    assert [words for words in all_commands() if f"envolve {words} " not in page] == []


@pytest.mark.parametrize(
    ("page", "names"),
    [
        (
            "contract",
            ["Environment", "Planted", "Recipe", "Instance", "Scored", "Unparsed", "Failed", "Member"],
        ),
        ("pool", ["Pool", "AsyncPool", "PoolReader", "PoolWriter"]),
        ("sandbox", ["Sandbox", "LocalExecutor", "SandboxLimits", "judge_solution", "Auditor"]),
    ],
)
def test_the_reference_describes_what_is_public(page: str, names: list[str], site: Path) -> None:
    places = Links(site / "reference" / page / "index.html").places
    ends = {place.rpartition(".")[2] for place in places}
    assert [name for name in names if name not in ends] == []


def all_commands() -> list[str]:
    """The words of each, such as `pool ls`."""

    def below(command: Any, path: tuple[str, ...]) -> Iterator[str]:
        if not (parts := getattr(command, "commands", None)):
            yield " ".join(path)
        for name, part in (parts or {}).items():
            yield from below(part, (*path, name))

    return list(below(typer.main.get_command(app), ()))


# Its commands run.


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run, `demo`: a pool of real programs and composites, a status, proposals of two writers."""
    folder = tmp_path_factory.mktemp("documented")
    found = members()
    run = write_pool(folder / "runs" / "demo", found)
    with PoolWriter.open(run / "pool", map_size=0) as pool:
        pool.reject(FALLEN, Origin.POLICY, "L4", "only 1 answer", {"distinct": 1}, BROKEN, 2)
    write_checkout(folder / "RLVE", "NearlySorted")
    (run / "status.json").write_text(json.dumps(status_of("demo")), encoding="utf-8")
    verdict = {
        "id": FALLEN,
        "gate": "L4",
        "reason": "only 1 answer",
        "valid": False,
        "admitted": False,
        "evidence": {},
    }
    for writer in ("main", "author"):
        draft = Draft(
            f"{writer}-1", writer, "m", "Write one.", (), (Sample("a program", [], [], [], 2, 3, True),)
        )
        SampleTable(run, 1).proposals([draft.row(0, verdict, proposal_reward(verdict, ProposalRewards()))])
    return folder


@pytest.fixture
def folder(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it to work in, with what the README takes for granted."""
    shutil.copytree(demo, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hugging-face"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    return tmp_path


@pytest.mark.parametrize("page", [page for page in PAGES if any(commands(page))], ids=lambda page: page.stem)
def test_every_command_of_a_page_runs(page: Path, folder: Path, reader: Reader) -> None:
    if page.name == "README.md":
        given(folder)
    for block in blocks(page):
        if block.title:
            path = folder / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.language == "python" and page.name != "README.md":
            printed = reader.runs(block.text)
            assert block.prints is None or matches(printed, block.prints), printed
        else:
            run_all(block, reader)


def run_all(block: Block, reader: Reader) -> None:
    here = [command for command in block.commands if not apart(command)]
    if here:
        reader.end()  # before anything else can be typed
    for command in here:
        printed = reader.types(command, block.exits if command == here[-1] else 0)
        if block.prints is not None and len(block.commands) == 1:
            assert matches(printed, block.prints), (
                f"{command}\nprints\n{printed}\nand the page says\n{block.prints}"
            )


class Reader:
    """Who types a page's commands: keeps the services that were started, and what was installed."""

    def __init__(self) -> None:
        self._services: list[subprocess.Popen[str]] = []
        self._url = SERVED
        self._installed: list[str] = []

    def types(self, command: str, exits: int) -> str:
        """What a command prints. Fails where it ends otherwise."""
        if SERVES.match(command):
            return self._serves(as_here(command))
        if made := INSTALLS.match(command):
            assert (Path(made[1]) / "pyproject.toml").is_file()
            self._installed.append(str(Path(made[1]).resolve()))
            return ""
        return typed(as_here(command), exits)

    def runs(self, script: str) -> str:
        """What a script prints."""
        path = os.pathsep.join([*self._installed, os.environ.get("PYTHONPATH", "")])
        return run([sys.executable, "-c", script.replace(SERVED, self._url)], 0, PYTHONPATH=path)

    def end(self) -> None:
        """Ctrl-C; every service ends well."""
        while self._services:
            service = self._services.pop()
            service.send_signal(signal.SIGINT)
            assert service.wait(60) == 0

    def _serves(self, command: str) -> str:
        """The line that says it serves; at a free port, whatever the page says."""
        ours = [sys.executable, "-c", "from cluster.cli import app; app()"]
        script = [*ours, *shlex.split(command)[1:], "--port", "0"]
        service = subprocess.Popen(script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self._services.append(service)
        assert service.stdout is not None
        line = service.stdout.readline()
        url = re.search(r"http://[\d.:]+", line)
        assert url is not None, f"{command}\nprints\n{line}{service.stdout.read()}"
        self._url = url[0]
        return line.replace(self._url, SERVED)


@pytest.fixture
def reader() -> Iterator[Reader]:
    typing = Reader()
    yield typing
    typing.end()


def given(folder: Path) -> None:
    """What the README's commands take for granted: a checkout's examples, a reader's own files, replies of a model."""
    example = next(block.text for block in blocks(ROOT / "README.md") if block.language == "python")
    (folder / "my_environment.py").write_text(example, encoding="utf-8")
    (folder / "my.yaml").write_text("run: {steps: 3}\n", encoding="utf-8")
    (folder / "my_environments").mkdir()
    shutil.copy(folder / "my_environment.py", folder / "my_environments")
    shutil.copytree(ROOT / "examples", folder / "examples")
    (folder / "replies").mkdir()
    (folder / "replies" / "first.txt").write_text(f"Here it is:\n```python\n{example}```\n", encoding="utf-8")


def as_here(command: str) -> str:
    for shown, meant in AS_HERE.items():
        command = command.replace(shown, meant)
    command = re.sub(
        r"^(envolve export (\S+) .*) out$", r"\1 out/\2", command
    )  # one folder for whichever is chosen
    if re.match(r"envolve export (jsonl|verl) ", command) and "--train" not in command:
        command += FEW
    if " ID" not in command:
        return command
    id = "author-1/0" if "proposal " in command else FALLEN
    return command.replace(" ID", f" {id}")


def typed(command: str, exits: int) -> str:
    """What a command prints, in this process where it is one of ours that needs no shell. Fails for another end."""
    arguments = words(command)
    if not arguments or arguments[0] != "envolve":
        return run(["bash", "-c", command], exits)
    result = CliRunner().invoke(app, arguments[1:])
    assert result.exception is None or isinstance(result.exception, SystemExit), (command, result.exception)
    assert result.exit_code == exits, f"{command}\nends with {result.exit_code}:\n{result.output}"
    return result.output


def run(arguments: list[str], exits: int, **environment: str) -> str:
    done = subprocess.run(
        arguments, capture_output=True, text=True, timeout=300, check=False, env=os.environ | environment
    )
    assert done.returncode == exits, (
        f"{arguments[-1]}\nends with {done.returncode}:\n{done.stdout}{done.stderr}"
    )
    return done.stdout


# What is not run is written as it should be.


def left_out() -> list[str]:
    return sorted({command for page in PAGES for command in commands(page) if apart(command)})


def test_nothing_is_listed_as_not_run_that_no_page_shows() -> None:
    shown = left_out()
    assert [pattern for pattern in APART if not any(re.match(pattern, command) for command in shown)] == []


@pytest.mark.parametrize(
    "command", [each for each in left_out() if "envolve " in each or "launch.py" in each]
)
def test_a_command_that_is_not_run_is_one(command: str) -> None:
    ours = re.search(r"\b(?:envolve|python launch\.py) .*", command)
    assert ours is not None
    arguments = words(ours[0].replace("python launch.py", "envolve run"))
    assert arguments is not None
    parsed = parse(arguments[1:])
    if arguments[1] == "run" and not Path(parsed["config"]).suffix:
        overrides = [each for each in parsed["overrides"] or [] if not each.startswith(ELSEWHERE)]
        assert resolve(parsed["config"], overrides)


def parse(arguments: list[str]) -> dict[str, Any]:
    """The values that a command's function would be called with. Raises the command line's own error."""
    command: Any = typer.main.get_command(app)
    name = ""
    while hasattr(command, "commands"):
        name, *arguments = arguments
        command = command.commands[name]
    return dict(command.make_context(name, arguments).params)


@pytest.mark.parametrize(
    "target", sorted(set(re.findall(r"^make (\w+)", "\n".join(left_out()), re.MULTILINE)))
)
def test_every_make_target_it_shows_exists(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


# What it names in passing exists.

FILE = re.compile(r"\.(jsonl?|ya?ml|md|txt|py)$")


def inline(page: Path) -> list[str]:
    """The pieces of code in a page's sentences."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"`([^`\n]+)`", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_key_file_and_command_it_names_exists(page: Path) -> None:
    keys = known_keys()
    sections = {key.partition(".")[0] for key in keys}
    for code in inline(page):
        key = re.match(r"([a-z]+)\.[a-z_]+(?==|$)", code)
        if key and key[1] in sections and not FILE.search(code):
            assert key[0] in keys, code
        if re.match(r"(actors|cluster|envpool|training|tests|docs|scripts|examples)/[\w/.-]*$", code):
            assert (ROOT / code).exists(), code
        if words := re.match(r"envolve ([a-z][a-z -]*)", code):
            assert is_command(words[1].partition(" -")[0].strip()), code


def is_command(words: str) -> bool:
    """Whether they call a command or a group of them; arguments may follow."""
    return any(
        words == leaf or words.startswith(f"{leaf} ") or leaf.startswith(f"{words} ")
        for leaf in all_commands()
    )


# It can be cited.


def test_the_citation_names_both_papers() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()
    papers = {identifier["value"] for each in cited["references"] for identifier in each["identifiers"]}
    assert papers == {"arXiv:2605.14392", "arXiv:2606.12373"}
