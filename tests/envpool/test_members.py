import dataclasses
import re
from typing import Any

import pytest

from envpool.members import Composite, Member, MemberError, Origin, Program

DOUBLE = Program("class Double(Environment): ...", "Double", "Double the number.", "int", "int")


def test_a_program_is_named_by_its_source_alone() -> None:
    assert DOUBLE.id == dataclasses.replace(DOUBLE, rule="Another wording.").id
    assert DOUBLE.id != dataclasses.replace(DOUBLE, source=DOUBLE.source + "\n").id
    assert DOUBLE.id.startswith("p") and len(DOUBLE.id) == 21


def test_a_source_with_a_lone_surrogate_still_has_an_id() -> None:
    assert dataclasses.replace(DOUBLE, source="\ud800").id.startswith("p")


def test_a_composite_is_named_by_operator_and_material() -> None:
    chain = Composite("SEQUENTIAL", (("pa", "pb"),), "int", "int")
    assert chain.id != Composite("SEQUENTIAL", (("pb", "pa"),), "int", "int").id
    assert chain.id != Composite("PARALLEL", (("pa", "pb"),), "int", "int").id
    assert Composite("PARALLEL", (("pa", "pb"), ("pa",)), "int", "int").parts == ("pa", "pb")
    assert Composite("PARALLEL", (("pa", "pb"), ("pa",)), "int", "int").size == 3


def test_a_selection_is_named_by_its_distractors_too_in_whatever_order() -> None:
    chosen = Composite("SELECT", (("pa", "pb"),), "int", "int", ("pc", "pd"))
    assert chosen.id == Composite("SELECT", (("pa", "pb"),), "int", "int", ("pd", "pc")).id
    assert chosen.id != Composite("SELECT", (("pa", "pb"),), "int", "int", ("pc",)).id
    assert chosen.id != Composite("SORT", (("pa", "pb"),), "int", "int").id
    assert (chosen.size, chosen.parts) == (2, ("pa", "pb", "pc", "pd"))


@pytest.mark.parametrize(
    ("operator", "chain", "distractors"),
    [
        ("SORT", ("pa",), ()),
        ("SORT", ("pa", "pb", "pa"), ()),
        ("SORT", ("pa", "pb"), ("pc",)),
        ("SEQUENTIAL", ("pa", "pb"), ("pc",)),
        ("SELECT", ("pa", "pb"), ()),
        ("SELECT", ("pa", "pb"), ("pb",)),
        ("SELECT", ("pa", "pb"), ("pc", "pc")),
    ],
)
def test_an_order_is_of_two_steps_or_more_each_shown_once_and_only_a_selection_has_distractors(
    operator: str, chain: tuple[str, ...], distractors: tuple[str, ...]
) -> None:
    with pytest.raises(MemberError, match=operator):
        Composite(operator, (chain,), "int", "int", distractors)  # type: ignore[arg-type]


def test_a_record_from_before_there_were_distractors_is_read() -> None:
    record = Member(Composite("SEQUENTIAL", (("pa", "pb"),), "int", "int"), Origin.COMPOSER).to_dict()
    del record["material"]["distractors"]
    assert Member.from_dict(record).material == Composite("SEQUENTIAL", (("pa", "pb"),), "int", "int")


@pytest.mark.parametrize(
    "material",
    [
        DOUBLE,
        Composite("PARALLEL", (("pa", "pb"), ("pc",)), "int", "int"),
        Composite("SELECT", (("pa", "pb"),), "int", "int", ("pc", "pd")),
    ],
)
def test_a_member_survives_its_plain_form(material: Program | Composite) -> None:
    member = Member(
        material, Origin.POLICY, ("pa",), "arithmetic", True, "f00", b"\x00\x01", {"a": [1, None]}, 2.5
    )
    assert Member.from_dict(member.to_dict()) == member
    assert hash(Member.from_dict(member.to_dict())) == hash(member)


def test_an_unknown_schema_is_refused_by_name() -> None:
    record = Member(DOUBLE, Origin.SEED).to_dict()
    with pytest.raises(MemberError, match="schema 99"):
        Member.from_dict(record | {"schema": 99})
    with pytest.raises(MemberError, match="broken member record"):
        Member.from_dict({name: value for name, value in record.items() if name != "origin"})


@pytest.mark.parametrize("packages", [None, 5, "numpy", ["numpy", 5]])
def test_packages_that_are_no_list_of_names_are_refused_by_field_and_value(packages: Any) -> None:
    record = Member(DOUBLE, Origin.USER, evidence={"packages": packages}).to_dict()
    with pytest.raises(MemberError, match=re.escape(f"evidence.packages is {packages!r}")):
        Member.from_dict(record)


@pytest.mark.parametrize("chains", [(), ((),), (("pa",), ("pb",))])
def test_a_sequential_composite_takes_exactly_one_chain(chains: tuple[tuple[str, ...], ...]) -> None:
    with pytest.raises(MemberError):
        Composite("SEQUENTIAL", chains, "int", "int")
