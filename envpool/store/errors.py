"""What can go wrong with a pool, as types. Nothing else leaves the store's own boundary."""


class StoreError(RuntimeError):
    """The pool cannot be opened, or an operation on it was refused; nothing of that operation was written."""


class NoPool(StoreError):
    """There is none, or the process that made it was killed before it was one; a writer makes it."""


class SchemaError(StoreError):
    """The pool was written by a version whose layout this one does not read."""


class OlderSchema(SchemaError):
    """A pool of an older layout, which a writer brings to the present one."""


class NewerSchema(SchemaError):
    """A pool of a newer layout than this version knows; it was not touched."""


class NetworkFileSystem(StoreError):
    """The folder lies on a file system that several machines share, where LMDB is not safe."""


class ReplicaDiverged(StoreError):
    """The changes do not follow what the replica holds; it takes a snapshot instead."""
