"""What holds for the whole tree: who may know whom, and that pool source is only text outside the sandbox's child.

The rules are read from syntax trees, so they hold for code that no test runs. `actors.code_watch` watches the same
while a run goes.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("actors", "cluster", "envpool", "training")
PROGRAMS = ("envpool/seeds/", "envpool/bricks/")
"""Pool programs: data under the contract, judged by the gates and not by these rules."""
INSIDE = "envpool/sandbox/inside/"
"""What runs in the zygote and its children: the one place where program source is compiled."""

MODULES = sorted(
    path
    for path in [
        ROOT / "launch.py",
        *(path for package in PACKAGES for path in (ROOT / package).rglob("*.py")),
    ]
    if path.name == "__init__.py" or not path.relative_to(ROOT).as_posix().startswith(PROGRAMS)
)
NAMES = [path.relative_to(ROOT).as_posix() for path in MODULES]

MAKES_CODE = {"compile", "eval", "exec", "__import__", "builtins", "globals"}
READS_CODE = {"parse", "literal_eval"}
FORBIDDEN_IMPORTS = {
    "builtins", "cloudpickle", "code", "codeop", "compileall", "dill", "imp", "joblib", "marshal", "pickle",
    "py_compile", "pyclbr", "runpy", "shelve", "symtable", "tokenize", "zipimport",
}  # fmt: skip
IMPORTERS = {"actors/roster.py"}
"""Modules that import by a name which is no constant of theirs; see the test of the roster's paths."""
STARTERS = {
    "cluster/submission.py", "envpool/sandbox/server.py", "envpool/store/apart.py",
    "training/policy/file_weights.py", "training/policy/source.py",
}  # fmt: skip
"""Modules that know of processes: the wheel's build, the zygote, the check of a pool that may be damaged, an engine
core's parent, pip for the model."""
VAGUE = ("utils", "helper", "manager", "misc", "common")
LONGEST_FUNCTION = 60


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def ways_to_code(tree: ast.Module, *, importer: bool = False, starter: bool = False) -> Iterator[str]:
    """Each expression that could turn text into running code, or read it as code."""
    tables = constant_tables(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) if name in MAKES_CODE:
                yield f"{node.lineno}: {name}"
            case ast.Attribute(value=ast.Name(id="ast"), attr=name) if name in READS_CODE:
                yield f"{node.lineno}: ast.{name}"
            case ast.Import(names=aliases):
                yield from (
                    f"{node.lineno}: import {alias.name}"
                    for alias in aliases
                    if forbidden_import(alias.name, starter)
                )
            case ast.ImportFrom(module=str(module), names=aliases):
                imported = {alias.name for alias in aliases}
                if forbidden_import(module, starter) or (module == "ast" and imported & READS_CODE):
                    yield f"{node.lineno}: from {module} import {', '.join(sorted(imported))}"
            case ast.Call(func=ast.Name(id="import_module") | ast.Attribute(attr="import_module")):
                if not importer and not (node.args and names_constant_module(node.args[0], tables)):
                    yield f"{node.lineno}: import of {ast.unparse(node)}"
            case ast.Attribute(attr="exec_module" | "spec_from_file_location" | "SourceFileLoader"):
                yield f"{node.lineno}: {node.attr}"


def forbidden_import(name: str, starter: bool) -> bool:
    top = name.partition(".")[0]
    program = any(name.startswith(folder.replace("/", ".")) for folder in PROGRAMS)
    return program or top in FORBIDDEN_IMPORTS or (top in {"subprocess", "multiprocessing"} and not starter)


def constant_tables(tree: ast.Module) -> set[str]:
    """Module-level dicts whose values are constant texts: where names are loaded from on first use."""
    return {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
        for target in node.targets
        if isinstance(target, ast.Name)
        and all(isinstance(value, ast.Constant) for value in node.value.values)
    }


def names_constant_module(node: ast.expr, tables: set[str]) -> bool:
    match node:
        case ast.Constant(value=str()):
            return True
        case ast.Subscript(value=ast.Name(id=table)):
            return table in tables
        case ast.JoinedStr(values=parts):
            return isinstance(parts[0], ast.Constant) and all(
                isinstance(part, ast.Constant)
                or (isinstance(part, ast.FormattedValue) and names_constant_module(part.value, tables))
                for part in parts
            )
    return False


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith(INSIDE)])
def test_no_module_outside_the_sandbox_child_turns_text_into_code(name: str) -> None:
    found = ways_to_code(tree_of(ROOT / name), importer=name in IMPORTERS, starter=name in STARTERS)
    assert list(found) == []


@pytest.mark.parametrize(
    "code",
    [
        "exec(source)",
        "run = eval",
        "compile(source, 'x', 'exec')",
        "getattr(builtins, 'ex' + 'ec')(source)",
        "import builtins",
        "__import__(name)",
        "import ast\nast.parse(source)",
        "from ast import literal_eval",
        "import pickle",
        "from marshal import loads",
        "import runpy",
        "import subprocess",
        "import_module(name)",
        "importlib.import_module(f'{package}.x')",
        "TABLE = {'a': name}\nimport_module(TABLE[key])",
        "loader.exec_module(module)",
        "import envpool.seeds.subset_sum",
        "from envpool.bricks.lists.total import Total",
    ],
)
def test_the_rule_finds_each_way_of_turning_text_into_code(code: str) -> None:
    assert list(ways_to_code(ast.parse(code))) != []


@pytest.mark.parametrize(
    "code",
    [
        "import re\nre.compile(text)",
        "import_module('envpool.store')",
        "TABLE = {'a': 'x'}\nimport_module(TABLE[key])",
        "TABLE = {'a': 'x'}\nimport_module(f'envpool.{TABLE[key]}')",
        "from envpool.seeds import read_seeds",
        "def load(node: ast.expr) -> None: ...",
    ],
)
def test_the_rule_lets_pass_what_is_no_such_way(code: str) -> None:
    assert list(ways_to_code(ast.parse(code))) == []


def test_the_roster_makes_actors_from_constant_paths_only() -> None:
    calls = [
        node
        for node in ast.walk(tree_of(ROOT / "actors/roster.py"))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Post"
    ]
    paths = [call.args[1] for call in calls]
    assert paths
    assert all(isinstance(path, ast.Constant) and str(path.value).startswith("actors.") for path in paths)


def test_the_direction_of_imports_holds() -> None:
    code = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports())"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]


HEAVY = ("ray", "torch", "vllm", "verl", "tensordict", "transformers", "sentence_transformers", "safetensors")
OF_OTHERS = ("envpool/exchange/reasoning_gym_data.py", "envpool/exchange/verifiers_taskset.py")
"""What derives from classes of other packages, which bring numpy; imported by whoever asks for them alone."""
BLOCKER = """
import importlib, importlib.abc, sys

class Blocker(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked}:
            raise ImportError(name + " is not part of the base install")

sys.meta_path.insert(0, Blocker())
for name in {modules}:
    importlib.import_module(name)
"""


def dotted(name: str) -> str:
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@pytest.mark.parametrize(
    ("packages", "blocked"),
    [
        pytest.param(("envpool/",), HEAVY, id="envpool knows no Ray and no torch"),
        pytest.param(
            ("envpool/", "-envpool/novelty/", *(f"-{each}" for each in OF_OTHERS)),
            (*HEAVY, "numpy", "faiss"),
            id="numpy stays in novelty",
        ),
        pytest.param(
            ("cluster/cli/", "cluster/inspect/"),
            (*HEAVY, "numpy", "faiss"),
            id="looking needs the base install only",
        ),
    ],
)
def test_the_base_install_is_enough_for(packages: tuple[str, ...], blocked: tuple[str, ...]) -> None:
    without = tuple(package[1:] for package in packages if package.startswith("-"))
    modules = [
        dotted(name)
        for name in NAMES
        if name.startswith(packages) and not name.startswith((INSIDE, *without) if without else INSIDE)
    ]
    assert modules
    code = BLOCKER.format(blocked=set(blocked), modules=modules)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize("name", NAMES)
def test_a_module_says_what_it_is_for(name: str) -> None:
    assert ast.get_docstring(tree_of(ROOT / name))


@pytest.mark.parametrize("name", NAMES)
def test_names_are_the_fields_own(name: str) -> None:
    tree = tree_of(ROOT / name)
    defined = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    vague = [
        word for word in (*name.removesuffix(".py").split("/"), *defined) if word.lower().endswith(VAGUE)
    ]
    assert vague == []


@pytest.mark.parametrize("name", NAMES)
def test_functions_fit_on_a_screen(name: str) -> None:
    functions = [
        node
        for node in ast.walk(tree_of(ROOT / name))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    long = [f.name for f in functions if (f.end_lineno or f.lineno) - f.lineno + 1 > LONGEST_FUNCTION]
    assert long == []
