import itertools

from hypothesis import given
from hypothesis import strategies as st

from envpool.composition.census import LONGEST, coverage, type_graph
from envpool.members import Composite, Program

TYPES = ("int", "str", "list[int]")
SIGNATURES = st.lists(st.tuples(st.sampled_from(TYPES), st.sampled_from(TYPES)), max_size=4)


def programs(signatures: list[tuple[str, str]]) -> list[Program]:
    return [Program(f"source {n}", f"P{n}", "A rule.", *each) for n, each in enumerate(signatures)]


def test_bricks_are_counted_by_signature_and_shown_the_most_first() -> None:
    graph = type_graph(programs([("int", "str"), ("int", "str"), ("int", "int"), ("str", "int")]))
    assert graph.bricks == {("int", "str"): 2, ("int", "int"): 1, ("str", "int"): 1}
    assert list(graph.leads_to("int").items()) == [("str", 2), ("int", 1)]
    assert (graph.arriving("int"), graph.arriving("str")) == (2, 2)


def test_a_type_from_which_nothing_leads_on_ends_a_chain() -> None:
    graph = type_graph(programs([("int", "str"), ("str", "bool")]))
    assert {domain: graph.longest(domain) for domain in graph.domains} == {"int": 2, "str": 1}
    assert graph.lengths() == [2, 1, 0, 0, 0, 0]


def test_a_brick_with_many_right_answers_leads_nowhere() -> None:
    colouring = Program("source", "Colouring", "A rule.", "int", "int", "feasibility")
    assert type_graph([colouring]).domains == []


@given(SIGNATURES)
def test_as_many_chains_are_counted_as_there_are(signatures: list[tuple[str, str]]) -> None:
    graph = type_graph(programs(signatures))
    for length in range(1, 5):
        fitting = [
            chain
            for chain in itertools.product(signatures, repeat=length)
            if all(first[1] == second[0] for first, second in itertools.pairwise(chain))
        ]
        counted = graph.lengths()[length - 1] if graph.domains else 0
        assert counted == len(fitting)
        for domain in graph.domains:
            assert graph.chains[domain][length - 1] == sum(chain[0][0] == domain for chain in fitting)
    assert all(len(counts) == LONGEST for counts in graph.chains.values())


def test_coverage_counts_every_step_of_every_chain() -> None:
    one = Composite("SEQUENTIAL", (("a", "b"),), "int", "int")
    two = Composite("PARALLEL", (("a",), ("b", "c"), ("a",)), "tuple[int, int, int]", "tuple[int, int, int]")
    found = coverage(["a", "b", "c", "d"], [one, two, one])
    assert found.kinds == {("PARALLEL", 4): 1, ("SEQUENTIAL", 2): 2}
    assert found.uses == {"a": 4, "b": 3, "c": 1, "d": 0}
    assert (found.composites, found.mean, found.peak, found.unused) == (3, 2.0, 2.0, ["d"])


def test_distractors_are_no_use() -> None:
    shown = Composite("SELECT", (("a", "b"),), "int", "int", ("c", "d"))
    assert coverage(["a", "b", "c", "d"], [shown]).unused == ["c", "d"]


def test_use_is_even_where_all_are_used_and_none_far_above_the_mean() -> None:
    pairs = [Composite("SEQUENTIAL", (("a", str(n)),), "int", "int") for n in range(9)]
    ids = ["a", *map(str, range(9))]
    assert coverage(ids, pairs).peak == 5.0
    assert coverage(ids, pairs).even
    assert not coverage([*ids, "unused"], pairs).even
    more = [Composite("PARALLEL", (("a",), ("a",)), "tuple[int, int]", "tuple[int, int]")]
    assert not coverage(ids, [*pairs, *more]).even


def test_nothing_composed_is_not_even_use() -> None:
    assert not coverage(["a"], []).even
    assert coverage([], []).peak == 0.0
