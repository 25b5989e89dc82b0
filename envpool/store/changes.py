"""The change stream of a pool: its committed transactions as key/value operations, for replicas to repeat.

Invariant: transactions are numbered without gaps, and each names the random mark of the one before it, so a chain
of them fits exactly one history: the same number in a pool that was restored from a backup has another mark.
The log lives in memory, bounded; who is too far behind it takes a snapshot. It knows no record.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass
from itertools import islice
from typing import NamedTuple, Self

from envpool.store.encoding import pack, unpack

LOG_BYTES = 64 << 20
LOG_COUNT = 1 << 16
MARK_BYTES = 8
ANSWER_BYTES = 4 << 20

Operation = tuple[str, bytes, bytes | None]
"""Database, key, and the new value; None: the key was dropped."""


class Position(NamedTuple):
    """A place in a pool's history: the number and the mark of its newest transaction."""

    change: int
    mark: bytes


@dataclass(frozen=True, slots=True)
class Transaction:
    """One committed transaction."""

    number: int
    before: bytes
    """Mark of the transaction that it follows."""
    mark: bytes
    at: float
    """When it was durable: the writer's clock, seconds since the epoch."""
    sequence: int
    """The last journal entry after it."""
    operations: bytes
    """Packed by `pack_operations`, in the order they were done."""

    @property
    def position(self) -> Position:
        return Position(self.number, self.mark)


@dataclass(frozen=True, slots=True)
class Changes:
    """What a follower has not seen yet, or the first part of it; empty when it has seen all."""

    transactions: tuple[Transaction, ...]
    newest: int
    """Number of the writer's newest transaction."""
    sequence: int
    """The writer's last journal entry."""

    def pack(self) -> bytes:
        return pack((self.newest, self.sequence, [astuple(each) for each in self.transactions]))

    @classmethod
    def unpack(cls, raw: bytes) -> Self:
        newest, sequence, rows = unpack(raw)
        return cls(tuple(Transaction(*row) for row in rows), newest, sequence)


def pack_operations(operations: Iterable[Operation]) -> bytes:
    return pack([field for operation in operations for field in operation])


def unpack_operations(raw: bytes) -> list[Operation]:
    flat = iter(unpack(raw))
    return list(zip(flat, flat, flat, strict=True))


class ChangeLog:
    """The newest transactions, at most so many bytes and so many. Safe from several threads."""

    def __init__(
        self, start: Position, sequence: int, max_bytes: int = LOG_BYTES, max_count: int = LOG_COUNT
    ) -> None:
        self._start = start
        self._sequence = sequence
        self._max_bytes = max_bytes
        self._max_count = max_count
        self._kept: deque[Transaction] = deque()
        self._bytes = 0
        self._grown = threading.Condition()
        self._listeners: list[Callable[[], None]] = []

    @property
    def newest(self) -> Position:
        """Position of the last transaction."""
        with self._grown:
            return self._kept[-1].position if self._kept else self._start

    @property
    def sequence(self) -> int:
        """The last journal entry."""
        return self._sequence

    def append(self, transaction: Transaction) -> None:
        """Takes the next transaction and wakes who waits for it."""
        with self._grown:
            self._kept.append(transaction)
            self._bytes += len(transaction.operations)
            self._sequence = transaction.sequence
            while self._kept and (self._bytes > self._max_bytes or len(self._kept) > self._max_count):
                oldest = self._kept.popleft()
                self._bytes -= len(oldest.operations)
                self._start = oldest.position
            self._grown.notify_all()
        for listener in self._listeners:
            listener()

    def on_append(self, listener: Callable[[], None]) -> None:
        """Calls `listener` after each transaction, in the thread that committed it; it must be quick."""
        self._listeners.append(listener)

    def since(self, after: Position, limit_bytes: int = ANSWER_BYTES) -> Changes | None:
        """What follows a position, at least one transaction of it; None where only a snapshot helps."""
        with self._grown:
            skipped = after.change - self._start.change
            if not 0 <= skipped <= len(self._kept):
                return None
            if after != (self._kept[skipped - 1].position if skipped else self._start):
                return None
            chosen: list[Transaction] = []
            for transaction in islice(self._kept, skipped, None):
                limit_bytes -= len(transaction.operations)
                if chosen and limit_bytes < 0:
                    break
                chosen.append(transaction)
            newest = self._kept[-1].number if self._kept else self._start.change
            return Changes(tuple(chosen), newest, self._sequence)

    def wait(self, after: int, timeout: float) -> bool:
        """Waits for a transaction numbered above `after`; whether there is one."""
        with self._grown:
            return self._grown.wait_for(
                lambda: (self._kept[-1].number if self._kept else self._start.change) > after, timeout
            )
