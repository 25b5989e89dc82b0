"""The pool on disk: one writer, any number of read-only readers in other processes (LMDB)."""

from envpool.store.environment import NoPool, StoreError
from envpool.store.reading import PoolReader
from envpool.store.writing import PoolWriter

__all__ = ["NoPool", "PoolReader", "PoolWriter", "StoreError"]
