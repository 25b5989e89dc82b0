"""Bringing an older pool to the present schema: ordered steps, in the one transaction that opens it for writing.

Invariant: a pool has the old schema or the new one, never a mixture, whenever the process is killed; before the
first step a copy of the old pool lies beside it. A pool of a newer schema is not touched.
"""

import logging
import os
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from envpool.store.durable import synced
from envpool.store.errors import NewerSchema, OlderSchema, StoreError

SCHEMA = 3
FIRST_SCHEMA = 1

logger = logging.getLogger(__name__)


def _number_changes(txn: Any, meta: Any) -> None:
    """1 to 2: the pool has an identity and numbered transactions, for replicas; the database `groups` is new."""
    txn.put(b"pool", uuid.uuid4().hex.encode(), db=meta)
    txn.put(b"change", bytes(8), db=meta)
    txn.put(b"mark", os.urandom(8), db=meta)


def _tell_of_distrust(txn: Any, meta: Any) -> None:
    """2 to 3: the journal may have entries of the kind `distrust`, which a reader of schema 2 cannot account for."""


STEPS: dict[int, Callable[[Any, Any], None]] = {1: _number_changes, 2: _tell_of_distrust}
"""By the schema that a step starts from."""


def version_of(raw: bytes, path: Path) -> int:
    """The schema number as it is stored. Raises StoreError for what is none, NewerSchema for one too new."""
    try:
        version = int(raw)
    except ValueError as error:
        raise StoreError(f"pool {path} has schema {raw!r}, which is no number; it is damaged") from error
    if version > SCHEMA:
        raise NewerSchema(
            f"pool {path} has schema {version}; this version knows {SCHEMA}: open it with the version that wrote it"
        )
    return version


def refuse_older(version: int, path: Path) -> None:
    """Raises OlderSchema, with the way out, for what only a writer can bring to the present schema."""
    if version < SCHEMA:
        raise OlderSchema(
            f"pool {path} has schema {version}; this version reads {SCHEMA}: `envolve pool migrate` or resuming "
            "the run brings it there and keeps a copy of the old one"
        )


def migrate(txn: Any, meta: Any, version: int) -> None:
    """Runs the steps from `version` to the present schema inside the caller's transaction."""
    for step in range(version, SCHEMA):
        STEPS[step](txn, meta)
    txn.put(b"schema", str(SCHEMA).encode(), db=meta)


def keep_copy(env: Any, path: Path, version: int) -> Path:
    """A copy of the pool as it is, in `backup-schema-N` beside it, written whole before it has that name."""
    kept, partial = path / f"backup-schema-{version}", path / f"backup-schema-{version}.partial"
    for stale in (partial, kept):
        shutil.rmtree(stale, ignore_errors=True)
    partial.mkdir()
    env.copy(str(partial), compact=True)
    synced(partial / "data.mdb")
    os.rename(partial, kept)
    synced(path)
    logger.warning(
        "pool %s: schema %d becomes %d; the old pool was copied to %s", path, version, SCHEMA, kept
    )
    return kept
