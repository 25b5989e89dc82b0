"""Types, legal values, wire form and canonical bytes."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envpool import signatures
from envpool.signatures import (
    IllegalValue,
    Signature,
    SignatureError,
    ValueLimits,
    ValueType,
    canonical_bytes,
    check,
    from_wire,
    literal,
    parse_type,
    to_wire,
    type_from_node,
    wire_bytes,
)
from tests.envpool.values import any_value, typed_value, types


def annotation(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@given(types())
def test_a_type_is_read_back_from_its_text_and_from_its_syntax_tree(vtype: ValueType) -> None:
    assert parse_type(str(vtype)) == vtype == type_from_node(annotation(str(vtype)))


@pytest.mark.parametrize(
    "text",
    [
        "float",
        "list",
        "tuple",
        "list[int, int]",
        "dict[int]",
        "dict[list[int], int]",
        "list[dict]",
        "None",
        "set[int]",
        "int[int]",
        "dict[str, dict]",
        "list[" * 30 + "int" + "]" * 30,
    ],
)
def test_other_annotations_are_refused(text: str) -> None:
    with pytest.raises(SignatureError):
        parse_type(text)
    with pytest.raises(SignatureError):
        type_from_node(annotation(text))


@pytest.mark.parametrize(
    "text", ["", "int]", "list[int", "list[int]]", "int int", "list[]", "tuple[int, ...]", "a.b", "[int]"]
)
def test_broken_type_texts_are_refused(text: str) -> None:
    with pytest.raises(SignatureError):
        parse_type(text)


@pytest.mark.parametrize(
    "text", ["'int'", "typing.List[int]", "int | None", "f(int)", "tuple[()]", "tuple[int, ...]"]
)
def test_annotations_that_need_evaluation_are_refused(text: str) -> None:
    with pytest.raises(SignatureError):
        type_from_node(annotation(text))


def test_a_signature_is_written_and_read() -> None:
    signature = Signature.parse("list[int] -> dict[str, tuple[int, bool]]")
    assert str(signature) == "list[int] -> dict[str, tuple[int, bool]]"
    assert str(Signature.parse("dict->int")) == "dict -> int"
    for bad in ("int -> dict", "int", "int -> int -> int"):
        with pytest.raises(SignatureError):
            Signature.parse(bad)


@given(any_value())
def test_a_value_survives_the_wire(value: object) -> None:
    back = from_wire(to_wire(value))
    assert back == value
    assert canonical_bytes(back) == canonical_bytes(value) == wire_bytes(to_wire(value))


def same(one: object, other: object) -> bool:
    """Equality of value and type, written independently of the wire form."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        keys = {(type(key), key) for key in one}
        return keys == {(type(key), key) for key in other} and all(same(one[key], other[key]) for key in one)
    return one == other


@given(any_value(small=True), any_value(small=True))
def test_canonical_bytes_are_equal_exactly_for_equal_value_and_type(one: object, other: object) -> None:
    assert (canonical_bytes(one) == canonical_bytes(other)) == same(one, other)


@given(st.data(), types())
def test_values_of_a_type_pass_its_check(data: st.DataObject, vtype: ValueType) -> None:
    check(data.draw(typed_value(vtype)), vtype)


class Subclass(int):
    pass


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "int"),
        (1, "bool"),
        (1.0, "int"),
        (Subclass(1), "int"),
        ((1,), "list[int]"),
        ([1], "tuple[int]"),
        ((1, 2), "tuple[int]"),
        ({"a": 1}, "dict[int, int]"),
        ({1: "a"}, "dict[int, int]"),
        (None, "int"),
        ("\ud800", "str"),
        ({1: 1}, "dict"),
        ({"a": 1.5}, "dict"),
        ({"a": {(1, 2): 3}}, "dict"),
        (b"a", "str"),
        ([[1], ["a"]], "list[list[int]]"),
    ],
)
def test_values_outside_their_type_are_illegal(value: object, text: str) -> None:
    with pytest.raises(IllegalValue):
        check(value, parse_type(text))


def test_the_path_of_the_fault_is_named() -> None:
    with pytest.raises(IllegalValue, match=r"value\[1\]\[0\] is a str"):
        check([[1], ["a"]], parse_type("list[list[int]]"))


def test_an_opaque_dict_may_hold_any_legal_value() -> None:
    check({"graph": {1: [2, (3, None)]}, "flag": True}, parse_type("dict"))


@pytest.mark.parametrize(
    "value",
    [10**5, -(10**5), "x" * 41, ["x" * 21, "y" * 20], [0] * 20, dict.fromkeys(range(10), 0), [[[[[]]]]]],
)
def test_limits_are_kept(value: object) -> None:
    limits = ValueLimits(max_nodes=20, max_depth=4, max_digits=5, max_text=40)
    with pytest.raises(IllegalValue):
        to_wire(value, limits)
    with pytest.raises(IllegalValue):
        from_wire(to_wire(value), limits)


def test_a_value_that_holds_itself_is_illegal() -> None:
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(IllegalValue):
        to_wire(loop)


@pytest.mark.parametrize(
    "wire",
    [
        1.5,
        float("nan"),
        {},
        {"x": []},
        {"t": 1},
        {"d": [[1]]},
        {"d": [[1, 2], [1, 3]]},
        {"d": [[[], 2]]},
        {"t": [], "d": []},
        (1, 2),
        {"d": [1, 2]},
        ["\udfff"],
        {"d": [[1, 0], [True, 0]]},
        {"d": [[None, 0]]},
    ],
)
def test_unknown_wire_shapes_are_refused(wire: object) -> None:
    with pytest.raises(IllegalValue):
        from_wire(wire)


@given(any_value())
def test_a_literal_is_a_python_literal_of_the_value(value: object) -> None:
    assert ast.literal_eval(literal(value)) == value


def test_literals_are_canonical_and_double_quoted() -> None:
    assert literal({"b": [True], "a": (1,)}) == '{"a": (1,), "b": [True]}'
    assert literal({10: "x", 9: "é\n"}) == '{9: "é\\n", 10: "x"}'


@given(st.data(), types(), types())
def test_the_quick_look_at_a_type_agrees_with_the_one_that_names_a_path(
    data: st.DataObject, vtype: ValueType, other: ValueType
) -> None:
    value = data.draw(any_value() | typed_value(vtype) | typed_value(other))
    try:
        signatures._match(value, vtype, "value")
    except IllegalValue:
        assert not signatures._fits(value, vtype)
    else:
        assert signatures._fits(value, vtype)
