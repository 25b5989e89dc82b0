"""The ten seed programs the pool starts from (EvoEnv), one file each.

They are programs under the contract like any other: here they are text, and only a sandbox's child runs them.
"""

from pathlib import Path


def read_seeds() -> list[tuple[str, str]]:
    """(name, source) of every seed, in the order of names."""
    files = sorted(Path(__file__).parent.glob("[!_]*.py"))
    return [(file.stem, file.read_text(encoding="utf-8")) for file in files]
