import random
from itertools import pairwise, permutations

from hypothesis import given
from hypothesis import strategies as st

from envpool.composition.proposals import Proposals
from envpool.members import Program

TYPES = ("int", "str", "list[int]")
SIGNATURES = st.tuples(st.sampled_from(TYPES), st.sampled_from(TYPES))


def program(number: int, domain: str, codomain: str) -> Program:
    return Program(f"class P{number}: ...", f"P{number}", f"Rule {number}.", domain, codomain)


def fitting(listed: list[Program], size: int, domain: str, codomain: str) -> list[list[int]]:
    """All orders whose types fit, by trying every one."""
    found = []
    for order in permutations(range(1, len(listed) + 1), size):
        steps = [listed[number - 1] for number in order]
        inner = all(before.codomain == after.domain for before, after in pairwise(steps))
        if inner and (steps[0].domain, steps[-1].codomain) == (domain, codomain):
            found.append(list(order))
    return found


@given(
    st.lists(SIGNATURES, min_size=2, max_size=6),
    st.integers(2, 4),
    st.sampled_from(TYPES),
    st.sampled_from(TYPES),
)
def test_every_rank_is_another_order_and_together_they_are_all_that_fit(
    signatures: list[tuple[str, str]], size: int, domain: str, codomain: str
) -> None:
    listed = [program(number, *types) for number, types in enumerate(signatures)]
    expected = fitting(listed, size, domain, codomain) if size <= len(listed) else []
    proposals = Proposals(listed, size, domain, codomain)
    assert proposals.count == len(expected)
    assert sorted(proposals.order(rank) for rank in range(proposals.count)) == expected


def test_few_orders_are_all_drawn_and_of_many_as_many_as_asked_for() -> None:
    same = [program(number, "int", "int") for number in range(6)]
    drawn = Proposals(same[:3], 3, "int", "int").draw(random.Random(1), 6)
    assert sorted(drawn) == fitting(same[:3], 3, "int", "int")
    many = Proposals(same, 6, "int", "int")
    assert many.count == 720
    drawn = many.draw(random.Random(1), 48)
    assert len({tuple(order) for order in drawn}) == 48
    assert drawn == many.draw(random.Random(1), 48) != many.draw(random.Random(2), 48)


def test_a_long_listing_of_many_types_is_counted_without_listing_its_orders() -> None:
    listed = [program(number, *("int", "int")) for number in range(14)]
    assert Proposals(listed, 6, "int", "int").count == 14 * 13 * 12 * 11 * 10 * 9
