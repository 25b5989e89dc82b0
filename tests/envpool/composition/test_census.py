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


def pairs_with_a(*others: str) -> list[Composite]:
    return [Composite("SEQUENTIAL", (("a", other),), "int", "int") for other in others]


def test_use_is_even_where_all_are_used_and_none_far_above_the_mean() -> None:
    ids = ["a", *map(str, range(9))]
    pairs = 12 * pairs_with_a(*ids[1:])
    assert coverage(ids, pairs).peak == 5.0
    assert coverage(ids, pairs).even is True
    assert coverage([*ids, "unused"], 2 * pairs).even is False
    more = [Composite("PARALLEL", (("a",), ("a",)), "tuple[int, int]", "tuple[int, int]")]
    assert coverage(ids, [*pairs, *more]).even is False


@given(st.lists(st.sampled_from("bcde"), min_size=1, max_size=60))
def test_a_sample_tells_from_the_size_on_that_it_names(others: list[str]) -> None:
    pairs = pairs_with_a(*others)
    enough = coverage("abcde", pairs).enough
    assert enough == 50  # 5 bricks, 2 uses a composite, 20 uses of a brick
    assert (coverage("abcde", pairs).even is None) == (len(pairs) < enough)


def test_a_small_sample_is_called_neither_even_nor_uneven() -> None:
    assert coverage("ab", pairs_with_a("b")).even is None
    assert coverage("abc", pairs_with_a("b")).even is None


def test_nothing_composed_tells_nothing() -> None:
    for bricks in ("a", ""):
        found = coverage(bricks, [])
        assert (found.even, found.enough, found.peak, found.composites) == (None, None, 0.0, 0)
