"""What a run begins with from other pools: nothing that one of them set apart is trained on."""

from pathlib import Path
from typing import Any

import pytest

from envpool.exchange.brought import NotBrought, brought
from envpool.exchange.provenance import SAID, licence_of
from envpool.exchange.reasoning_gym import programs
from envpool.members import Member, Origin, Program
from envpool.shipped import shipped
from envpool.store import PoolWriter

BRICK = "strings/swap_ends"


def a_pool(folder: Path, source: str, *, held_out: bool = False, **facts: Any) -> str:
    program = Program(source, "Task", "Do it.", "str", "str")
    member = Member(program, facts.pop("origin", Origin.IMPORTED), held_out=held_out, **facts)
    with PoolWriter.open(folder, map_size=1 << 24) as pool:
        pool.admit(member)
    return str(folder)


def test_a_shipped_program_that_another_pool_set_apart_is_set_apart_chosen_or_not(tmp_path: Path) -> None:
    (brick,) = shipped("none", [BRICK])
    others = brought([a_pool(tmp_path / "a", brick.source, held_out=True, origin=Origin.BRICK, family=BRICK)])
    for chosen in ([BRICK], "none"):
        (found,) = shipped("none", chosen, others=others)
        assert (found.name, found.held_out) == (BRICK, True)
    assert brick.held_out is False


@pytest.mark.parametrize("order", [("trained", "apart"), ("apart", "trained")])
@pytest.mark.parametrize(
    ("sources", "alike"),
    [
        (("x", "x"), {}),
        (("x", "y"), {"family": "gym/task"}),
        (("x", "y"), {"fingerprint": "answers"}),
        (("x", "y"), {"evidence": {"normal": "code"}}),
    ],
    ids=["source", "family", "behaviour", "code"],
)
def test_what_one_pool_set_apart_no_other_brings_into_training(
    tmp_path: Path, order: tuple[str, str], sources: tuple[str, str], alike: dict[str, Any]
) -> None:
    pools = {
        "trained": a_pool(tmp_path / "trained", sources[0], **alike),
        "apart": a_pool(tmp_path / "apart", sources[1], held_out=True, **alike),
    }
    found = brought([pools[each] for each in order])
    assert [each.held_out for each in found] == [True] * len(set(sources))


def test_the_family_of_a_copy_of_what_is_set_apart_is_set_apart(tmp_path: Path) -> None:
    pools = [
        a_pool(tmp_path / "kin", "z", family="gym/task"),
        a_pool(tmp_path / "copy", "y", family="gym/task", fingerprint="answers"),
        a_pool(tmp_path / "apart", "x", family="other/task", fingerprint="answers", held_out=True),
        a_pool(tmp_path / "else", "w", family="third/task", fingerprint="others"),
    ]
    held_out = {each.source: each.held_out for each in brought(pools)}
    assert held_out == {"z": True, "y": True, "x": True, "w": False}


def test_files_of_one_name_in_two_folders_are_two_tasks(tmp_path: Path) -> None:
    facts: dict[str, Any] = {"family": "spread", "origin": Origin.USER}
    pools = [a_pool(tmp_path / "a", "x", **facts), a_pool(tmp_path / "b", "y", held_out=True, **facts)]
    assert [each.held_out for each in brought(pools)] == [False, True]


def test_what_an_imported_program_says_of_itself_comes_along(tmp_path: Path) -> None:
    (offer,) = programs(["dice"])
    assert set(offer.facts) == set(SAID)
    (found,) = brought([a_pool(tmp_path / "a", offer.source, evidence={**offer.facts, "normal": "code"})])
    assert found.facts == offer.facts


@pytest.mark.parametrize(
    "origin", [Origin.SEED, Origin.BRICK, Origin.GRAMMAR, Origin.POLICY, Origin.IMPORTED]
)
def test_what_is_said_to_ship_with_envolve_is_a_users_unless_it_is_a_true_copy(
    tmp_path: Path, origin: Origin
) -> None:
    (brick,) = shipped("none", [BRICK])
    pools = [
        a_pool(tmp_path / "true", brick.source, origin=origin),
        a_pool(tmp_path / "other", "x", origin=origin),
    ]
    own, other = shipped("none", [BRICK], others=brought(pools))
    theirs = origin in (Origin.POLICY, Origin.IMPORTED)
    assert (own.origin, other.source, other.origin) == (Origin.BRICK, "x", origin if theirs else Origin.USER)
    member = Member(Program("x", "Task", "Do it.", "str", "str"), other.origin)
    assert licence_of(member, {}.__getitem__) == "NOASSERTION"


def test_packages_that_are_no_names_are_refused_by_the_pool_and_what_it_says(tmp_path: Path) -> None:
    folder = a_pool(tmp_path / "a", "x", evidence={"packages": "numpy"})
    with pytest.raises(NotBrought, match=r"/a: .*evidence\.packages is 'numpy'"):
        brought([folder])
