"""The pool on disk: one writer, any number of read-only readers in other processes, replicas on other nodes (LMDB)."""

from envpool.store.changes import Changes, Position
from envpool.store.errors import (
    NetworkFileSystem,
    NewerSchema,
    NoPool,
    OlderSchema,
    ReplicaDiverged,
    SchemaError,
    StoreError,
)
from envpool.store.reading import PoolReader
from envpool.store.replica import PoolReplica
from envpool.store.writing import PoolWriter

__all__ = [
    "Changes",
    "NetworkFileSystem",
    "NewerSchema",
    "NoPool",
    "OlderSchema",
    "PoolReader",
    "PoolReplica",
    "PoolWriter",
    "Position",
    "ReplicaDiverged",
    "SchemaError",
    "StoreError",
]
