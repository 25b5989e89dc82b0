"""A snapshot gives back what was written, byte for byte where it matters, or says which line is at fault."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envpool.exchange.provenance import Provenance, licence_of, lineage_of
from envpool.exchange.snapshot import FILE, SnapshotError, fingerprint, read_snapshot, write_snapshot
from envpool.members import Composite, Member, Origin, Program

ADD = Member(
    Program("add \ud800 ü", "Add", "Add.", "list[int]", "int"), Origin.POLICY, ("pmother",), created=3.5
)
TWICE = Member(Program("twice", "Twice", "Twice.", "int", "int"), Origin.BRICK, embedding=b"\1\2\3\4")
BOTH = Member(
    Composite("SEQUENTIAL", ((ADD.id, TWICE.id),), "list[int]", "int"), Origin.COMPOSER, (ADD.id,),
    evidence={"level": 1},
)  # fmt: skip
FROM = Provenance(run="night", pool="abc", policy="main", step=12, licence="MIT")


def written(folder: Path) -> Path:
    return write_snapshot(folder, [BOTH, ADD, TWICE], {BOTH.id: 1, ADD.id: 3}, FROM)


def test_what_is_read_is_what_was_written_without_embeddings(tmp_path: Path) -> None:
    snapshot = read_snapshot(written(tmp_path))
    assert snapshot.members == {
        ADD.id: ADD,
        TWICE.id: replace(TWICE, embedding=b""),
        BOTH.id: BOTH,
    }
    assert snapshot.levels == {BOTH.id: 1, ADD.id: 3}
    assert snapshot.provenance == FROM
    assert read_snapshot(tmp_path) == snapshot, "a folder means the file in it"


def test_a_person_reads_a_header_then_who_is_asked_then_their_parts(tmp_path: Path) -> None:
    header, *lines = map(json.loads, written(tmp_path).read_text(encoding="utf-8").splitlines())
    assert header["provenance"]["run"] == "night"
    assert [line["asked"] for line in lines] == [True, True, False]
    assert lines[-1]["material"]["source"] == "twice"


@given(st.dictionaries(st.text("pc0123", min_size=2), st.integers(0, 9), max_size=6), st.randoms())
def test_a_fingerprint_knows_all_that_draws_depend_on_and_no_order(levels, random) -> None:
    members = {id: random.choice([ADD, TWICE, BOTH]) for id in levels}
    ours = fingerprint(members, levels)
    shuffled = list(levels.items())
    random.shuffle(shuffled)
    assert fingerprint(members, dict(shuffled)) == ours
    for id, level in levels.items():
        assert fingerprint(members, {**levels, id: level + 1}) != ours
        assert fingerprint(members, {key: levels[key] for key in levels if key != id}) != ours
        for changed in (replace(members[id], held_out=True), replace(members[id], family="another")):
            assert fingerprint({**members, id: changed}, levels) != ours


def edited(path: Path, line: int, **changes: object) -> Path:
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[line - 1] = json.dumps({**json.loads(lines[line - 1]), **changes})
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("line", "change", "said"),
    [
        (1, {"kind": "recipes"}, "is no snapshot of a pool"),
        (1, {"schema": 99}, "has schema 99, and this version reads 2"),
        (1, {"fingerprint": "0" * 20}, "line 1: the header was changed"),
        (1, {"provenance": {**FROM.to_dict(), "licence": "CC0-1.0"}}, "line 1: the header was changed"),
        (2, {"level": 5}, "line 2: .* was changed"),
        (2, {"held_out": True}, "line 2: .* was changed"),
        (2, {"family": "another"}, "line 2: .* was changed"),
        (2, {"level": 5, "digest": None}, "line 2: .* was changed"),
        (3, {"material": {**ADD.to_dict()["material"], "rule": "Subtract."}}, "line 3: .* was changed"),
        (3, {"material": {**ADD.to_dict()["material"], "source": 5}}, "line 3: "),
        (3, {"origin": "user"}, "line 3: .* was changed"),
        (4, {"evidence": {"packages": ["numpy"]}}, "line 4: .* was changed"),
        (2, {"level": -1}, "line 2: .* has level -1"),
        (2, {"schema": 7}, "line 2: member schema 7 is not 1"),
        (3, {"material": {}}, "line 3: broken member record"),
        (4, {"id": "p0"}, "line 4: p0 was changed"),
    ],
)
def test_a_line_that_was_changed_is_named(tmp_path: Path, line: int, change: dict, said: str) -> None:
    with pytest.raises(SnapshotError, match=said):
        read_snapshot(edited(written(tmp_path), line, **change))


@pytest.mark.parametrize(("without", "named"), [((1,), 2), ((3,), 3), ((2, 3, 4), 2), ((1, 2, 3), 4)])
def test_a_digest_that_was_left_out_is_missed(tmp_path: Path, without: tuple[int, ...], named: int) -> None:
    path = written(tmp_path)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for number in without:
        del lines[number - 1]["digest"]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    with pytest.raises(SnapshotError, match=f"line {named}: .* one has a digest, and the other none"):
        read_snapshot(path)


def test_lines_that_were_taken_out_are_missed(tmp_path: Path) -> None:
    path = written(tmp_path)
    header, _, *others = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join([header, *others]), encoding="utf-8")
    with pytest.raises(SnapshotError, match=r"members, .* were added, removed or changed"):
        read_snapshot(path)


def test_an_edited_program_is_refused_and_not_taken_for_the_one_it_was(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace('"twice"', '"thrice"'), encoding="utf-8")
    with pytest.raises(SnapshotError, match=f"line 4: {TWICE.id} was changed"):
        read_snapshot(path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"level": 5}, "their levels, .* or changed"),
        ({"held_out": True}, "or held_out were .* changed"),
        ({}, ""),
    ],
)
def test_a_line_from_before_there_were_digests_is_read_and_the_fingerprint_still_tells(
    tmp_path: Path, change: dict, said: str
) -> None:
    path = edited(written(tmp_path), 2, **change)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line.pop("digest", None)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    if said:
        with pytest.raises(SnapshotError, match=said):
            read_snapshot(path)
    else:
        assert read_snapshot(path).members.keys() == {ADD.id, TWICE.id, BOTH.id}


@pytest.mark.parametrize("content", [b"\x1f\x8b\x08\x00", b"[" * 100_000, b'{"kind": "envolve pool"}\n\xff'])
def test_a_file_that_is_no_text_is_no_snapshot(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(SnapshotError, match="is no snapshot of a pool"):
        read_snapshot(tmp_path)


@pytest.mark.parametrize("text", ["", "\n", "id,prompt\n", "[1]\n", "{}\n"])
def test_another_file_is_no_snapshot(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(SnapshotError, match="is no snapshot of a pool"):
        read_snapshot(tmp_path)


def test_a_line_is_missing(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_text(
        "".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:-1]), encoding="utf-8"
    )
    with pytest.raises(SnapshotError, match=f"{BOTH.id} lacks its parts {TWICE.id}"):
        read_snapshot(path)


def test_nothing_is_written_that_could_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match=f"lacks its parts {TWICE.id}"):
        write_snapshot(tmp_path, [BOTH, ADD], {BOTH.id: 1}, FROM)
    with pytest.raises(SnapshotError, match="a level and no material: pnobody"):
        write_snapshot(tmp_path, [ADD], {"pnobody": 1}, FROM)
    with pytest.raises(SnapshotError, match=f"{ADD.id} cannot be written"):
        write_snapshot(tmp_path, [replace(ADD, evidence={"raw": b"\0"})], {ADD.id: 1}, FROM)
    assert list(tmp_path.iterdir()) == []


def test_a_licence_is_said_by_the_member_by_what_it_is_made_of_or_by_nobody() -> None:
    imported = replace(ADD, evidence={"licence": "MIT"})
    pool = {each.id: each for each in (imported, TWICE, BOTH)}
    assert licence_of(imported, pool.__getitem__) == "MIT"
    assert licence_of(TWICE, pool.__getitem__) == "Apache-2.0"
    assert licence_of(ADD, pool.__getitem__) == "NOASSERTION"
    assert licence_of(ADD, pool.__getitem__, "CC-BY-4.0") == "CC-BY-4.0"
    assert licence_of(BOTH, pool.__getitem__) == "Apache-2.0 AND MIT"


def test_lineage_names_the_maker_the_parents_and_the_parts() -> None:
    assert lineage_of(BOTH) == {"origin": "composer", "parents": [ADD.id], "parts": [ADD.id, TWICE.id]}
    assert lineage_of(ADD) == {"origin": "policy", "parents": ["pmother"], "parts": []}
