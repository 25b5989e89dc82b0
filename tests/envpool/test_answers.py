"""Asking for answers, writing them, reading them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envpool.answers import UnparsableAnswer, answer_line, extract, parse, read, write
from envpool.signatures import canonical_bytes, parse_type
from tests.envpool.values import typed_value, types


@given(
    st.data(),
    st.lists(types(), min_size=1, max_size=3),
    st.sampled_from(["", "So <answer>5</answer> ", "<answer>"]),
)
def test_what_is_written_is_read_back(data: st.DataObject, vtypes: list, before: str) -> None:
    values = [data.draw(typed_value(vtype)) for vtype in vtypes]
    back = read(before + write(values, vtypes) + " Done.", vtypes)
    assert list(map(canonical_bytes, back)) == list(map(canonical_bytes, values))


@given(st.text(), types())
def test_no_text_breaks_the_reader(text: str, vtype: object) -> None:
    for content in (
        text,
        f"<answer>{text}</answer>",
        f"<answer>[{text}]</answer>",
        f'<answer>"{text}"</answer>',
    ):
        try:
            read(content, [vtype, vtype])
            read(content, [vtype])
        except UnparsableAnswer as error:
            assert error.reason in ("missing", "unclosed")


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("<answer>5</answer>", "5"),
        ("<answer>1</answer><answer>2</answer>", "2"),
        ("<answer>1</answer> <answer>2", "1"),
        ("<answer>so <answer>3</answer>", "3"),
        ("<answer>4</answer></answer>", "4"),
    ],
)
def test_the_last_closed_answer_counts(text: str, content: str) -> None:
    assert extract(text) == content


@pytest.mark.parametrize(
    ("text", "reason"), [("5", "missing"), ("</answer>", "missing"), ("</answer><answer>5", "unclosed")]
)
def test_a_missing_answer_is_told_from_an_unclosed_one(text: str, reason: str) -> None:
    with pytest.raises(UnparsableAnswer) as caught:
        extract(text)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("text", "vtype", "value"),
    [
        (" 7\n", "int", 7),
        ("-07", "int", -7),
        ("+3", "int", 3),
        ("true", "bool", True),
        ("False", "bool", False),
        ("hello world", "str", "hello world"),
        ('"a b"', "str", "a b"),
        ("'it'", "str", "it"),
        ('"a" or "b"', "str", '"a" or "b"'),
        ("it's", "str", "it's"),
        ("", "str", ""),
        ('"\\u0041\\ud83d\\ude00\\n\\q"', "str", "A😀\n\\q"),
        ("[1, 2,]", "list[int]", [1, 2]),
        ("(1,2)", "list[int]", [1, 2]),
        ("[]", "list[int]", []),
        ("()", "list[int]", []),
        ("[1, 'x']", "tuple[int, str]", (1, "x")),
        ('(1, "x",)', "tuple[int, str]", (1, "x")),
        ("(1)", "tuple[int]", (1,)),
        ('{"1": 2}', "dict[int, int]", {1: 2}),
        ("{1: 2,}", "dict[int, int]", {1: 2}),
        ("{}", "dict[str, int]", {}),
        ('{"true": [1]}', "dict[bool, list[int]]", {True: [1]}),
        ("{'a': (1, 2)}", "dict[str, list[int]]", {"a": [1, 2]}),
    ],
)
def test_the_grammar_is_lenient_about_notation(text: str, vtype: str, value: object) -> None:
    assert canonical_bytes(parse(text, parse_type(vtype))) == canonical_bytes(value)


@pytest.mark.parametrize(
    ("text", "vtype"),
    [
        ("seven", "int"),
        ("7.0", "int"),
        ("1 2", "int"),
        ("True", "int"),
        ("", "int"),
        ("9" * 1001, "int"),
        ("9" * 5000, "int"),
        ("٣", "int"),
        ("1", "bool"),
        ("yes", "bool"),
        ("trueish", "bool"),
        ("[1 2]", "list[int]"),
        ("[1, 2", "list[int]"),
        ("[1)", "list[int]"),
        ("1, 2", "list[int]"),
        ("[,]", "list[int]"),
        ("[a]", "list[str]"),
        ("(1, 2, 3)", "tuple[int, int]"),
        ("(1,)", "tuple[int, int]"),
        ("{1: 2, 1: 3}", "dict[int, int]"),
        ("{1 2}", "dict[int, int]"),
        ('{"x": 2}', "dict[int, int]"),
        ('["\\ud800"]', "list[str]"),
        ('["a', "list[str]"),
        ('["\\u00"]', "list[str]"),
        ("\ud800", "str"),
        ("[" * 5000, "list[list[int]]"),
        ("[" + "1," * 20_000 + "]", "list[int]"),
        ("x" * 20_001, "str"),
        ("x" * 10**6, "str"),
        ("1", "dict"),
    ],
)
def test_what_is_no_value_of_the_type_is_malformed(text: str, vtype: str) -> None:
    with pytest.raises(UnparsableAnswer) as caught:
        parse(text, parse_type(vtype))
    assert caught.value.reason == "malformed"


def test_each_numbered_line_is_parsed_by_itself() -> None:
    vtypes = [parse_type("int"), parse_type("list[int]"), parse_type("str")]
    one, two, three = read("<answer>\n1: x\n 2. [3]\n</answer>", vtypes)
    assert (one.reason, two, three.reason) == ("malformed", [3], "missing")


@pytest.mark.parametrize(
    ("vtype", "form"),
    [
        ("int", "number"),
        ("bool", "true or false"),
        ("str", "text"),
        ("list[str]", '["text", ...]'),
        ("tuple[int, bool]", "(number, true or false)"),
        ("dict[str, list[int]]", '{"text": [number, ...], ...}'),
    ],
)
def test_the_answer_line_shows_the_form(vtype: str, form: str) -> None:
    assert answer_line([parse_type(vtype)]) == f"Answer as <answer>{form}</answer>"


def test_several_slots_are_numbered_lines() -> None:
    asked = answer_line([parse_type("int"), parse_type("str")])
    assert asked == "Answer as\n<answer>\n1: number\n2: text\n</answer>"
