"""Hypothesis strategies for value types and the values they allow."""

from hypothesis import strategies as st

from envpool.signatures import ValueType

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
TRICKY = st.sampled_from(
    ["", " a", "a\nb", '"', "'", '"a"', "</answer>", "<answer>", "1: x", "\\", "\\n", "a<b", "\u2028", "true"]
)
SCALARS = {"int": st.integers(), "bool": st.booleans(), "str": TEXT | TRICKY}


def types() -> st.SearchStrategy[ValueType]:
    scalar = st.sampled_from([ValueType(kind) for kind in SCALARS])
    return st.recursive(
        scalar,
        lambda inner: st.one_of(
            inner.map(lambda part: ValueType("list", (part,))),
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: ValueType("tuple", tuple(parts))),
            st.tuples(scalar, inner).map(lambda parts: ValueType("dict", parts)),
        ),
        max_leaves=4,
    )


def typed_value(vtype: ValueType) -> st.SearchStrategy[object]:
    if vtype.kind in SCALARS:
        return SCALARS[vtype.kind]
    parts = [typed_value(part) for part in vtype.args]
    if vtype.kind == "list":
        return st.lists(parts[0], max_size=3)
    if vtype.kind == "tuple":
        return st.tuples(*parts)
    return st.dictionaries(parts[0], parts[1], max_size=3)


def any_value(small: bool = False) -> st.SearchStrategy[object]:
    numbers = st.integers(0, 1) if small else st.integers()
    texts = st.sampled_from(["", "0", "1"]) if small else TEXT
    keys = st.booleans() | numbers | texts
    return st.recursive(
        st.none() | st.booleans() | numbers | texts,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.lists(inner, max_size=3).map(tuple),
            st.dictionaries(keys, inner, max_size=3),
        ),
        max_leaves=6,
    )
