from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from envpool.composition.chains import SearchSettings
from envpool.composition.composer import Composer, ComposerSettings, Guide
from envpool.composition.guess_rates import GUESS_LIMITS
from envpool.contract import Environment, Recipe
from envpool.curation.standings import admission_level
from envpool.execution import Examiner
from envpool.members import ORDERED, Member, OperatorName, Origin
from envpool.sandbox.results import Call
from envpool.signatures import parse_type
from tests.envpool.composition.simulated import (
    AddOne,
    AnyDivisor,
    Digits,
    Double,
    HalfOfEven,
    Hangs,
    LastDigit,
    Raises,
    Same,
    SimulatedExecutor,
    Square,
    TenMoreThanEven,
    Total,
    Triple,
    member,
)

CLASSES = (
    AddOne, AnyDivisor, Digits, Double, HalfOfEven, Hangs, LastDigit, Raises, Same, Square, Total, Triple,
)  # fmt: skip
BRICKS = [member(each) for each in CLASSES]
SETTINGS = ComposerSettings(max_size=3, level=1, search=SearchSettings(agreeing=2))


def composer(settings: ComposerSettings = SETTINGS, **options: object) -> Composer:
    return Composer(SimulatedExecutor(), BRICKS, settings, **options)


async def test_proposals_are_distinct_members_with_their_lineage() -> None:
    made = await composer().propose(12)
    assert len({each.id for each in made}) == len(made) == 12
    for each in made:
        assert each.origin is Origin.COMPOSER
        assert each.parents == each.material.parts
        assert each.family == f"{each.material.operator}-{each.material.size}"
        assert 2 <= each.material.size <= 3
        assert parse_type(each.material.domain) and parse_type(each.material.codomain)
    assert {each.material.operator for each in made} == {"SEQUENTIAL", "PARALLEL", "SORT", "SELECT"}


async def test_every_proposal_can_be_built() -> None:
    made = await composer().propose(12)
    pool = {each.id: each for each in [*BRICKS, *made]}
    examiner = Examiner(SimulatedExecutor(), pool.__getitem__)
    for each in made:
        instance = await examiner.build(Recipe(each.id, 5, 1))
        assert len(instance.references) >= 2 or each.material.operator in ORDERED


async def test_a_program_without_the_level_that_chains_begin_at_is_in_no_chain() -> None:
    ended = replace(BRICKS[0], evidence={"levels": 1})
    made = await Composer(SimulatedExecutor(), [ended, *BRICKS[1:]], SETTINGS).propose(24)
    assert made and not any(ended.id in each.material.parts for each in made)
    begun_lower = Composer(SimulatedExecutor(), [ended, *BRICKS[1:]], replace(SETTINGS, level=0))
    assert any(ended.id in each.material.parts for each in await begun_lower.propose(24))


async def test_what_asks_for_an_order_has_its_guess_rate_in_its_evidence() -> None:
    rates: dict[str, list[float]] = {}
    for each in await composer(replace(SETTINGS, operators=("SORT", "SELECT"))).propose(12):
        rates.setdefault(each.material.operator, []).append(each.evidence["guess_rate"])
    for operator, limit in GUESS_LIMITS.items():
        assert rates[operator] and all(0 < rate <= limit for rate in rates[operator])


async def test_the_distractors_of_a_selection_are_bricks_and_no_steps_of_its_chain() -> None:
    settings = replace(SETTINGS, operators=("SELECT",), distractors=3)
    made = await composer(settings).propose(6)
    assert made
    for each in made:
        (chain,) = each.material.chains
        assert 1 <= len(each.material.distractors) <= 3
        assert {brick.id for brick in BRICKS} - set(chain) >= set(each.material.distractors)


async def test_operators_and_sizes_are_made_as_asked_for() -> None:
    kinds = [("SORT", 2), ("SELECT", 2), ("SELECT", 3), ("SEQUENTIAL", 3), ("PARALLEL", 2), ("SORT", 3)]
    made = await composer().compose(kinds)
    assert sorted(each.family for each in made) == sorted(f"{operator}-{size}" for operator, size in kinds)


async def test_one_chain_may_stand_under_several_operators() -> None:
    bricks = [member(Double), member(AddOne), member(Square)]
    few = Composer(SimulatedExecutor(), bricks, replace(SETTINGS, level=2))
    made = await few.compose([("SEQUENTIAL", 2)] * 6 + [("SORT", 2)] * 6)
    chains: dict[str, set[tuple[str, ...]]] = {}
    for each in made:
        chains.setdefault(each.material.operator, set()).add(each.material.chains[0])
    assert chains["SEQUENTIAL"] & chains["SORT"]


async def test_a_parallel_composite_has_several_problems_and_no_program_twice() -> None:
    made = await composer(ComposerSettings(("PARALLEL",), 2, 4, 1, SETTINGS.search)).propose(12)
    for each in made:
        assert len(each.material.chains) >= 2
        assert len(each.material.parts) == each.material.size
    assert any(len(chain) == 2 for each in made for chain in each.material.chains)
    assert any(member(AnyDivisor).id in each.parents for each in made)


async def test_the_same_seed_proposes_the_same_and_goes_on_with_others() -> None:
    first, second = composer(seed=3), composer(seed=3)
    assert await first.propose(5) == await second.propose(5)
    later = await first.propose(5)
    assert later == await second.propose(5)
    assert await composer(seed=4).propose(5) != await composer(seed=3).propose(5)


async def test_what_is_known_is_not_proposed_again() -> None:
    taken = {each.id for each in await composer(seed=3).propose(5)}
    again = await composer(seed=3, known=taken.__contains__).propose(5)
    assert again and taken.isdisjoint(each.id for each in again)


async def test_sizes_and_operators_are_chosen_by_the_caller() -> None:
    made = await composer(ComposerSettings(("SEQUENTIAL",), level=1, search=SETTINGS.search)).propose(5, [3])
    assert {each.family for each in made} == {"SEQUENTIAL-3"}


async def test_no_sequential_composite_is_deeper_than_the_search() -> None:
    settings = ComposerSettings(("SEQUENTIAL",), 2, 6, 1, SearchSettings(depth=2, agreeing=2))
    made = await composer(settings).propose(4)
    assert {each.family for each in made} == {"SEQUENTIAL-2"}


async def test_quotas_keep_the_use_of_bricks_even() -> None:
    made = await composer().propose(8)
    used = Counter(part for each in made for part in each.parents)
    assert max(used.values()) <= 2 * 2 * 8 * 3 / len(BRICKS)


@pytest.mark.parametrize("bricks", [[], [member(Same)], [member(Double)]])
async def test_bricks_that_give_nothing_end_in_fewer_proposals(bricks: list[Member]) -> None:
    assert await Composer(SimulatedExecutor(), bricks, SETTINGS).propose(3) == []


async def test_new_bricks_are_composed_at_once() -> None:
    settings = replace(SETTINGS, operators=("SEQUENTIAL", "PARALLEL"))
    growing = Composer(SimulatedExecutor(), [member(Double), member(AddOne)], settings)
    await growing.propose(2)
    growing.use([member(Double), member(AddOne), member(Digits), member(Total)])
    made = await growing.propose(6)
    assert any(member(Total).id in each.parents for each in made)


@dataclass
class Preferring:
    """A guide that does not want one program, and of composites likes those best that have another."""

    unwanted: str = ""
    liked: str = ""

    def weight(self, program: str) -> float:
        return 0.0 if program == self.unwanted else 1.0

    def nearness(self, operator: str, steps: Sequence[str]) -> float:
        return float(self.liked in steps)


async def test_a_brick_of_weight_nothing_is_in_no_chain() -> None:
    guided = composer(replace(SETTINGS, operators=("SEQUENTIAL", "SORT")))
    guided.use(BRICKS, Preferring(unwanted=member(Double).id))
    made = await guided.propose(6)
    assert made and not any(member(Double).id in each.parents for each in made)


@pytest.mark.parametrize("operator", ["SEQUENTIAL", "PARALLEL", "SORT"])
async def test_of_what_was_found_the_guides_preferred_is_made(operator: OperatorName) -> None:
    settings = replace(SETTINGS, operators=(operator,), min_size=3)
    liked = member(Square if operator == "SORT" else Total).id  # of a SORT with Total only two orders fit

    async def share(guide: Guide | None) -> float:
        made = []
        for seed in range(12):
            each = composer(settings, seed=seed)
            each.use(BRICKS, guide)
            made += await each.propose(1)
        return sum(liked in each.parents for each in made) / len(made)

    assert await share(Preferring(liked=liked)) > max(0.5, await share(None))


async def test_a_composite_says_the_level_of_its_inputs_where_that_is_not_the_first() -> None:
    (raised,), (plain,) = await composer().propose(1), await composer(replace(SETTINGS, level=0)).propose(1)
    assert (admission_level(raised), admission_level(plain)) == (1, 0)
    assert plain.evidence["level"] == 0, "it was measured there"


async def test_for_sort_those_chains_come_first_whose_types_leave_many_orders() -> None:
    bricks = [member(each) for each in (AddOne, Digits, Double, LastDigit, Square, Total)]
    settings = replace(SETTINGS, operators=("SORT",))
    made = [
        await Composer(SimulatedExecutor(), bricks, settings, seed=seed).propose(1, [3]) for seed in range(12)
    ]
    assert all(each.evidence["fitting_orders"] == 6 for (each,) in made)


async def test_a_sort_of_three_waits_for_a_chain_of_many_orders_where_the_bricks_have_one() -> None:
    settings, made = replace(SETTINGS, operators=("SORT",)), []
    for bricks in ((AddOne, Digits, Double, LastDigit, Square, Total), (TenMoreThanEven, Digits, Total)):
        each = Composer(SimulatedExecutor(), list(map(member, bricks)), settings)
        made.append([one.evidence["fitting_orders"] for one in await each.propose(8, [3])])
    assert len(made[0]) == 8 and set(made[0]) == {6}
    assert set(made[1]) == {2}, "there are no others"


class Picky(SimulatedExecutor):
    """Its programs accept one number in four."""

    def value(self, program: Environment, call: Call) -> object:
        return call.args[0] % 4 == 0 if call.method == "accepts" else super().value(program, call)


@pytest.mark.parametrize("operator", ["SEQUENTIAL", "PARALLEL", "SORT", "SELECT"])
async def test_what_needs_many_draws_for_an_instance_is_not_made(operator: OperatorName) -> None:
    bricks = [member(each) for each in (AddOne, Double, LastDigit, Square, Triple)]
    settings, draws = replace(SETTINGS, operators=(operator,)), []
    for seed in range(6):
        composer = Composer(Picky(), bricks, settings, seed=seed)
        for made in await composer.propose(3):
            pool = {each.id: each for each in [*bricks, made]}
            examiner = Examiner(Picky(), pool.__getitem__)
            built = [await examiner.build(Recipe(made.id, 1000 + n, 1)) for n in range(50)]
            draws.append(sum(each.recipe.attempt + 1 for each in built) / len(built))
    assert draws and max(draws) < 3.0, draws
