"""Keys and values of the pool's databases: bytes on one side, frozen records on the other.

Keys sort as they are scanned: fields are separated by a zero byte, numbers are big-endian. Values are msgpack
arrays or maps; their layout belongs to the schema version of the environment. No database is touched here.
"""

import hashlib
import struct
from dataclasses import astuple, dataclass, field
from typing import Any

import msgpack

from envpool.answer_counts import Counts
from envpool.members import Member, Origin, Status
from envpool.store.errors import StoreError

MAX_NAME_BYTES = 128
MAX_STATE_KEY_BYTES = 400
_COUNTS = struct.Struct(">4Q")
_LEVEL = struct.Struct(">I")
_SEQUENCE = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One event in the pool's history; entries are numbered from 1 without gaps."""

    seq: int
    at: float
    """Seconds since the epoch."""
    step: int
    """Learner step, as the caller gave it."""
    kind: str
    """admit, reject, move, level, answers or distrust."""
    id: str = ""
    origin: str = ""
    frm: str = ""
    to: str = ""
    gate: str = ""
    reason: str = ""
    evidence: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a candidate fell, and its source where one was kept."""

    id: str
    origin: Origin
    gate: str
    reason: str
    evidence: dict[str, Any]
    source: str
    step: int
    at: float


@dataclass(frozen=True, slots=True)
class StatusRow:
    """What the status row of an id holds, so that indexes move without reading the whole record."""

    status: Status
    origin: Origin
    held_out: bool = False


def pack(value: Any) -> bytes:
    """msgpack bytes. Raises StoreError for what it cannot hold: objects, integers beyond 64 bits."""
    try:
        return msgpack.packb(value, unicode_errors="surrogatepass")
    except (TypeError, ValueError, OverflowError) as error:
        raise StoreError(f"value cannot be stored: {error}") from error


def unpack(raw: bytes) -> Any:
    return msgpack.unpackb(raw, unicode_errors="surrogatepass", strict_map_key=False)


def pack_member(member: Member) -> bytes:
    return pack(member.to_dict())


def unpack_member(raw: bytes) -> Member:
    return Member.from_dict(unpack(raw))


def pack_entry(entry: JournalEntry) -> bytes:
    row = (entry.at, entry.step, entry.kind, entry.id, entry.origin, entry.frm, entry.to, entry.gate)
    return pack((*row, entry.reason, entry.evidence))


def unpack_entry(key: bytes, raw: bytes) -> JournalEntry:
    return JournalEntry(number(key), *unpack(raw))


def pack_rejection(rejection: Rejection) -> bytes:
    return pack(astuple(rejection))


def unpack_rejection(raw: bytes) -> Rejection:
    identity, origin, *rest = unpack(raw)
    return Rejection(identity, Origin(origin), *rest)


def pack_status_row(row: StatusRow) -> bytes:
    return b"%b\0%b\0%d" % (row.status.encode(), row.origin.encode(), row.held_out)


def unpack_status_row(raw: bytes) -> StatusRow:
    status, origin, held_out = raw.decode().split("\0")
    return StatusRow(Status(status), Origin(origin), held_out == "1")


def pack_counts(counts: Counts) -> bytes:
    return _COUNTS.pack(counts.attempts, counts.successes, counts.parsed, counts.failures)


def unpack_counts(raw: bytes) -> Counts:
    return Counts(*_COUNTS.unpack(raw))


def joined(*parts: str) -> bytes:
    """A key, or with a last empty part the prefix of keys."""
    return "\0".join(parts).encode()


def level_bytes(level: int) -> bytes:
    if not 0 <= level < 1 << 32:
        raise StoreError(f"a level is a number from 0 on, not {level}")
    return _LEVEL.pack(level)


def level_of(raw: bytes) -> int:
    return _LEVEL.unpack(raw)[0]


def sequence(value: int) -> bytes:
    return _SEQUENCE.pack(value)


def number(raw: bytes) -> int:
    return _SEQUENCE.unpack(raw)[0]


def type_key(text: str) -> bytes:
    """Types nest without bound and a key may not, so a type is indexed by its hash."""
    return hashlib.sha256(text.encode()).digest()[:12]


def policy_key(policy: str, *rest: str) -> bytes:
    """Key of a policy's rows. Raises StoreError for a name that cannot be part of a key."""
    if not policy or "\0" in policy or len(policy.encode()) > MAX_NAME_BYTES:
        raise StoreError(f"a policy's name has 1 to {MAX_NAME_BYTES} bytes and no zero byte: {policy!r}")
    return joined(policy, *rest)


def state_key(key: str) -> bytes:
    """Key of a piece of run state. Raises StoreError where it is empty or too long."""
    return _named_key("state", key)


def group_key(key: str) -> bytes:
    """Key of a group of answers. Raises StoreError where it is empty or too long."""
    return _named_key("group", key)


def _named_key(what: str, key: str) -> bytes:
    raw = key.encode()
    if not 0 < len(raw) <= MAX_STATE_KEY_BYTES:
        raise StoreError(f"a {what} key has 1 to {MAX_STATE_KEY_BYTES} bytes: {key!r}")
    return raw
