"""A pool as one text file that a person can read and any machine can rebuild: `members.jsonl`.

The first line is a header: schema, fingerprint, provenance. Then a member a line, without its embedding: those that may
be asked, with the level they are asked at, and after them the parts that only stand in composites.

Invariants: what is read back is what was written, or it is refused by file and line; a member's id is the hash of its
material, so a program that was edited is another member; levels, families and what is set apart are in the fingerprint,
which does not depend on the order of the lines; of all else that a line says, such as the question or the licence, it
has a digest: each line, the header too, or none, as in files from before. That guards against accidents, not against
intent: whoever edits a file can write its digests anew, or leave them all out. Nothing here runs a program.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envpool.exchange.provenance import Provenance
from envpool.families import kin
from envpool.members import Composite, Member, MemberError

SCHEMA = 2
KIND = "envolve pool"
FILE = "members.jsonl"
DIGEST = "digest"
"""Of the rest of a line, the last in it."""
_UNREADABLE = 80  # characters of a line that are shown
_BROKEN = (ValueError, KeyError, TypeError, AttributeError, RecursionError)  # of a line that is none of ours


class SnapshotError(ValueError):
    """A file is no snapshot, or one that this version does not read, or was changed; the message names the line."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Members of one moment of a pool."""

    members: Mapping[str, Member]
    levels: Mapping[str, int]
    """Of each member that may be asked; the others are parts that only stand in composites."""
    provenance: Provenance

    @property
    def fingerprint(self) -> str:
        """As `fingerprint` has it."""
        return fingerprint(self.members, self.levels)


def fingerprint(members: Mapping[str, Member], levels: Mapping[str, int]) -> str:
    """20 hex digits for all that draws depend on, whatever its order: the members that may be asked, by id and level,
    which of them are set apart, and their families.
    """
    asked = ((id, members[id]) for id in sorted(levels))
    lines = [(id, levels[id], member.held_out, member.family or kin(member)) for id, member in asked]
    return hashlib.sha256(json.dumps(lines).encode()).hexdigest()[:20]


def file_at(path: str | Path) -> Path:
    """The snapshot that a path means: the file itself, or the one in a folder."""
    return Path(path) / FILE if Path(path).is_dir() else Path(path)


def write_snapshot(
    path: str | Path, members: Iterable[Member], levels: Mapping[str, int], provenance: Provenance
) -> Path:
    """Writes the file, or `members.jsonl` into a folder that exists; whole, or not at all.

    Raises SnapshotError where a member, or a part of one, is missing, or evidence is no JSON; OSError.
    """
    snapshot = Snapshot({member.id: member for member in members}, dict(levels), provenance)
    _refuse_gaps(snapshot)
    target = file_at(path)
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        with partial.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in _lines(snapshot))
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return target


def read_snapshot(path: str | Path) -> Snapshot:
    """What `write_snapshot` wrote there. Raises SnapshotError, OSError."""
    target = file_at(path)
    try:
        with target.open(encoding="utf-8") as file:
            header, members, levels = _read(target, file)
    except UnicodeDecodeError as error:
        raise SnapshotError(f"{target} is no snapshot of a pool: it is no text ({error})") from error
    snapshot = Snapshot(members, levels, Provenance.from_dict(header["provenance"]))
    if snapshot.fingerprint != header["fingerprint"]:
        raise SnapshotError(
            f"{target}: members, their levels, families or held_out were added, removed or changed: the header's "
            f"fingerprint is {header['fingerprint']}, theirs {snapshot.fingerprint}"
        )
    _refuse_gaps(snapshot)
    return snapshot


def _read(target: Path, file: Iterable[str]) -> tuple[dict[str, Any], dict[str, Member], dict[str, int]]:
    """Header, members and levels. Raises SnapshotError, UnicodeDecodeError."""
    lines = enumerate(file, 1)
    header = _header(target, next(lines, (1, ""))[1])
    members: dict[str, Member] = {}
    levels: dict[str, int] = {}
    for number, line in lines:
        try:
            member, level = _member(line, DIGEST in header)
        except _BROKEN as error:
            raise SnapshotError(f"{target}, line {number}: {_reason(error)}") from error
        members[member.id] = member
        if level is not None:
            levels[member.id] = level
    return header, members, levels


def _lines(snapshot: Snapshot) -> Iterator[str]:
    """Header, members by id, parts by id."""
    yield _digested({
        "kind": KIND,
        "schema": SCHEMA,
        "fingerprint": snapshot.fingerprint,
        "provenance": snapshot.provenance.to_dict(),
    })  # fmt: skip
    asked = snapshot.levels
    for id in sorted(snapshot.members, key=lambda id: (id not in asked, id)):
        record = snapshot.members[id].to_dict()
        del record["embedding"]
        yield _digested({"id": id, "asked": id in asked, "level": asked.get(id), **record})


def _digested(record: Mapping[str, Any]) -> str:
    return _json({**record, DIGEST: _digest(json.loads(_json(record)))})


def _json(record: Mapping[str, Any]) -> str:
    try:
        # ASCII, because a program's text may hold what no encoding of a file takes.
        return json.dumps(record)
    except (TypeError, ValueError) as error:
        raise SnapshotError(f"{record.get('id', 'the header')} cannot be written: {error}") from error


def _digest(line: Mapping[str, Any]) -> str:
    """Of all that a line says, as it is read back, but this itself."""
    said = {key: value for key, value in line.items() if key != DIGEST}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:20]


def _header(target: Path, line: str) -> dict[str, Any]:
    try:
        header = json.loads(line)
        known = header["kind"] == KIND
        schema, _ = header["schema"], (header["fingerprint"], header["provenance"]["envolve"])
    except _BROKEN:
        known = False
    if not known:
        raise SnapshotError(
            f"{target} is no snapshot of a pool: it begins with {line.strip()[:_UNREADABLE]!r}"
        )
    if schema != SCHEMA:
        raise SnapshotError(f"{target} has schema {schema!r}, and this version reads {SCHEMA}")
    if header.get(DIGEST, known := _digest(header)) != known:
        raise SnapshotError(
            f"{target}, line 1: the header was changed: it has not the digest that it was written with"
        )
    return header


def _member(line: str, digested: bool) -> tuple[Member, int | None]:
    record = json.loads(line)
    member = Member.from_dict({**record, "embedding": b""})
    if member.id != record["id"]:
        raise MemberError(f"{record['id']} was changed: its content is that of {member.id}")
    level = record["level"] if record["asked"] else None
    if level is not None and (type(level) is not int or level < 0):
        raise MemberError(f"{member.id} has level {level!r}; it is a number from 0")
    if (DIGEST in record) != digested:
        raise MemberError(
            f"{member.id} was changed: of it and the header one has a digest, and the other none"
        )
    if record.get(DIGEST, known := _digest(record)) != known:
        raise MemberError(f"{member.id} was changed: the line has not the digest that it was written with")
    return member, level


def _reason(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)


def _refuse_gaps(snapshot: Snapshot) -> None:
    if missing := sorted(snapshot.levels.keys() - snapshot.members.keys()):
        raise SnapshotError(f"members with a level and no material: {', '.join(missing)}")
    for member in snapshot.members.values():
        parts = member.material.parts if isinstance(member.material, Composite) else ()
        if missing := [part for part in parts if part not in snapshot.members]:
            raise SnapshotError(f"{member.id} lacks its parts {', '.join(missing)}")
