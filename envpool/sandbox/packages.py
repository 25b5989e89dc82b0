"""Third-party packages that programs may import: what is asked for, and where the owner has it.

A package is trusted, as whatever is installed is: its code runs in the zygote before the walls are up, with the owner's
rights. Behind the walls it is a program's own, and neither a file nor a process is within its reach there.
Nothing is imported here.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Self

from envpool.sandbox.results import SandboxUnavailable


@dataclass(frozen=True, slots=True)
class Package:
    """A module that the zygote loads; programs may import what lies under the first part of its name."""

    name: str  # dotted where a part is not loaded with the whole, such as "numpy.random"
    path: str = ""  # the folder that holds it, where it is not installed

    @classmethod
    def parse(cls, text: str) -> Self:
        """From "name" or "name=path". Raises SandboxUnavailable."""
        name, _, path = text.partition("=")
        if not all(part.isidentifier() for part in name.split(".")):
            raise SandboxUnavailable(f"a package is written as name or name=folder, not {text!r}")
        if path and not Path(path).expanduser().is_dir():
            raise SandboxUnavailable(f"the folder of the package {name} is not there: {path}")
        return cls(name, str(Path(path).expanduser().resolve()) if path else "")

    @property
    def top(self) -> str:
        return self.name.partition(".")[0]


def tops(wanted: Iterable[str]) -> set[str]:
    """What programs may write after `import`, of packages as they are asked for. Raises SandboxUnavailable."""
    return {Package.parse(text).top for text in wanted}


def placed(needed: Iterable[str], known: Iterable[str]) -> list[str]:
    """How the sandbox is told of the modules that programs need: all that is known of their packages, then the rest.

    `needed` are names, dotted where a part is meant; `known` are packages as they are asked for, those of others among
    them. Raises SandboxUnavailable.
    """
    names = set(needed)
    wanted = {name.partition(".")[0] for name in names}
    there = {text: package for text in known if (package := Package.parse(text)).top in wanted}
    return [*there, *sorted(names - {package.name for package in there.values()})]


def lacking(needed: Iterable[str], known: Iterable[str]) -> list[str]:
    """Those of the needed modules of whose package nothing is known. Raises SandboxUnavailable."""
    there = tops(known)
    return sorted(name for name in set(needed) if name.partition(".")[0] not in there)


@dataclass(frozen=True, slots=True)
class Packages:
    """What one zygote loads beyond the standard library, and the folders in which it looks, in order."""

    names: tuple[str, ...] = ()
    path: tuple[str, ...] = ()

    @classmethod
    def found(cls, wanted: Iterable[str]) -> Self:
        """Looks for each where the owner would import it from. Raises SandboxUnavailable for one that is not there."""
        packages = [Package.parse(text) for text in wanted]
        if not packages:
            return cls()
        path = [*(package.path for package in packages if package.path), *_owners_path()]
        for package in packages:
            if PathFinder.find_spec(package.top, path) is None:
                raise SandboxUnavailable(
                    f"the package {package.top} is not installed for {sys.executable}: install it there, or name the "
                    f"folder that holds it, {package.top}=folder"
                )
        return cls(tuple(dict.fromkeys(package.name for package in packages)), tuple(dict.fromkeys(path)))

    @property
    def tops(self) -> tuple[str, ...]:
        """Names that programs may import, beyond those that every program may."""
        return tuple(sorted({name.partition(".")[0] for name in self.names}))

    def mentioned(self, source: str) -> bool:
        """Whether a source could import one of them, if it has the right to. Text is looked for, nothing is parsed."""
        return any(top in source for top in self.tops)

    def environment(self) -> dict[str, str]:
        """What a zygote's environment has besides: libraries that start threads as they load shall not."""
        return dict.fromkeys(_THREADS, "1") if self.names else {}


NONE = Packages()
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def _owners_path() -> Sequence[str]:
    """Where the owner imports from; not the folder it happens to stand in."""
    return [entry for entry in sys.path if os.path.isabs(entry) and os.path.isdir(entry)]
