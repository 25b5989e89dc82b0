"""Loading third-party packages into a zygote, with all that they would look for only when used.

Behind the walls nothing can be imported or opened any more. So the modules that a package leaves for later are loaded
now, and its data files are read now and given out of memory: `open`, `stat` and `listdir` of such a path answer from
there, and so do `pkgutil.get_data` and `importlib.resources`.
Invariant: this adds memory to a zygote and takes no wall away. What is not on the shelf the kernel refuses, as before.
"""

import builtins
import contextlib
import errno
import importlib
import importlib.machinery
import io
import os
import pkgutil
import stat
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from importlib import _bootstrap_external
from types import ModuleType
from typing import Any

LATER: Mapping[str, tuple[str, ...]] = {
    "numpy": ("numpy.fft", "numpy.ma", "numpy.polynomial", "numpy.random", "secrets", "hmac"),
    "sympy": (
        "sympy.assumptions.*", "sympy.calculus.*", "sympy.combinatorics.*", "sympy.concrete.*", "sympy.functions.*",
        "sympy.integrals.*", "sympy.logic.*", "sympy.matrices.*", "sympy.ntheory.*", "sympy.physics.matrices",
        "sympy.physics.units", "sympy.polys.*", "sympy.series.*", "sympy.sets.*", "sympy.simplify.*",
        "sympy.solvers.*", "sympy.stats", "sympy.tensor.tensor", "sympy.vector",
    ),
    "pyfiglet": ("pyfiglet.fonts",),
    "reasoning_gym": (
        "reasoning_gym.arc.arc_1d_tasks", "reasoning_gym.arc.rearc_utils.generators",
        "reasoning_gym.arc.rearc_utils.utils", "reasoning_gym.arithmetic.gsm_symbolic.generators_00_49",
        "reasoning_gym.arithmetic.gsm_symbolic.generators_50_99", "reasoning_gym.cognition.needle_data",
        "reasoning_gym.games.contrib.sokoban.src.generator", "reasoning_gym.induction.list_functions.generators",
    ),
}  # fmt: skip
"""What packages import only when they are used, by who does; ".*" for all below. Found by using them."""
READERS = (
    "importlib.readers",
    "importlib.resources",
    "importlib.resources.abc",
    "importlib.resources.readers",
)
"""What the standard library loads where a package's data is asked for by the package's name."""
MOST_DATA = 64 << 20  # bytes; more is no package's data but a data set
_CODE = (*importlib.machinery.all_suffixes(), ".pyi", ".pyx", ".pxd", ".pxi", ".c", ".h", ".hpp", ".a", ".f")
_NOT_USED = frozenset(("__pycache__", "test", "tests", "testing", "include", "benchmarks", "docs"))
_FileLoader: Any = _bootstrap_external.FileLoader


class TooMuchData(OSError):
    """Packages whose data does not fit in a zygote."""


def load(names: Iterable[str], path: Iterable[str]) -> None:
    """Imports the named modules and what they look for later, and puts their data on the shelf.

    Raises whatever their code raises, or TooMuchData.
    """
    before = set(sys.modules)
    sys.path.extend(path)
    for name in (*READERS, *names):
        importlib.import_module(name)
    for top in tuple(LATER):
        if top in sys.modules:
            for name in LATER[top]:
                _load_later(name)
    _Shelf(_folders(set(sys.modules) - before)).stand_in()


def _load_later(name: str) -> None:
    """A module, or with ".*" all below it, as far as they can be had: some stand there for packages that are not."""
    whole = name.removesuffix(".*")
    module = importlib.import_module(whole)
    if whole != name:
        for _, below, is_package in pkgutil.iter_modules(_own(module), f"{whole}."):
            if below.rpartition(".")[2] not in _NOT_USED:
                with contextlib.suppress(ImportError):
                    _load_later(f"{below}.*" if is_package else below)


def _folders(names: Iterable[str]) -> list[str]:
    """The folders of the top-level packages among some modules, but for the standard library's."""
    tops = {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names)
    modules = [sys.modules[top] for top in sorted(tops) if top in sys.modules and top != "envpool"]
    return [os.path.normpath(folder) for module in modules for folder in _own(module)]


def _own(module: ModuleType) -> list[str]:
    return list(getattr(module, "__path__", ()))


class _Shelf:
    """The data files of some folders, in memory, by the path as it is written and by the real one."""

    def __init__(self, folders: list[str]) -> None:
        self._files: dict[str, bytes] = {}
        self._listed: dict[str, set[str]] = defaultdict(set)
        self._roots: tuple[str, ...] = ()
        room = MOST_DATA
        for folder in folders:
            real = os.path.realpath(folder)
            self._roots += tuple({folder + os.sep, real + os.sep})
            for path in _data([real]):
                with open(path, "rb") as file:
                    content = file.read(room + 1)
                room -= len(content)
                if room < 0:
                    where = ", ".join(folders)
                    raise TooMuchData(errno.EFBIG, f"more than {MOST_DATA >> 20} MiB of data in {where}")
                for root in {folder, real}:
                    self._put(root, path[len(real) :], content)
        self._open, self._stat, self._listdir = io.open, os.stat, os.listdir
        self._get_data = _FileLoader.get_data

    def _put(self, root: str, below: str, content: bytes) -> None:
        path = root + below
        self._files[path] = content
        while path != root:
            folder, name = os.path.split(path)
            self._listed[folder].add(name)
            path = folder

    def stand_in(self) -> None:
        """From now on code that opens a path that lies here reads it here."""
        builtins.open = io.open = self.open
        os.stat, os.listdir = self.stat, self.listdir
        _FileLoader.get_data = lambda loader, path: self.get_data(loader, path)

    def open(self, file: Any, mode: str = "r", buffering: int = -1, *args: Any, **more: Any) -> Any:
        content = self._files.get(_normal(file))
        binary = mode in ("rb", "br")
        of_text = any(each is not None for each in (*args, *more.values()))
        # The real one says what is wrong with a mode, and with an encoding of bytes, before it opens anything.
        if content is None or not (binary or mode in ("r", "rt", "tr")) or (binary and of_text):
            return self._open(file, mode, buffering, *args, **more)
        raw = io.BytesIO(content)
        if binary:
            return raw
        encoding, errors, newline = (*args, *(None,) * 3)[:3]
        return io.TextIOWrapper(
            raw, more.get("encoding", encoding), more.get("errors", errors), more.get("newline", newline)
        )

    def stat(self, path: Any, **more: Any) -> os.stat_result:
        """Of a package's folder it is known what is not there, which a refusal of the kernel would not tell."""
        where = _normal(path)
        if where in self._files:
            return os.stat_result((stat.S_IFREG | 0o444, 0, 0, 1, 0, 0, len(self._files[where]), 0, 0, 0))
        if where in self._listed:
            return os.stat_result((stat.S_IFDIR | 0o555, 0, 0, 1, 0, 0, 0, 0, 0, 0))
        if where.startswith(self._roots):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), where)
        return self._stat(path, **more)

    def listdir(self, path: Any = ".") -> list[Any]:
        """The data in a package's folder; its code is not listed."""
        where = _normal(path)
        return sorted(self._listed[where]) if where in self._listed else self._listdir(path)

    def get_data(self, loader: Any, path: str) -> bytes:
        content = self._files.get(_normal(path))
        return self._get_data(loader, path) if content is None else content


def _normal(path: Any) -> str:
    return os.path.normpath(os.fspath(path)) if isinstance(path, (str, os.PathLike)) else ""


def _data(folders: Iterable[str]) -> Iterator[str]:
    for folder in folders:
        for where, below, files in os.walk(folder):
            below[:] = sorted(set(below) - _NOT_USED)
            yield from (os.path.join(where, name) for name in sorted(files) if not name.endswith(_CODE))
