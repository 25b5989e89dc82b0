"""A taskset of a pool as a package: installed, verifiers loads it by its name, and it brings tests of its own.

    NAME/                    pyproject.toml, README.md
    NAME/NAME/__init__.py    the taskset, and the harness without tools that its questions need
    NAME/NAME/members.jsonl  the pool; none where a service is asked
    NAME/tests/              an endless stream, right answers score 1, nonsense 0

Invariant: nothing but text is written, and nothing of verifiers is needed to write it.
"""

import json
from pathlib import Path

from envpool.exchange.provenance import envolve_version
from envpool.exchange.requirements import requirements
from envpool.exchange.snapshot import FILE, Snapshot, write_snapshot

VERIFIERS = "verifiers>=0.4,<0.5"
INIT = '''"""{title}.

Endless: bound it with `take`, or with verifiers' own limits. `task.source` may name another pool or service.
"""

from pathlib import Path

import verifiers.v1 as vf
from verifiers.v1.harnesses.null import NullHarness

from envpool.exchange.verifiers_taskset import PoolTask, PoolTaskConfig, PoolTaskset, PoolTasksetConfig

SOURCE = {source}


class {prefix}TaskConfig(PoolTaskConfig):
    """Where the pool is."""

    source: str = SOURCE


class {prefix}Config(PoolTasksetConfig):
    """Which tasks."""

    task: {prefix}TaskConfig = {prefix}TaskConfig()


class {prefix}Taskset(PoolTaskset, vf.Taskset[PoolTask, {prefix}Config]):
    """The pool's questions, without end."""


# The harness is this package's default: questions are answered in one reply, and need no tools.
__all__ = ["{prefix}Config", "{prefix}Taskset", "NullHarness"]
'''
PYPROJECT = """[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{dash}"
version = "{version}"
description = "{title}"
readme = "README.md"
requires-python = ">=3.11,<3.13"
dependencies = {needed}

[tool.setuptools]
packages = ["{name}"]

[tool.setuptools.package-data]
{name} = ["members.jsonl"]

[tool.pytest.ini_options]
asyncio_mode = "auto"
"""
README = """# {dash}

{title}.

    pip install .
    vf-eval {dash} -m MODEL -n 20 --no-push --env.agent.runtime.type subprocess --client.base-url URL

The taskset is endless (`INFINITE = True`): verifiers' own limits bound it. Rewards are verdicts in [0, 1], computed by
the pool's programs in Envolve's sandbox. A response that could not be judged has an error on its trace and no reward.

{about}
Licence of the questions: {licence}.
"""
OF_A_SNAPSHOT = """The pool is `{name}/members.jsonl` (fingerprint {fingerprint}, {members} members), the same
everywhere. `--env.taskset.held-out true` asks what is set apart for evaluation, `--env.taskset.seed 1` other questions.
"""
OF_A_SERVICE = """The pool is served at {url} (`envolve serve`), and evolves by what is answered: each answer is
counted once. Another address is `--env.taskset.task.source URL`; a token, where one is asked for, is in ENVOLVE_TOKEN.
"""
TEST = '''"""The package as verifiers loads it."""

from itertools import islice

import verifiers.v1 as vf
from envpool.answers import write
from envpool.contract import Recipe
from envpool.pool import Pool
from envpool.signatures import from_wire, parse_type

NAME = "{name}"


def taskset(**more: object) -> vf.Taskset:
    config = vf.taskset_config_type(NAME).model_validate({{"id": NAME, **more}})
    return vf.load_taskset(config)


async def score(task: vf.Task, reply: str) -> vf.Trace:
    seen = vf.TraceTask(type=type(task).__name__, data=task.data, key=task.key, hash=task.hash)
    trace = vf.Trace(task=seen, agent=vf.AgentInfo(config=vf.AgentConfig()), root_reply=reply)
    await task.score(trace)
    return trace


def right(pool: Pool, task: vf.Task) -> str:
    instance = pool.build(Recipe.from_dict(task.data.recipe))
    types = [parse_type(text) for text in instance.answer_types]
    return write([from_wire(reference) for reference in instance.references], types)


def test_the_stream_has_no_end_and_no_task_twice() -> None:
    tasks = list(islice(iter(taskset()), 30))
    assert type(taskset()).INFINITE
    assert len({{task.key for task in tasks}}) == 30
'''
TEST_OF_A_SNAPSHOT = """

def test_the_same_seed_asks_the_same() -> None:
    first, again, other = (
        [task.data.prompt for task in islice(iter(taskset(seed=seed)), 10)] for seed in (0, 0, 1)
    )
    assert first == again != other


async def test_right_answers_score_one_and_nonsense_nothing() -> None:
    loaded = taskset()
    with Pool.open(loaded.config.task.source) as pool:
        for task in islice(iter(loaded), 20):
            assert (await score(task, right(pool, task))).reward == 1.0
            assert (await score(task, "I do not know.")).reward == 0.0
"""


class UnusableName(ValueError):
    """A package cannot be called so."""


def write_package(folder: Path, name: str, snapshot: Snapshot | None, url: str = "") -> None:
    """Writes a package into a folder that exists: of a snapshot, or of the service at a URL.

    Raises UnusableName, SnapshotError, OSError.
    """
    words = _words(name, snapshot, url)
    package, tests = folder / name, folder / "tests"
    package.mkdir()
    tests.mkdir()
    about = (OF_A_SNAPSHOT if snapshot else OF_A_SERVICE).format(**words)
    test = TEST.format(**words) + (TEST_OF_A_SNAPSHOT if snapshot else "")
    _write(folder / "pyproject.toml", PYPROJECT.format(**words))
    _write(folder / "README.md", README.format(**words, about=about))
    _write(package / "__init__.py", INIT.format(**words))
    _write(tests / f"test_{name}.py", test)
    if snapshot:
        write_snapshot(package, snapshot.members.values(), snapshot.levels, snapshot.provenance)


def _words(name: str, snapshot: Snapshot | None, url: str) -> dict[str, str]:
    if not name.isidentifier() or name != name.lower():
        raise UnusableName(f"a package is named with small letters, digits and underscores, not {name!r}")
    members = str(len(snapshot.levels)) if snapshot else ""
    what = f"{members} members of a pool" if snapshot else "a pool that evolves"
    return {
        "name": name,
        "dash": name.replace("_", "-"),
        "prefix": "".join(part.capitalize() for part in name.split("_")),
        "title": f"An endless taskset for verifiers: {what}, by Envolve {envolve_version()}",
        "source": f'str(Path(__file__).with_name("{FILE}"))' if snapshot else repr(url),
        "version": f"0+{snapshot.fingerprint}" if snapshot else "0",
        "needed": json.dumps(_needed(snapshot)),
        "fingerprint": snapshot.fingerprint if snapshot else "",
        "members": members,
        "url": url,
        "licence": snapshot.provenance.licence if snapshot else "as the service's pool says",
    }


def _needed(snapshot: Snapshot | None) -> list[str]:
    """What pip installs beside it; of a service's programs nothing runs here."""
    return [
        "envolve[verifiers]" if snapshot else "envolve[verifiers,serve]",
        VERIFIERS,
        *(requirements(snapshot) if snapshot else ()),
    ]


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
