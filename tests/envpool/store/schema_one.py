"""A pool exactly as schema 1 laid it out, row by row: what old runs have on their disks. No present code writes it."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path
from typing import Any

import lmdb
import msgpack

DATABASES = [
    "meta",
    "members",
    "status",
    "by_status",
    "by_signature",
    "children",
    "answers",
    "levels",
    "journal",
    "rejections",
    "counters",
    "state",
]
AT = 1700000000.0
SOURCE = "source of a program"
PROGRAM = "p" + hashlib.sha256(SOURCE.encode()).hexdigest()[:20]
COMPOSITE = "c" + hashlib.sha256(f'["SEQUENTIAL",[["{PROGRAM}"]]]'.encode()).hexdigest()[:20]
FALLEN = "p" + hashlib.sha256(b"fell").hexdigest()[:20]


def make_schema_one(path: Path) -> None:
    """A program, a composite of it, a rejected candidate, answers, a level, a piece of state; map of 16 MiB."""
    path.mkdir(parents=True, exist_ok=True)
    with (
        lmdb.open(str(path), map_size=1 << 24, max_dbs=len(DATABASES)) as env,
        env.begin(write=True) as txn,
    ):
        for name in DATABASES:
            db = env.open_db(name.encode(), txn=txn)
            for key, value in rows().get(name, {}).items():
                txn.put(key, value, db=db)


def rows() -> dict[str, dict[bytes, bytes]]:
    """Keys and values by database."""
    program, composite, fallen = PROGRAM.encode(), COMPOSITE.encode(), FALLEN.encode()
    kind = hashlib.sha256(b"int").digest()[:12]
    answers = [PROGRAM, "main", 1, 8, 4, 6, 1]
    return {
        "meta": {b"schema": b"1"},
        "members": {program: _program(), composite: _composite()},
        "status": {
            program: b"resting\0grammar\x000",
            composite: b"active\0composer\x000",
            fallen: b"rejected\0policy\x000",
        },
        "by_status": {
            b"resting\0grammar\0" + program: b"",
            b"active\0composer\0" + composite: b"",
            b"rejected\0policy\0" + fallen: b"",
        },
        "by_signature": {kind + kind + program: b"", kind + kind + composite: b""},
        "children": {program + b"\0" + composite: b""},
        "answers": {b"main\0" + program + b"\0" + struct.pack(">I", 1): struct.pack(">4Q", 8, 4, 6, 1)},
        "levels": {b"main\0" + program: struct.pack(">I", 1)},
        "journal": {
            _number(1): _entry("admit", PROGRAM, "grammar", "", "active"),
            _number(2): _entry("admit", COMPOSITE, "composer", "", "active"),
            _number(3): _entry("reject", FALLEN, "policy", "", "rejected", "L1", {"line": 3}),
            _number(4): _entry("answers", evidence={"counts": [answers]}),
            _number(5): _entry("level", PROGRAM, "", "0", "1", evidence={"policy": "main"}),
            _number(6): _entry("move", PROGRAM, "grammar", "active", "resting"),
        },
        "rejections": {fallen: _pack([FALLEN, "policy", "L1", "why", {"line": 3}, "fell", 2, AT])},
        "counters": {
            b"status\0active": _number(1),
            b"status\0resting": _number(1),
            b"status\0rejected": _number(1),
            b"funnel\0admitted\0grammar": _number(1),
            b"funnel\0admitted\0composer": _number(1),
            b"funnel\0L1\0policy": _number(1),
        },
        "state": {b"progress": _pack({"step": 9})},
    }


def _entry(
    kind: str,
    id: str = "",
    origin: str = "",
    frm: str = "",
    to: str = "",
    gate: str = "",
    evidence: Any = None,
) -> bytes:
    return _pack([AT, 2, kind, id, origin, frm, to, gate, "why", evidence or {}])


def _program() -> bytes:
    fields = {"source": SOURCE, "name": "Name", "rule": "Rule.", "domain": "int", "codomain": "int"}
    return _record("program", {**fields, "oracle": "equality"}, "grammar", [])


def _composite() -> bytes:
    material = {"operator": "SEQUENTIAL", "chains": [[PROGRAM]], "domain": "int", "codomain": "int"}
    return _record("composite", material, "composer", [PROGRAM])


def _record(kind: str, material: dict[str, Any], origin: str, parents: list[str]) -> bytes:
    facts = {
        "family": "",
        "held_out": False,
        "fingerprint": "",
        "embedding": b"",
        "evidence": {},
        "created": AT,
    }
    return _pack(
        {"schema": 1, "kind": kind, "material": material, "origin": origin, "parents": parents, **facts}
    )


def _number(value: int) -> bytes:
    return struct.pack(">Q", value)


def _pack(value: Any) -> bytes:
    return msgpack.packb(value)
