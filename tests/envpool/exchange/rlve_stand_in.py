"""A small checkout in RLVE-Gym's form, for tests. Its tasks are written here; none of RLVE's own code is in it.

Its base class is a short stand-in too, but one that seeds, generates, asks and scores as RLVE's does, so that what a
program of ours asks can be held against what the same seed and parameter ask there.
"""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

BASE = """\
import copy
import random
import re


class VerifiableEnvironment:
    def __init__(self, answer_markers=None):
        self.seed = self.parameter = None
        self.passing_reward_threshold = 1.0

    def generator(self, seed, parameter=None, timeout_second=10):
        self.seed, self.parameter = seed, copy.deepcopy(parameter)
        random.seed(seed)
        try:
            self._generate()
        except Exception:
            return False
        return self.parameter is not None

    def prompt_generator(self):
        return self._prompt_generate()

    def processor(self, output):
        found = re.findall(r"<answer>(.*?)</answer>", output, re.DOTALL)
        return self._process(found[-1] if found else None)

    def verifier(self, output):
        try:
            score = self.scorer(output)
        except Exception:
            score = -1.0
        return dict(reward=score, accuracy=int(score >= self.passing_reward_threshold - 1e-6))
"""
CONTROLLER_BASE = """\
class ParameterController:
    def __init__(self):
        pass
"""
IMPORTS = """\
import random
from typing import Optional, List
from Gym.environment import VerifiableEnvironment
"""
SORTED = '''\


class NearlySorted_Environment(VerifiableEnvironment) :
    prompt_template = \\
r"""You are given {N} numbers:
{numbers}

Write them in **ascending order**, one on each line.
    Nothing else counts."""

    def __init__(self, wrong_format : float = -1.0, **kwargs) :
        super().__init__(**kwargs)
        self.rewards = {"wrong_format" : wrong_format}

    def _generate(self) -> None :
        self.parameter["array"] = [random.randint(0, 9 * self.parameter["N"]) for _ in range(self.parameter["N"])]
        self.parameter["gold_answer"] = sorted(self.parameter["array"])
        self.parameter["reference_answer"] = "\\n".join(map(str, self.parameter["gold_answer"]))

    def _prompt_generate(self) -> str :
        return self.prompt_template.format(N = self.parameter["N"], numbers = self.parameter["array"])

    def _process(self, answer : Optional[str]) -> Optional[List] :
        return None if answer is None else list(map(int, answer.split()))

    def scorer(self, output : str) -> float :
        given = self.processor(output)
        if given is None :
            return self.rewards["wrong_format"]
        if len(given) != self.parameter["N"] :
            return -0.5
        return sum(a == b for a, b in zip(given, self.parameter["gold_answer"])) / self.parameter["N"]
'''
NO_REFERENCE = SORTED.replace("NearlySorted", "NoReference").replace(
    'self.parameter["reference_answer"]', "_"
)
GENEROUS = SORTED.replace("NearlySorted", "Generous").replace("return -0.5", "return 1.0")
GIVES_UP = SORTED.replace("NearlySorted", "GivesUp").replace(
    "def _generate(self) -> None :",
    "def _generate(self) -> None :\n        self.parameter = None\n        return",
)
SHOWS_A_SET = SORTED.replace("NearlySorted", "ShowsASet").replace(
    "return self.prompt_template.format(",
    'letters = dict(all=set("abcdef"))\n        '
    'return "".join(letters["all"]) + self.prompt_template.format(',
)
WITH_PACKAGE = "import networkx\n" + SORTED.replace("NearlySorted", "WithPackage")
CONTROLLER = """\
from typing import Dict, List
from Gym.parameter_controller import ParameterController

class {name}_ParameterController(ParameterController) :
    def __init__(self, **kwargs) :
        super().__init__(**kwargs)
        self.N = 3

    def update(self) -> None :
        self.N += 2

    def get_parameter_list(self) -> List[Dict] :
        return [dict(N = self.N), dict(N = self.N + 1)]"""
TASKS = {
    "NearlySorted": SORTED,
    "NoReference": NO_REFERENCE,
    "Generous": GENEROUS,
    "GivesUp": GIVES_UP,
    "ShowsASet": SHOWS_A_SET,
    "WithPackage": WITH_PACKAGE,
}


def write_checkout(folder: Path, *names: str) -> Path:
    """A checkout with the named tasks, or all."""
    gym = folder / "Gym"
    (gym / "environments").mkdir(parents=True)
    (gym / "parameter_controllers").mkdir()
    (gym / "__init__.py").touch()
    (gym / "environment.py").write_text(BASE, encoding="utf-8")
    (gym / "parameter_controller.py").write_text(CONTROLLER_BASE, encoding="utf-8")
    for part, ending, file in (
        ("environments", "Environment", "environment"),
        ("parameter_controllers", "ParameterController", "parameter_controller"),
    ):
        index = [f"from Gym.{part}.{name.lower()} import {name}_{ending}" for name in names or TASKS]
        index += ["", "listed = {", *(f'    "{name}" : {name}_{ending},' for name in names or TASKS), "}"]
        (gym / part / "__init__.py").write_text("\n".join(index), encoding="utf-8")
        for name in names or TASKS:
            home = gym / part / name.lower()
            home.mkdir()
            (home / "__init__.py").write_text(f"from .{file} import {name}_{ending}\n", encoding="utf-8")
            text = IMPORTS + TASKS[name] if ending == "Environment" else CONTROLLER.format(name=name)
            (home / f"{file}.py").write_text(text, encoding="utf-8")
    return folder


@contextmanager
def imported(checkout: Path, name: str) -> Iterator[tuple[ModuleType, ModuleType]]:
    """A task's own two modules, as whoever has the checkout would import them."""
    sys.path.insert(0, str(checkout))
    try:
        yield (
            importlib.import_module(f"Gym.environments.{name.lower()}"),
            importlib.import_module(f"Gym.parameter_controllers.{name.lower()}"),
        )
    finally:
        sys.path.remove(str(checkout))
        for module in [each for each in sys.modules if each.partition(".")[0] == "Gym"]:
            del sys.modules[module]
