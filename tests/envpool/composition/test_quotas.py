import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from envpool.composition.quotas import Quotas

IDS = ["a", "b", "c", "d"]


@given(st.integers(0, 3), st.lists(st.sampled_from(IDS)), st.integers(0, 5), st.integers())
def test_a_choice_is_distinct_and_never_of_a_spent_id(
    uses: int, spent: list[str], count: int, seed: int
) -> None:
    quotas = Quotas(uses)
    quotas.spend(spent)
    chosen = quotas.choose(random.Random(seed), IDS, count)
    left = [id for id in IDS if spent.count(id) < uses]
    assert len(set(chosen)) == len(chosen) == min(count, len(left))
    assert set(chosen) <= set(left)
    assert quotas.allow(chosen)


def test_what_has_more_of_its_quota_left_is_chosen_more_often() -> None:
    quotas = Quotas(9)
    quotas.spend(["b"] * 6)
    rng = random.Random(0)
    chosen = Counter(quotas.choose(rng, ["a", "b"], 1)[0] for _ in range(4000))
    assert 2.5 < chosen["a"] / chosen["b"] < 3.5  # 9 left against 3


def test_a_grant_is_for_every_id_alike() -> None:
    quotas = Quotas(1)
    quotas.spend(["a"])
    assert not quotas.allow(["a", "b"])
    quotas.grant(2)
    assert (quotas.remaining("a"), quotas.remaining("b")) == (2, 3)


def test_a_weight_multiplies_what_is_left_and_none_is_never_chosen() -> None:
    quotas = Quotas(10)
    weights = {"a": 3.0, "b": 1.0, "c": 0.0}
    rng = random.Random(1)
    chosen = Counter(quotas.choose(rng, ["a", "b", "c"], 1, weights.__getitem__)[0] for _ in range(4000))
    assert 2.5 < chosen["a"] / chosen["b"] < 3.5
    assert chosen["c"] == 0
