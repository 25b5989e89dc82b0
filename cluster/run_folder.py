"""The folder of a run: its name, its resolved configuration, and the lock that keeps a second driver out.

Invariant: one driver at a time; the configuration that made a run is never overwritten by a resume that would
change what its checkpoint or pool means. What the actors write there is theirs.
"""

from __future__ import annotations

import fcntl
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from cluster.config import Config
from cluster.resolve import ConfigError, dump, resolve
from envpool.curation.standings import PLAYING
from envpool.exchange.brought import NotBrought
from envpool.members import BROUGHT
from envpool.run_pool import CONFIG_FILE, pool_of
from envpool.sandbox.packages import lacking
from envpool.store import NoPool, PoolReader, StoreError

LOCK_FILE = "driver.lock"
PLACE_FILE = "cluster.json"
"""Where the run's cluster answers, as the driver wrote it at the start."""
STATUS_FILE = "status.json"
# A resumed run keeps these: its checkpoint, pool or held-out questions would mean something else.
FIXED = (
    "run.seed", "policy.name", "policy.model", "policy.dtype", "policy.system", "policy.examples",
    "policy.max_tokens", "pool.folder", "pool.seeds", "pool.bricks", "pool.held_out", "pool.imports", "bricks.subset",
    "evaluation.questions", "evaluation.held_out_questions", "evaluation.level",
    "evaluation.repeats", "evaluation.temperature", "serve.enabled",
)  # fmt: skip


class RunFolderError(RuntimeError):
    """The folder of the run cannot be used; the message says why and what to do."""


def named(config: Config) -> Config:
    """The configuration with a run name: as given, else the newest unfinished PRESET-N, else the next one."""
    if config.run.name:
        return config
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", config.preset).lstrip("._-") or "run"
    pattern = re.compile(re.escape(stem) + r"-([0-9]+)")
    root = config.run.folder.expanduser()
    numbers = [int(m[1]) for path in root.glob(f"{stem}-*") if (m := pattern.fullmatch(path.name))]
    newest = max(numbers, default=0)
    number = newest if newest and not finished(root / f"{stem}-{newest}") else newest + 1
    return config.model_copy(update={"run": config.run.model_copy(update={"name": f"{stem}-{number}"})})


def finished(folder: Path) -> bool:
    """Whether the run in this folder came to its end."""
    try:
        return phase(folder) == "done"
    except StoreError:
        return False


def phase(folder: Path) -> str:
    """The phase that a run's pool says it is in; "starting" where there is none yet. Raises StoreError."""
    try:
        with PoolReader.open(pool_of(folder)) as reader:
            return str(reader.state("phase") or "starting")
    except NoPool:
        return "starting"


def begun(folder: Path) -> bool:
    """Whether the run in this folder ever came so far as to leave something to look at, or may have: its configuration
    does not say where.
    """
    try:
        return (folder / STATUS_FILE).is_file() or (pool_of(folder) / "data.mdb").is_file()
    except StoreError:
        return True


@contextmanager
def held(config: Config) -> Iterator[Path]:
    """The run's folder, made or resumed, with its configuration written and locked. Raises RunFolderError."""
    folder = config.run_folder
    with locked(folder):
        _refuse_lacking(config)
        _refuse_half_begun(config)
        _settle_configuration(config, folder / CONFIG_FILE)
        yield folder


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """No driver but this process, if it is one. Raises RunFolderError."""
    with _lock_file(folder) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise RunFolderError(
                f"run {folder.name!r} is already driven by another process; look at it with "
                f"`envolve status --run {folder.name}`, or start another with run.name=OTHER"
            ) from error
        yield


def _lock_file(folder: Path) -> TextIO:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return (folder / LOCK_FILE).open("a")
    except OSError as error:
        raise RunFolderError(
            f"the run's folder cannot be made: {error}; choose another with run.folder=PATH"
        ) from error


def _refuse_lacking(config: Config) -> None:
    """Members that import what no sandbox of the run has would fail at every draw."""
    try:
        with PoolReader.open(config.pool_folder) as pool:
            ids = [id for origin in BROUGHT for status in PLAYING for id in pool.ids(status, origin)]
            needed = {name for id in ids if (member := pool.get(id)) for name in member.evidence.get("packages", ())}
    except StoreError:
        return  # there is none yet, or its writer says what is wrong with it
    if absent := lacking(needed, config.sandbox.packages):
        every = ",".join([*config.sandbox.packages, *absent])
        raise RunFolderError(f"the run's pool needs packages in its sandboxes: resume it with sandbox.packages={every}")


def _refuse_half_begun(config: Config) -> None:
    """A run that was ended while it took its first programs in takes the rest now, which `resolve` did not look at."""
    try:
        if not config.pool.imports or phase(config.run_folder) != "starting":
            return
    except StoreError:
        return  # as above
    try:
        needed = {name for program in config.programs() for name in program.packages}
    except NotBrought as error:
        raise RunFolderError(
            f"the run was ended before it had all of pool.imports, and now {error}"
        ) from error
    if absent := lacking(needed, config.sandbox.packages):
        every = ",".join([*config.sandbox.packages, *absent])
        raise RunFolderError(
            f"the run was ended before it had all of pool.imports, which needs sandbox.packages={every}"
        )


def _settle_configuration(config: Config, path: Path) -> None:
    if path.exists():
        _refuse_changes(resolve(str(path)), config, path)
    scratch = path.with_suffix(".tmp")
    scratch.write_text(dump(config), encoding="utf-8")
    scratch.replace(path)


def _refuse_changes(before: Config, now: Config, path: Path) -> None:
    for key in FIXED:
        section, name = key.split(".")
        old, new = getattr(getattr(before, section), name), getattr(getattr(now, section), name)
        if old != new:
            raise ConfigError(
                f"{path}: the run was begun with {key}={old!r}, now it is {new!r}; "
                f"give the old value to resume, or another run.name to start afresh"
            )
