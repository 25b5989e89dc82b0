import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envpool.admission.perturb import MALFORMED, empty, extremes, perturbations
from envpool.answers import UnparsableAnswer, read
from envpool.signatures import LIMITS, canonical_bytes, check, parse_type

TYPES = {
    "int": st.integers(),
    "bool": st.booleans(),
    "str": st.text(st.characters(codec="ascii"), max_size=20),
    "list[int]": st.lists(st.integers(), max_size=8),
    "tuple[int, str]": st.tuples(st.integers(), st.text(st.characters(codec="ascii"), max_size=5)),
    "dict[str, int]": st.dictionaries(
        st.text(st.characters(codec="ascii"), max_size=3), st.integers(), max_size=4
    ),
    "list[list[bool]]": st.lists(st.lists(st.booleans(), max_size=3), max_size=3),
}


@given(st.data())
def test_perturbations_are_well_typed_different_and_repeatable(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(sorted(TYPES)))
    vtype, value = parse_type(text), data.draw(TYPES[text])
    seed = data.draw(st.integers(0, 99))
    found = perturbations(value, vtype, random.Random(seed), 12)
    for other in found:
        check(other, vtype)
    keys = [canonical_bytes(other) for other in (value, *found)]
    assert len(set(keys)) == len(keys)
    assert found == perturbations(value, vtype, random.Random(seed), 12)
    assert len(found) == (1 if text == "bool" else 12) or text in ("list[list[bool]]", "str")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("int", 10**LIMITS.max_digits - 1),
        ("str", "a" * LIMITS.max_text),
        ("list[int]", [1] * (LIMITS.max_nodes - 1)),
    ],
)
def test_a_value_at_a_limit_has_perturbations_within_it(text: str, value: object) -> None:
    found = perturbations(value, parse_type(text), random.Random(1), 3)
    assert len(found) == 3
    for other in found:
        check(other, parse_type(text))


@pytest.mark.parametrize("depth", [3, 4, 8])
def test_extremes_of_a_deep_type_are_legal(depth: int) -> None:
    vtype = parse_type("list[" * depth + "int" + "]" * depth)
    found = extremes(vtype)
    assert [] in found
    for value in found:
        check(value, vtype)


def test_extremes_and_empty_values_are_well_typed() -> None:
    for text in TYPES:
        for value in (empty(parse_type(text)), *extremes(parse_type(text))):
            check(value, parse_type(text))


def test_no_malformed_text_reads_as_a_list() -> None:
    for text in MALFORMED:
        try:
            (value,) = read(text, [parse_type("list[int]")])
        except UnparsableAnswer:
            continue
        assert isinstance(value, UnparsableAnswer), text
