"""One task with other settings: its family is set apart whole or not at all, whichever member came first."""

import pytest

from envpool.admission.copies import Claim, Copies
from envpool.admission.form import Candidate
from envpool.admission.register import Register
from envpool.admission.settings import AdmissionSettings
from envpool.admission.verdict import Refusal
from envpool.members import Member, Origin, Program
from envpool.signatures import parse_type

TEXT = parse_type("str")


def member(source: str, *, held_out: bool, family: str = "gym/sorting") -> Member:
    program = Program(source, "Sorting", "Sort it.", "str", "str")
    return Member(program, Origin.IMPORTED, family=family, held_out=held_out)


async def ask(known: Register, origin: Origin, *, held_out: bool) -> None:
    """The gate, for a program of that family whose code nobody has."""
    program = Program("another", "Sorting", "Sort it.", "str", "str")
    candidate = Candidate(program, TEXT, TEXT, "code", "code")
    await Copies(known, None, AdmissionSettings()).by_code(Claim(candidate, origin, held_out, "gym/sorting"))


@pytest.mark.parametrize("first", [True, False])
async def test_a_family_is_not_divided_whichever_half_came_first(first: bool) -> None:
    known = Register([member("first", held_out=first)])
    await ask(known, Origin.IMPORTED, held_out=first)
    with pytest.raises(Refusal, match="of one family with") as refused:
        await ask(known, Origin.IMPORTED, held_out=not first)
    assert refused.value.gate == "contamination"


async def test_files_of_one_name_are_no_family() -> None:
    await ask(Register([member("first", held_out=True)]), Origin.USER, held_out=False)


async def test_a_family_is_set_apart_for_as_long_as_one_of_its_members_is() -> None:
    first, second = member("first", held_out=True), member("second", held_out=True)
    known = Register([first, second])
    known.remove(first)
    assert known.in_family("gym/sorting", held_out=True) == second.id
    known.remove(second)
    assert known.in_family("gym/sorting", held_out=True) is None
    assert known.in_family("", held_out=True) is None
