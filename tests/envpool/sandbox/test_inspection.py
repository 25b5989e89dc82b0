"""Judging a source by reading it: what is well-formed, what the scan finds, which programs are copies."""

from typing import Any

import pytest
from hostile import HONEST, PLANTED, program

from envpool.sandbox import Call, Sandbox, Value

HEAD = "import random\nfrom envpool import Environment, Planted\n"
SAMPLE = "    def sample(self, rng, level): return 1\n"
SOLVE = "    def solve(self, x: int) -> int: return x\n"
VERIFY = "    def verify(self, x: int, answer: int) -> float: return 1.0\n"
RULE = "    rule = 'Answer.'\n"
OPEN = "class A(Environment):\n"


def inspect(sandbox: Sandbox, source: str) -> dict[str, Any]:
    [result] = sandbox.run(source, [Call("inspect")])
    assert isinstance(result, Value), result
    return result.value


def test_a_well_formed_program_is_described(sandbox: Sandbox) -> None:
    report = inspect(sandbox, HONEST)
    assert report["error"] is None and report["findings"] == []
    assert (report["name"], report["domain"], report["codomain"]) == ("Total", "list[int]", "int")
    assert report["oracle"] == "equality" and report["imports"] == ["envpool", "random"]
    assert report["rule"] == "Add up the numbers of the list."
    assert "rule" not in report["stripped"] and "class" not in report["stripped"]
    planted = inspect(sandbox, PLANTED)
    assert planted["oracle"] == "feasibility"
    assert (planted["domain"], planted["codomain"]) == ("tuple[list[int], int]", "list[int]")


@pytest.mark.parametrize("top", ["while True: pass", "raise SystemExit", "import os\nos._exit(1)"])
def test_an_inspected_program_is_not_executed(sandbox: Sandbox, top: str) -> None:
    assert inspect(sandbox, program("return x", top=top))["name"] == "Subject"


MALFORMED = {
    "nothing": "",
    "no syntax": HEAD + "class A(",
    "a null byte": HEAD + "\0",
    "a lone surrogate": HEAD + "x = '\ud800'",
    "no environment": HEAD + "class A:\n" + RULE + SAMPLE + SOLVE,
    "two environments": HEAD + OPEN + RULE + SAMPLE + SOLVE + "class B(Environment):\n" + RULE + SAMPLE + SOLVE,
    "a subclass of the environment": HEAD + OPEN + RULE + SAMPLE + SOLVE + "class B(A): pass\n",
    "a hidden environment": HEAD + "def f():\n  class A(Environment):\n    rule = 'x'\n",
    "a class of another base": "class Environment: pass\n" + OPEN + RULE + SAMPLE + SOLVE,
    "a decorated environment": HEAD + "@repr\n" + OPEN + RULE + SAMPLE + SOLVE,
    "no rule": HEAD + OPEN + SAMPLE + SOLVE,
    "an empty rule": HEAD + OPEN + "    rule = ' '\n" + SAMPLE + SOLVE,
    "a computed rule": HEAD + OPEN + "    rule = 'a' + 'b'\n" + SAMPLE + SOLVE,
    "a formatted rule": HEAD + OPEN + "    rule = f'{1}'\n" + SAMPLE + SOLVE,
    "a rule of bytes": HEAD + OPEN + "    rule = b'x'\n" + SAMPLE + SOLVE,
    "two rules": HEAD + OPEN + RULE + RULE + SAMPLE + SOLVE,
    "a rule that cannot be printed": HEAD + OPEN + "    rule = 'a\\x00b'\n" + SAMPLE + SOLVE,
    "no sample": HEAD + OPEN + RULE + SOLVE,
    "no oracle": HEAD + OPEN + RULE + SAMPLE,
    "both oracles": HEAD + OPEN + RULE + SAMPLE + SOLVE + VERIFY,
    "no annotation": HEAD + OPEN + RULE + SAMPLE + "    def solve(self, x): return x\n",
    "no return annotation": HEAD + OPEN + RULE + SAMPLE + "    def solve(self, x: int): return x\n",
    "a foreign type": HEAD + OPEN + RULE + SAMPLE + "    def solve(self, x: float) -> int: return 1\n",
    "a called annotation": HEAD + OPEN + RULE + SAMPLE + "    def solve(self, x: print(1)) -> int: return 1\n",
    "an annotation in broken quotes": HEAD + OPEN + RULE + SAMPLE + "    def solve(self, x: 'in(') -> int: return 1\n",
    "an opaque codomain": HEAD + OPEN + RULE + SAMPLE + "    def solve(self, x: int) -> dict: return {}\n",
    "one argument too many": HEAD + OPEN + RULE + SAMPLE + "    def solve(self, x: int, y: int) -> int: return 1\n",
    "a default": HEAD + OPEN + RULE + SAMPLE + "    def solve(self, x: int = 1) -> int: return 1\n",
    "a static oracle": HEAD + OPEN + RULE + SAMPLE + "    @staticmethod\n" + SOLVE,
    "an async oracle": HEAD + OPEN + RULE + SAMPLE + "    async def solve(self, x: int) -> int: return 1\n",
}  # fmt: skip


@pytest.mark.parametrize("source", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_program_falls_at_l1(sandbox: Sandbox, source: str) -> None:
    error = inspect(sandbox, source)["error"]
    assert error is not None and error["gate"] == "L1" and error["reason"]


@pytest.mark.parametrize(
    "line",
    ["import os", "import random, subprocess", "from sys import exit", "from . import x", "import os.path as string",
     "from envpool import Sandbox", "from envpool.sandbox import Sandbox", "import envpool.sandbox",
     "from math import *", "def f():\n    import socket"],
)  # fmt: skip
def test_an_import_that_is_not_allowed_falls_at_its_gate(sandbox: Sandbox, line: str) -> None:
    error = inspect(sandbox, program("return x", top=line))["error"]
    assert error is not None and error["gate"] == "imports"


TOP = "CACHE = {}\nSTREAM = random.Random(1)\nKEPT: list[int] = []"
FOUND = {
    "the order of a set in a list": "return list(set([x]))[0]",
    "a set joined": "return ','.join({'a', 'b'}).index('a')",
    "a set unpacked": "return [*{x, 2}][0]",
    "a comprehension over a set": "s = {x}\nreturn [y for y in s][0]",
    "a loop over a set that stops early": "for y in {x, 2}:\n    return y",
    "pop of a set": "s = {x, 2}\nreturn s.pop()",
    "a hash": "return hash('a')",
    "an address": "return id(x)",
    "the clock": "import datetime\nreturn datetime.datetime.now().year",
    "global randomness": "return random.randint(0, 1)",
    "an unseeded generator": "return random.Random().randint(0, 1)",
    "evaluation": "return eval('1')",
    "dunders": "return len(().__class__.__subclasses__())",
    "frames": "return (lambda: 1).f_globals",
    "a global": "global state\nstate = 1\nreturn 1",
    "a cache in the module": "CACHE[x] = 1\nreturn 1",
    "a cache in the class": "self.seen.append(x)\nreturn 1",
    "a hash that is handed on": "return sorted([x, 1], key=hash)[0]",
    "a set as text": "return str({x, 2}).index('2')",
    "a set in a formatted text": "s: set[int] = {x, 2}\nreturn len(f'{s}')",
    "text made in a loop over a set": "t = ''\nfor y in {x, 2}:\n    t += str(y)\nreturn int(t)",
    "a counter of the class": "Subject.calls = x\nreturn 1",
    "an attribute set on the type": "type(self).calls = x\nreturn 1",
    "an attribute set by name": "setattr(Subject, 'calls', x)\nreturn 1",
    "a generator of the module": "return STREAM.randint(0, 1)",
    "an annotated list of the module": "KEPT.append(x)\nreturn 1",
    "a mutable default": "def inner(kept=[]): return 1\nreturn inner()",
}


@pytest.mark.parametrize("body", FOUND.values(), ids=FOUND)
def test_the_scan_finds(sandbox: Sandbox, body: str) -> None:
    source = program(body, top=TOP).replace('rule = "Answer."', 'rule = "Answer."\n    seen = []')
    report = inspect(sandbox, source)
    assert report["error"] is None and report["findings"], report
    line = report["findings"][0]["line"]
    assert source.splitlines()[line - 1].strip() in source


CLEAN = {
    "a sorted set": "return sorted(set([x]))[0]",
    "the sum over a set": "return sum(y for y in {x})",
    "counting in a loop over a set": "n = 0\nfor y in {x}:\n    n += y\nreturn n",
    "membership": "return int(x in {1, 2})",
    "pop of a list": "s = [1]\nreturn s.pop()",
    "a local that shares a name": "CACHE = []\nCACHE.append(x)\nreturn 1",
    "a constant of the module": "return CACHE.get(x, 1)",
    "a list of a set, sorted later": "s = list({x, 2})\ns.sort()\nreturn s[0]",
    "a local of a refused name": "hash = [x]\nreturn sorted(hash, key=lambda id: id)[0] + max(hash)",
    "a number added up over a set": "n = 0\nfor y in {x, 2}:\n    n += 2 * y\nreturn n",
    "an attribute of the object": "self.total = x\nreturn self.total",
    "a seeded generator": "return random.Random(x).randint(0, 1)",
}


@pytest.mark.parametrize("body", CLEAN.values(), ids=CLEAN)
def test_the_scan_lets_pass(sandbox: Sandbox, body: str) -> None:
    assert inspect(sandbox, program(body, top="CACHE = {}"))["findings"] == []


def test_the_scan_finds_what_sample_leaves_on_an_object_that_is_gone(sandbox: Sandbox) -> None:
    left = PLANTED.replace("return Planted(", "self.kept = 1\n        return Planted(")
    read = left.replace("        return float(", "        assert self.kept\n        return float(")
    assert inspect(sandbox, left)["findings"] == []
    [finding] = inspect(sandbox, read)["findings"]
    assert finding["message"] == "verify reads self.kept, which sample left on another object"


def test_the_scan_finds_a_prompt_that_asks_the_oracle(sandbox: Sandbox) -> None:
    source = program("return x") + "\n    def show(self, x: int) -> str:\n        return str(self.solve(x))\n"
    assert "show calls solve" in inspect(sandbox, source)["findings"][0]["message"]


BASE = program("total = 0\nfor item in range(x):\n    total += item * 2\nreturn total")
COPIES = {
    "other names": BASE.replace("total", "acc").replace("item", "k").replace("Subject", "Other"),
    "another argument": BASE.replace("x: int", "value: int").replace("range(x)", "range(value)"),
    "comments and blank lines": BASE.replace("return total", "\n\n        # done\n        return total"),
    "another rule": BASE.replace("Answer.", "Give the answer, please."),
    "a docstring": BASE.replace("        total = 0", "        '''Text.'''\n        total = 0"),
    "a hint more": BASE.replace("total = 0", "total: int = 0"),
    "another import style": BASE.replace("from envpool import Environment", "import envpool").replace(
        "(Environment)", "(envpool.Environment)"
    ),
}
OTHERS = {
    "another constant": BASE.replace("* 2", "* 3"),
    "another operator": BASE.replace("* 2", "+ 2"),
    "another use of the same names": BASE.replace("total += item * 2", "total += total * 2"),
    "another sampler": BASE.replace("return 1", "return 2"),
}


@pytest.mark.parametrize("source", COPIES.values(), ids=COPIES)
def test_copies_have_the_same_normal_form(sandbox: Sandbox, source: str) -> None:
    assert source != BASE
    assert inspect(sandbox, source)["normal"] == inspect(sandbox, BASE)["normal"]


@pytest.mark.parametrize("source", OTHERS.values(), ids=OTHERS)
def test_different_programs_have_different_normal_forms(sandbox: Sandbox, source: str) -> None:
    assert source != BASE
    assert inspect(sandbox, source)["normal"] != inspect(sandbox, BASE)["normal"]


def test_the_skeleton_is_that_of_the_oracle_without_its_constants(sandbox: Sandbox) -> None:
    same = {name: inspect(sandbox, source)["skeleton"] for name, source in {**COPIES, **OTHERS}.items()}
    base = inspect(sandbox, BASE)["skeleton"]
    alike = {name for name, skeleton in same.items() if skeleton == base}
    assert alike == {*COPIES, "another constant", "another sampler"}


def test_a_copy_by_another_style_of_import_is_recognised(sandbox: Sandbox) -> None:
    one = program("return len(list(itertools.repeat(x, 3)))", top="import itertools")
    two = program("return len(list(again(x, 3)))", top="from itertools import repeat as again")
    assert inspect(sandbox, one)["normal"] == inspect(sandbox, two)["normal"]
