"""Whether a pool is whole: its records, their indexes and counters, and the journal tell the same story.

Invariant: it reads only, in one moment of the pool, also while a writer works; what it finds is named by database and
key. It repairs nothing: a damaged pool is restored from a backup. A file that was cut off kills the process that reads
it; `apart` reads in another one.
"""

import struct
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import msgpack

from envpool.answer_counts import Counts
from envpool.members import Composite, Member, MemberError, Status
from envpool.store import encoding
from envpool.store.changes import MARK_BYTES
from envpool.store.encoding import StatusRow
from envpool.store.errors import StoreError
from envpool.store.reading import PoolReads
from envpool.store.replay import Replay

UNREADABLE = (
    struct.error,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    MemberError,
    StoreError,
    msgpack.UnpackException,
)
"""What decoding raises for bytes that no encoder wrote."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One contradiction."""

    database: str
    key: str
    text: str

    def __str__(self) -> str:
        return f"{self.database} {self.key!r}: {self.text}"


@dataclass(slots=True)
class _Facts:
    """What the records say, gathered before the indexes are held against it."""

    members: dict[str, tuple[str, bool, bytes, tuple[str, ...]]] = field(default_factory=dict)
    """Origin, whether held out, signature key, lineage; by id."""
    standing: dict[str, StatusRow] = field(default_factory=dict)
    replay: Replay = field(default_factory=Replay)
    seen: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """What has a row, by database: ids; in `children` parent and child, in `counters` the statuses."""


def check(pool: PoolReads) -> list[Finding]:
    """Every contradiction found; none in a whole pool. Memory grows with the number of ids, not with their records."""
    try:
        with pool.snapshot():
            return list(_findings(pool))
    except StoreError as error:
        return [Finding("file", str(pool.path), str(error))]


def _findings(pool: PoolReads) -> Iterator[Finding]:
    facts = _Facts()
    yield from _meta(pool)
    for database, judge in _JUDGES.items():
        for _, key, value in pool.rows((database,)):
            try:
                yield from judge(facts, key, value or b"")
            except UNREADABLE as error:
                yield _found(database, key, f"it cannot be read: {error}")
    yield from _missing(facts)
    yield from _untold(facts)


def _meta(pool: PoolReads) -> Iterator[Finding]:
    facts = {key: value or b"" for _, key, value in pool.rows(("meta",))}
    for name, width in ((b"pool", 32), (b"change", 8), (b"mark", MARK_BYTES)):
        if len(facts.get(name, b"")) != width:
            yield _found("meta", name, f"it has {len(facts.get(name, b''))} bytes, not {width}")


def _member(facts: _Facts, key: bytes, value: bytes) -> Iterator[Finding]:
    member = encoding.unpack_member(value)
    id = key.decode()
    if member.id != id:
        yield _found("members", key, f"its material has the id {member.id}")
    material = member.material
    signature = encoding.type_key(material.domain) + encoding.type_key(material.codomain)
    facts.members[id] = member.origin, member.held_out, signature, _lineage(member)


def _lineage(member: Member) -> tuple[str, ...]:
    parts = member.material.parts if isinstance(member.material, Composite) else ()
    return tuple(dict.fromkeys((*member.parents, *parts)))


def _status(facts: _Facts, key: bytes, value: bytes) -> Iterator[Finding]:
    id, row = key.decode(), encoding.unpack_status_row(value)
    facts.standing[id] = row
    if row.status is Status.REJECTED:
        if id in facts.members:
            yield _found("status", key, "it is rejected, and a member")
        return
    if id not in facts.members:
        yield _found("status", key, f"it is {row.status}, and no member")
    elif (row.origin, row.held_out) != facts.members[id][:2]:
        yield _found("status", key, "maker or held out differ from the member's record")


def _by_status(facts: _Facts, key: bytes, value: bytes) -> Iterator[Finding]:
    status, origin, id = key.decode().split("\0")
    row = facts.standing.get(id)
    if row is None or (row.status, row.origin) != (status, origin):
        yield _found("by_status", key, "the status row says otherwise")
    else:
        facts.seen["by_status"].add(id)


def _by_signature(facts: _Facts, key: bytes, value: bytes) -> Iterator[Finding]:
    width = 2 * len(encoding.type_key(""))
    member = facts.members.get(key[width:].decode())
    if member is None or member[2] != key[:width]:
        yield _found("by_signature", key[width:], "no member of this signature has this id")
    else:
        facts.seen["by_signature"].add(key[width:].decode())


def _child(facts: _Facts, key: bytes, value: bytes) -> Iterator[Finding]:
    parent, child = key.decode().split("\0")
    facts.seen["children"].add(key.decode())
    if parent not in facts.members:
        yield _found("children", key, f"{parent} is no member")
    if child not in facts.members or parent not in facts.members[child][3]:
        yield _found("children", key, f"{child} does not name it as parent or part")


def _journal(facts: _Facts, key: bytes, value: bytes) -> Iterator[Finding]:
    for text in facts.replay.add(encoding.unpack_entry(key, value)):
        yield Finding("journal", str(encoding.number(key)), text)


def _answers(facts: _Facts, key: bytes, value: bytes) -> Iterator[Finding]:
    if key[-5:-4] != b"\0":
        raise ValueError("its key has another form")
    policy, id = key[:-5].decode().split("\0")
    counts, level = encoding.unpack_counts(value), encoding.level_of(key[-4:])
    yield from _known(facts, "answers", key[:-5], id)
    said = facts.replay.answers.pop((policy, id, level), Counts())
    if counts != said:
        yield _found("answers", key[:-5], f"level {level} has {counts}, the journal {said}")


def _level(facts: _Facts, key: bytes, value: bytes) -> Iterator[Finding]:
    policy, id = key.decode().split("\0")
    yield from _known(facts, "levels", key, id)
    level, said = encoding.level_of(value), facts.replay.levels.pop((policy, id), 0)
    if level != said:
        yield _found("levels", key, f"it is {level}, in the journal {said}")


def _known(facts: _Facts, database: str, key: bytes, id: str) -> Iterator[Finding]:
    if id not in facts.standing:
        yield _found(database, key, f"{id} is not known")


def _rejection(facts: _Facts, key: bytes, value: bytes) -> Iterator[Finding]:
    rejection, id = encoding.unpack_rejection(value), key.decode()
    facts.seen["rejections"].add(id)
    row = facts.standing.get(id)
    if rejection.id != id or row is None or row.status is not Status.REJECTED:
        yield _found("rejections", key, "no candidate of this id stands as rejected")


def _counter(facts: _Facts, key: bytes, value: bytes) -> Iterator[Finding]:
    kind, *name = key.decode().split("\0")
    if kind == "status":
        status = Status(name[0])
        facts.seen["counters"].add(status)
        expected = sum(row.status is status for row in facts.standing.values())
    else:
        gate, origin = name
        expected = facts.replay.gates.pop((gate, origin), 0)
    if encoding.number(value) != expected:
        yield _found("counters", key, f"it is {encoding.number(value)}, counted anew {expected}")


def _missing(facts: _Facts) -> Iterator[Finding]:
    """Rows that the records ask for and nothing holds."""
    for id, (_, _, _, lineage) in facts.members.items():
        if id not in facts.standing:
            yield Finding("status", id, "the member has no status")
        if id not in facts.seen["by_signature"]:
            yield Finding("by_signature", id, "the member is missing in the index")
        for parent in lineage:
            if f"{parent}\0{id}" not in facts.seen["children"]:
                yield Finding("children", f"{parent}\0{id}", "parent and member are missing in the index")
    for id, row in facts.standing.items():
        if id not in facts.seen["by_status"]:
            yield Finding("by_status", id, f"it is {row.status}, and missing in the index")
        if row.status is Status.REJECTED and id not in facts.seen["rejections"]:
            yield Finding("rejections", id, "it is rejected, and why is not kept")
    for status in {row.status for row in facts.standing.values()} - facts.seen["counters"]:
        yield Finding("counters", f"status\0{status}", "it is missing")


def _untold(facts: _Facts) -> Iterator[Finding]:
    """Where the journal and what stands now differ; rows that agreed were taken out of the replay."""
    told = facts.replay.standing
    for id in told.keys() | facts.standing.keys():
        now = facts.standing[id].status if id in facts.standing else None
        if told.get(id) != now:
            yield Finding("journal", id, f"folded it comes to {told.get(id)}, the status row says {now}")
    for (gate, origin), count in facts.replay.gates.items():
        yield Finding("counters", f"funnel\0{gate}\0{origin}", f"it is missing, counted anew {count}")
    for (policy, id, level), counts in facts.replay.answers.items():
        yield Finding("answers", f"{policy}\0{id}", f"level {level} is missing, the journal has {counts}")
    for (policy, id), level in facts.replay.levels.items():
        yield Finding("levels", f"{policy}\0{id}", f"it is missing, in the journal {level}")


def _found(database: str, key: bytes, text: str) -> Finding:
    return Finding(database, key.decode(errors="backslashreplace"), text)


def _state(facts: _Facts, key: bytes, value: bytes) -> Iterator[Finding]:
    key.decode()
    encoding.unpack(value)
    yield from ()


def _group(facts: _Facts, key: bytes, value: bytes) -> Iterator[Finding]:
    key.decode()
    yield from ()


_JUDGES: dict[str, Callable[[_Facts, bytes, bytes], Iterator[Finding]]] = {
    "members": _member,
    "status": _status,
    "journal": _journal,
    "by_status": _by_status,
    "by_signature": _by_signature,
    "children": _child,
    "answers": _answers,
    "levels": _level,
    "rejections": _rejection,
    "counters": _counter,
    "state": _state,
    "groups": _group,
}
"""By database, what is held against what was read before it: records and journal first."""
