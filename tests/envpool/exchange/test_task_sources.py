"""The stream of a pool that lies still: what breaks is passed over, for as long as something else comes."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from exchanged import members, write_members

from envpool.exchange.task_sources import PoolSource
from envpool.members import Member, Origin, Program
from envpool.returned import ProgramFault


def broken(number: int) -> Member:
    source = (
        "from envpool import Environment\n\n\n"
        f"class Broken{number}(Environment):\n"
        "    rule = 'Say it.'\n\n"
        "    def sample(self, rng, level: int) -> int:\n"
        "        raise ValueError(level)\n\n"
        "    def solve(self, x: int) -> int:\n"
        "        return x\n"
    )
    return Member(
        Program(source, f"Broken{number}", "Say it.", "int", "int"), Origin.USER, family=f"b{number}"
    )


def source_over(folder: Path, *pool: Member) -> PoolSource:
    write_members(folder, {member.id: member for member in pool})
    return PoolSource(SimpleNamespace(source=str(folder), packages=()))


def test_a_stream_goes_on_where_more_members_break_than_a_draw_passes_over(tmp_path: Path) -> None:
    sound = replace(members()["inversion_count"], family="sound")
    source = source_over(tmp_path, sound, *map(broken, range(8)))
    question = next(source.questions(3, held_out=False, ahead=1))  # whose first draw meets four that break
    assert question.recipe.member == sound.id


def test_a_stream_of_which_nothing_comes_ends_and_says_why(tmp_path: Path) -> None:
    with pytest.raises(ProgramFault, match="ValueError"):
        next(source_over(tmp_path, broken(0)).questions(0, held_out=False, ahead=1))
