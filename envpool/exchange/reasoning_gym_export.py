"""A pool as data sets of reasoning_gym: one for the whole pool and one a member that may be trained on, made by name,
scored by our sandbox.

    import reasoning_gym, envolve_pool

    data = reasoning_gym.create_dataset("envolve_pool", seed=42, size=100, level=1)
    data.score_answer(data[0]["answer"], data[0])    # 1.0

Invariants: what is set apart is asked with `held_out=True` alone. Item 1 of seed 42 is no item of seed 43. Every item
has an answer that scores 1. A score is that of the program that judges; where there is none, NoVerdict is raised. An
entry may go through JSON on its way. Importing this module needs nothing of reasoning_gym; registering does.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from envpool.exchange.provenance import envolve_version
from envpool.exchange.requirements import requirements
from envpool.exchange.scoring import Scoring
from envpool.exchange.snapshot import Snapshot, read_snapshot, write_snapshot
from envpool.members import Composite, Member, Program

ID_SHOWN = 7
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
INIT = '''"""{title}: importing it registers the data sets that `NAMES` lists with reasoning_gym."""

from pathlib import Path

from envpool.exchange.reasoning_gym_export import register

NAMES = register(Path(__file__).parent, {name!r})
'''
PYPROJECT = """[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "0+{fingerprint}"
description = "{title}"
requires-python = ">=3.11"
dependencies = {needed}

[tool.setuptools]
packages = ["{name}"]

[tool.setuptools.package-data]
{name} = ["members.jsonl"]
"""


def write_package(snapshot: Snapshot, folder: Path, name: str) -> list[str]:
    """Writes a package of that name into a folder that exists; the names of its data sets. Raises OSError."""
    title = f"A pool of Envolve {envolve_version()} for reasoning_gym, {len(snapshot.levels)} members"
    needed = ["envolve", "reasoning-gym>=0.1.25", *requirements(snapshot)]
    words = {"name": name, "title": title, "fingerprint": snapshot.fingerprint, "needed": json.dumps(needed)}
    (folder / "pyproject.toml").write_text(PYPROJECT.format(**words), encoding="utf-8")
    package = folder / name
    package.mkdir()
    (package / "__init__.py").write_text(INIT.format(**words), encoding="utf-8")
    write_snapshot(package, snapshot.members.values(), snapshot.levels, snapshot.provenance)
    return list(data_sets(snapshot, name))


def data_sets(snapshot: Snapshot, prefix: str) -> dict[str, str]:
    """Names of data sets, and whom each asks: first the whole pool, under the empty id, then members by name.

    Members that are set apart have none: the pool's own asks them, with `held_out`, and `member` if only one is meant.
    """
    asked = (snapshot.members[id] for id in snapshot.levels)
    members = sorted((_slug(member), member.id) for member in asked if not member.held_out)
    return {prefix: ""} | {f"{prefix}_{slug}_{id[:ID_SHOWN]}": id for slug, id in members}


def register(path: str | Path, prefix: str = "envolve_pool", packages: Sequence[str] = ()) -> list[str]:
    """Registers the data sets of the snapshot at a path; their names. A second time changes nothing.

    `packages`: as of `Pool.open`. Raises SnapshotError, OSError, ImportError without reasoning_gym.
    """
    from reasoning_gym.factory import DATASETS, register_dataset

    from envpool.exchange.reasoning_gym_data import config_of, curriculum_of, data_of

    snapshot = read_snapshot(path)
    scoring = Scoring(path, packages)
    names = data_sets(snapshot, prefix)
    for name, id in names.items():
        if name in DATASETS:
            continue
        member = snapshot.members.get(id)
        config = config_of(id)
        levels = member is None or isinstance(member.material, Program)
        register_dataset(
            name, data_of(name, scoring), config, curriculum_of(name, config) if levels else None
        )
    return list(names)


def _slug(member: Member) -> str:
    """What a data set is called after its member."""
    material = member.material
    if isinstance(material, Composite):
        return f"{material.operator.lower()}_{material.size}"
    return _WORD.sub("_", material.name).lower()
