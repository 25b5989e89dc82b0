"""The boundary: what the trusted side refuses to read, whatever bytes a child sends."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envpool.sandbox import FaultKind, Value, wire
from envpool.signatures import LIMITS, from_wire, to_wire

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("td"), inner, max_size=2),
    max_leaves=20,
)
VALUES = st.recursive(
    st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(
            st.integers() | st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3
        )
    ),
    max_leaves=15,
)


def reply(method: str, content: object, *, identity: int = 7, kind: str = "value") -> object:
    return wire.read_reply(json.dumps([identity, kind, content]).encode(), 7, method)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_strictly_or_refused(body: bytes) -> None:
    for method in ("sample", "solve", "verify", "accepts", "show", "inspect"):
        with pytest.raises(wire.Malformed):
            wire.read_reply(body, 7, method)


@given(JSON, st.sampled_from(["sample", "solve", "verify", "accepts", "show", "inspect"]))
def test_any_json_is_of_the_expected_shape_or_refused(content: object, method: str) -> None:
    try:
        result = reply(method, content)
    except wire.Malformed:
        return
    assert isinstance(result, Value)
    if method == "verify":
        assert type(result.value) is float and 0.0 <= result.value <= 1.0
    elif method == "solve":
        assert to_wire(from_wire(result.value)) is not None or result.value is None
    else:
        assert (method, type(result.value)) in {("accepts", bool), ("show", str)}


@given(
    st.sampled_from(["verify", "accepts"]), JSON | st.sampled_from([0.0, 1.0, True, False]), st.integers(6, 8)
)
def test_the_replies_that_are_known_by_heart_are_read_as_all_others_are(
    method: str, content: object, identity: int
) -> None:
    said = []
    for separators in ((",", ":"), (", ", ": ")):
        body = json.dumps([identity, "value", content], separators=separators).encode()
        try:
            result = wire.read_reply(body, 7, method)
            said.append((result, type(result.value) if isinstance(result, Value) else None))
        except wire.Malformed:
            said.append(None)
    assert said[0] == said[1]


@given(VALUES)
def test_every_legal_value_passes(value: object) -> None:
    wired = to_wire(value)
    assert reply("solve", wired) == Value(wired)


@pytest.mark.parametrize(
    "text",
    ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", '"\\ud800"', '{"t": [], "t": []}', "[" * 10_000, "{" * 10_000,
     "[" * 200 + "]" * 200, "1" * 5_000, "[1,]", "\ufeff1", "'1'", "[1] [2]", ""],
)  # fmt: skip
def test_what_strict_json_is_not_is_refused(text: str) -> None:
    with pytest.raises(wire.Malformed):
        wire.strict_loads(text.encode())


def test_bytes_that_are_no_utf8_are_refused() -> None:
    for body in (b'"\xff"', b'"\xed\xa0\x80"', b'"\xc0\x80"'):
        with pytest.raises(wire.Malformed):
            wire.strict_loads(body)


def test_the_deepest_legal_value_passes_and_one_deeper_is_refused() -> None:
    deep: object = 1
    for _ in range(LIMITS.max_depth):
        deep = {"k": deep}
    assert reply("solve", to_wire(deep)) == Value(to_wire(deep))
    with pytest.raises(wire.Malformed):
        reply("solve", {"d": [["k", to_wire(deep)]]})


def test_a_reply_to_another_call_is_refused() -> None:
    for identity in (8, -1, 7.0, "7", None):
        with pytest.raises(wire.Malformed):
            reply("solve", 1, identity=identity)  # type: ignore[arg-type]


def test_a_child_may_not_report_what_only_the_supervisor_can_know() -> None:
    for kind in (
        FaultKind.CRASH,
        FaultKind.POLICY_KILL,
        FaultKind.CPU_LIMIT,
        FaultKind.PROTOCOL_ERROR,
        "infra",
    ):
        with pytest.raises(wire.Malformed):
            reply("solve", "x", kind=kind)


def test_scores_are_finite_numbers_in_the_unit_interval() -> None:
    for score in (1, 0, True, "1.0", None, 1.5, -0.1, [1.0]):
        with pytest.raises(wire.Malformed):
            reply("verify", score)
    assert reply("verify", 0.25) == Value(0.25)


def test_arguments_that_are_no_wire_form_never_leave() -> None:
    for argument in ({1, 2}, float("nan"), object(), b"x"):
        with pytest.raises(wire.Malformed):
            wire.request(1, "solve", (argument,))
