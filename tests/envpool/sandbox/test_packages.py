"""Third-party packages in the sandbox: programs that ask for them have them, and the walls are where they were."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from attack import Attack
from attack_table import ATTACKS
from battery import contained
from hostile import HONEST
from small_limits import TIGHT

from envpool.sandbox import Call, FaultKind, LocalExecutor, Sandbox, SandboxUnavailable, Value
from envpool.sandbox.server import environment

SUM = Call("solve", ([1, 2, 3],))
LOOKS_AROUND = "the environment"
"""An attack whose answer differs: with packages there are settings for the threads of libraries."""
USES = """
import parcel
from envpool import Environment


class Uses(Environment):
    rule = "Ask the parcel."

    def sample(self, rng, level):
        return 1

    def solve(self, x: int) -> str:
        return {what}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package that reads its data, and loads a part of itself, only when it is used."""
    folder = tmp_path_factory.mktemp("owned")
    package = folder / "parcel"
    (package / "data").mkdir(parents=True)
    (package / "data" / "words.txt").write_text("à la carte\n", encoding="utf-8")
    (package / "later.py").write_text("WORD = 'later'\n")
    (package / "__init__.py").write_text(
        "import gzip, importlib.resources, io, os, pathlib, pkgutil\n"
        "HOME = pathlib.Path(__file__).parent\n"
        "def text(): return (HOME / 'data' / 'words.txt').read_text(encoding='utf-8').strip()\n"
        "def by_open():\n"
        "    with open(os.path.join(os.path.dirname(__file__), 'data', '..', 'data', 'words.txt'), 'rb') as file:\n"
        "        return file.read().decode().strip()\n"
        "def there(name): return (HOME / 'data' / name).exists()\n"
        "def by_bytes(): return (HOME / 'data' / 'words.txt').read_bytes().decode().strip()\n"
        "def by_pkgutil(): return pkgutil.get_data('parcel', 'data/words.txt').decode().strip()\n"
        "def by_resources():\n"
        "    found = importlib.resources.files('parcel').joinpath('data/words.txt')\n"
        "    return found.read_text(encoding='utf-8').strip()\n"
        "def by_listing():\n"
        "    found = [name for name in os.listdir(HOME / 'data') if (HOME / 'data').is_dir()]\n"
        "    return str([found, [path.name for path in HOME.iterdir()]])\n"
        "def wrongly(mode, **more):\n"
        "    try:\n"
        "        return open(HOME / 'data' / 'words.txt', mode, **more).read()\n"
        "    except ValueError:\n"
        "        return 'ValueError'\n"
        "def loads():\n"
        "    import parcel.later\n"
        "    return parcel.later.WORD\n"
        "def tries(action):\n"
        "    try:\n"
        "        action()\n"
        "    except OSError as error:\n"
        "        return type(error).__name__\n"
        "    return 'done'\n"
        "def writes(): return tries(lambda: open(HOME / 'data' / 'words.txt', 'r+'))\n"
        "def reads(path): return tries(lambda: open(path))\n"
        "def own_code(): return reads(HOME / '__init__.py')\n"
    )
    return folder


@pytest.fixture(scope="module")
def packed(folder: Path) -> Iterator[Sandbox]:
    with Sandbox(TIGHT, packages=(f"parcel={folder}", "parcel.later", "numpy")) as started:
        yield started


def asked(sandbox: Sandbox, what: str) -> object:
    (result,) = sandbox.run(USES.format(what=what), [Call("solve", (1,))], fresh=True)
    return result.value if isinstance(result, Value) else result


@pytest.mark.parametrize(
    ("what", "answer"),
    [
        ("parcel.text()", "à la carte"),
        ("parcel.by_open()", "à la carte"),
        ("parcel.by_bytes()", "à la carte"),
        ("parcel.by_pkgutil()", "à la carte"),
        ("parcel.by_resources()", "à la carte"),
        ("parcel.by_listing()", "[['words.txt'], ['data']]"),
        ("parcel.loads()", "later"),
        ("str([parcel.there(name) for name in ('words.txt', 'no.txt')])", "[True, False]"),
    ],
)
def test_a_package_finds_its_data_and_what_it_loads_later(packed: Sandbox, what: str, answer: str) -> None:
    assert asked(packed, what) == answer


@pytest.mark.parametrize("wrong", ["'rr'", "''", "'rbt'", "'rb', encoding='utf-8'"])
def test_what_is_wrong_with_a_mode_is_said_as_elsewhere(packed: Sandbox, wrong: str) -> None:
    assert asked(packed, f"parcel.wrongly({wrong})") == "ValueError"


def test_data_is_found_by_the_real_path_too(folder: Path, tmp_path: Path) -> None:
    code = (folder / "parcel" / "__init__.py").read_text()
    (tmp_path / "real" / "data").mkdir(parents=True)
    (tmp_path / "real" / "data" / "words.txt").write_text("à la carte\n", encoding="utf-8")
    (tmp_path / "real" / "__init__.py").write_text(
        code.replace("Path(__file__).parent", "Path(__file__).resolve().parent")
    )
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "parcel").symlink_to(tmp_path / "real")
    with Sandbox(TIGHT, packages=(f"parcel={tmp_path / 'linked'}",)) as linked:
        assert [asked(linked, what) for what in ("parcel.text()", "parcel.by_open()")] == ["à la carte"] * 2


@pytest.mark.parametrize("what", ["parcel.writes()", "parcel.own_code()", "parcel.reads('/etc/hostname')"])
def test_nothing_but_its_data_can_be_opened(packed: Sandbox, what: str) -> None:
    assert asked(packed, what) == "PermissionError"


def test_numpy_draws_and_starts_no_thread(packed: Sandbox) -> None:
    source = USES.replace("import parcel", "import numpy").format(
        what="str(int((numpy.random.default_rng(7).random((64, 64)) @ numpy.ones((64, 1))).shape[0]))"
    )
    (result,) = packed.run(source, [Call("solve", (1,))], fresh=True)
    assert result == Value("64")
    assert packed.zygote_pid is not None
    assert len(list(Path(f"/proc/{packed.zygote_pid}/task").iterdir())) == 1


def test_programs_may_import_what_was_named_and_nothing_else(packed: Sandbox, sandbox: Sandbox) -> None:
    def fault(where: Sandbox, module: str) -> object:
        source = USES.replace("import parcel", f"import {module}").format(what="''")
        (report,) = where.run(source, [Call("inspect")], fresh=True)
        assert isinstance(report, Value)
        return report.value["error"]

    assert [fault(packed, module) for module in ("parcel", "parcel.later", "numpy")] == [None] * 3
    assert fault(packed, "os") == {"gate": "imports", "reason": "imports os, which is not allowed"}
    assert fault(sandbox, "parcel") == {"gate": "imports", "reason": "imports parcel, which is not allowed"}


def test_its_environment_is_literal_too(packed: Sandbox) -> None:
    (attack,) = (each for each in ATTACKS if each.name == LOOKS_AROUND)
    (seen,) = packed.run(attack.source(), [attack.call()], fresh=True)
    threads = ["MKL_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"]
    assert seen == Value(sorted([*environment(1), *threads]))


WALLS = ("seccomp", "zygote", "rlimits")
"""Layers that a package could make a hole in; the others never see it. Attacks on time only take some."""


@pytest.mark.parametrize(
    "attack",
    [
        each
        for each in ATTACKS
        if each.layer in WALLS and FaultKind.CPU_LIMIT not in each.kinds and each.name != LOOKS_AROUND
    ],
    ids=lambda attack: attack.name,
)
def test_the_walls_hold_with_packages_as_they_do_without(packed: Sandbox, attack: Attack) -> None:
    (result,) = packed.run(attack.source(), [attack.call()], fresh=True)
    assert contained(attack, result), result
    (honest,) = packed.run(HONEST, [SUM])
    assert honest == Value(6)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
            "one thread",
        ),
        ("import os\nos.dup2(os.open('/dev/null', os.O_RDONLY), 40)", "descriptor 40"),
        ("import os\nos.environ['LEFT'] = 'behind'", "LEFT"),
        ("import mmap\nKEPT = mmap.mmap(-1, 4096)", "children would share"),
        ("import mmap\nKEPT = mmap.mmap(-1, 4096, prot=mmap.PROT_READ)", "children would share"),
        (
            "import mmap\nwith open(__file__, 'r+b') as file:\n"
            "    KEPT = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)",
            "children would share",
        ),
        ("raise ValueError('broken as it loads')", "broken as it loads"),
    ],
)
def test_a_package_that_would_make_a_hole_is_refused(tmp_path: Path, code: str, reason: str) -> None:
    (tmp_path / "leaky.py").write_text(code + "\n")
    with pytest.raises(SandboxUnavailable, match=reason):
        Sandbox(TIGHT, packages=(f"leaky={tmp_path}",))


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ("nowhere_to_be_found", "nowhere_to_be_found is not installed"),
        ("parcel=/nowhere/at/all", "the folder of the package parcel is not there"),
        ("import os", "a package is written as name or name=folder"),
    ],
)
def test_a_package_that_is_not_there_is_named_at_once(wanted: str, reason: str) -> None:
    with pytest.raises(SandboxUnavailable, match=reason):
        LocalExecutor(packages=(wanted,))


def test_a_zygote_without_packages_opens_by_itself_and_has_loaded_none(sandbox: Sandbox) -> None:
    source = (
        USES.replace("import parcel", "import random")
        .replace("return {", "found = {{'numpy', 'parcel'}} & set(random._os.sys.modules)\n        return {")
        .format(what="f'{type(open).__name__} {len(found)}'")
    )
    (result,) = sandbox.run(source, [Call("solve", (1,))], fresh=True)
    assert result == Value("builtin_function_or_method 0")
    assert not {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"} & set(environment(1))
