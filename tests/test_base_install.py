"""The base install, in a fresh environment without any extra: small, quick to import, and enough to use a pool."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples/library.py"
HEAVY = ("faiss", "numpy", "pyarrow", "ray", "torch", "transformers", "verl", "vllm")
SECONDS = 0.5
"""What an import may take, in seconds of CPU, since a busy machine says nothing of the code."""
SAID = f"""
import json, sys, time
start = time.process_time()
{{statement}}
print(json.dumps([time.process_time() - start, [name for name in {HEAVY!r} if name in sys.modules]]))
"""


class Install:
    """A virtual environment with Envolve in it, and nothing that Envolve did not ask for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "venv/bin/python"
        source = folder / "source"
        for name in self._files():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, source / name)
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        constraints = ROOT / "constraints.txt"
        self.run("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", constraints, source)

    def run(self, *arguments: str | Path) -> str:
        """What Python prints there, away from this repository."""
        done = subprocess.run(
            [self.python, *arguments],
            cwd=self.folder,
            env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
            capture_output=True,
            text=True,
            timeout=500,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def envolve(self, *arguments: str | Path) -> str:
        """What a command prints there."""
        return self.run(self.python.with_name("envolve"), *arguments)

    def imported(self, statement: str) -> tuple[float, list[str]]:
        """Seconds of CPU that it takes, the best of three, and what it loads of what is heavy."""
        said = [json.loads(self.run("-c", SAID.format(statement=statement))) for _ in range(3)]
        return min(seconds for seconds, _ in said), said[0][1]

    @staticmethod
    def _files() -> list[str]:
        """What the repository holds, as it lies there now."""
        told = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return [name for name in told.stdout.splitlines() if (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def install(tmp_path_factory: pytest.TempPathFactory) -> Install:
    return Install(tmp_path_factory.mktemp("fresh"))


def test_the_base_install_pulls_nothing_heavy(install: Install) -> None:
    listed = json.loads(install.run("-m", "pip", "list", "--format", "json", "--disable-pip-version-check"))
    names = {each["name"].lower() for each in listed} - {"pip", "setuptools"}
    assert "envolve" in names
    assert not {name for name in names for heavy in HEAVY if name.startswith(heavy)}
    assert len(names) <= 20, sorted(names)


@pytest.mark.parametrize(
    "statement",
    ["import envpool", "from envpool import Pool, Sandbox", "from cluster.cli import app"],
)
def test_an_import_is_quick_and_loads_nothing_heavy(install: Install, statement: str) -> None:
    seconds, heavy = install.imported(statement)
    assert heavy == []
    if "envpool" in statement:
        assert seconds < SECONDS


def test_the_example_of_twenty_lines_runs_on_an_exported_pool(install: Install) -> None:
    assert "export" in install.envolve("--help")
    said = install.envolve("export", "snapshot", "shipped", "pool")
    assert re.search(r"\d+ members, \d+ of them set apart", said)
    lines = install.run(EXAMPLE, "pool").splitlines()
    assert re.fullmatch(r"\d+ members, fingerprint [0-9a-f]{20}", lines[0])
    assert all(re.match(r"[01]\.\d\d  '", line) for line in lines[1:9])
    assert re.search(r"\[Value\(value=\d+", lines[9])


def test_a_readme_that_shows_the_library_shows_that_example() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    for block in blocks:
        if "Pool.open(" in block:
            assert block == EXAMPLE.read_text(encoding="utf-8")
