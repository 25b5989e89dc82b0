"""Curation against a solver whose ability on every environment and level is known: intervals, levels and retirement.

Abilities are drawn anew for each seed, from hopeless to trivial, and fall with the level. The oracle that decisions
are held against sees the true success rates and knows nothing else that the curator does not.
"""

import math
import random
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envpool.answer_counts import AnswerCount, Counts
from envpool.curation import CurationSettings, Curator, Promote, Retire, Standing
from envpool.curation.tracks import Recent

ENVIRONMENTS = 50
ANSWERS = 2000
GROUP = 8
SEEDS = range(10)


@dataclass(frozen=True)
class Ability:
    """A solver's success on one environment by level; the gates refuse every level above `last`."""

    at_zero: float
    slope: float
    last: int

    def rate(self, level: int) -> float:
        return 1 / (1 + math.exp(self.slope * level - self.at_zero))

    def answers(self, rng: random.Random, level: int, count: int) -> int:
        return sum(rng.random() < self.rate(level) for _ in range(count))


def abilities(rng: random.Random) -> dict[str, Ability]:
    return {
        f"e{i}": Ability(rng.uniform(-6, 6), rng.uniform(0.5, 4), rng.randint(0, 3))
        for i in range(ENVIRONMENTS)
    }


def oracle(ability: Ability, limits: CurationSettings) -> tuple[int, bool]:
    """The level that a member belongs at, and whether it is to leave there."""
    level = 0
    while level < ability.last and ability.rate(level) >= limits.promote_at:
        level += 1
    rate = ability.rate(level)
    return level, rate <= limits.rest_hard or (rate >= limits.rest_easy and level == ability.last)


@dataclass
class Run:
    """What became of the members in the curator's hands."""

    levels: dict[str, int]
    retired: set[str]
    curator: Curator


def curated(seed: int, answers: int, limits: CurationSettings) -> tuple[dict[str, Ability], Run]:
    """So many answers over all members, dealt out by the curator and given by the solver."""
    rng = random.Random(seed)
    solver = abilities(rng)
    curator = Curator(limits, seed=seed)
    run = Run(dict.fromkeys(solver, 0), set(), curator)
    for member in solver:
        curator.take(Standing(member, "others", "policy:int -> int", retires=True))
    for _ in range(answers // GROUP):
        for recipe in curator.choose(1):
            successes = solver[recipe.member].answers(rng, recipe.level, GROUP)
            count = AnswerCount(recipe.member, "main", recipe.level, GROUP, successes, GROUP)
            for decision in curator.record(count):
                match decision:
                    case Promote(member=member, level=level) if level > solver[member].last:
                        curator.cap(member)
                    case Promote(member=member, level=level):
                        curator.promoted(member, level)
                        run.levels[member] = level
                    case Retire(member=member):
                        run.retired.add(member)
    return solver, run


def share(found: list[bool]) -> float:
    return sum(found) / len(found)


def within_after(seed: int, answers: int) -> list[bool]:
    """Of each environment, whether the truth at level 0 lies within the interval after so many answers to it."""
    rng = random.Random(seed)
    return [ability.rate(0) in measured(rng, ability, answers).interval for ability in abilities(rng).values()]


def measured(rng: random.Random, ability: Ability, answers: int) -> Recent:
    """What the curator would know after so many answers at level 0."""
    recent = Recent(CurationSettings().window)
    for _ in range(answers // GROUP):
        recent.add(GROUP, ability.answers(rng, 0, GROUP))
    return recent


@pytest.mark.parametrize("seed", SEEDS)
def test_after_2000_answers_nine_of_ten_truths_lie_within_their_interval(seed: int) -> None:
    assert share(within_after(seed, ANSWERS)) >= 0.9


def test_the_intervals_are_narrow_enough_to_say_something() -> None:
    solver = abilities(random.Random(0)).values()
    widths = [measured(random.Random(1), ability, ANSWERS).interval for ability in solver]
    assert all(each.high - each.low < 0.2 for each in widths), "all of 0 to 1 would hold every truth"


@given(seed=st.integers(0, 1 << 32), answers=st.sampled_from([40, 200, ANSWERS]))
@settings(deadline=None, max_examples=20)
def test_few_truths_lie_outside_whatever_the_seed(seed: int, answers: int) -> None:
    assert share(within_after(seed, answers)) >= 0.8, (
        "50 fair intervals of 95 % fall below this once in 40,000 runs"
    )


@pytest.mark.parametrize("seed", range(4))
def test_levels_and_retirements_are_those_of_an_oracle_that_knows_the_truth(seed: int) -> None:
    limits = CurationSettings(rest_draws=200, retire_epochs=None)
    solver, run = curated(seed, ANSWERS * ENVIRONMENTS, limits)
    wanted = {member: oracle(ability, limits) for member, ability in solver.items()}
    assert share([run.levels[member] == level for member, (level, _) in wanted.items()]) >= 0.9
    assert share([(member in run.retired) == leaves for member, (_, leaves) in wanted.items()]) >= 0.9
    staying = [member for member in solver if member not in run.retired]
    measured = {member: run.curator.recent(member)[run.levels[member]].interval for member in staying}
    assert (
        share([solver[member].rate(run.levels[member]) in each for member, each in measured.items()]) >= 0.85
    )
    assert all(0.01 < solver[member].rate(run.levels[member]) < 0.995 for member in staying), (
        "only what lies close to a limit may stay by mistake"
    )


def test_a_lucky_admission_is_found_out_and_a_good_one_is_not_sent_away() -> None:
    rng = random.Random(7)
    limits = CurationSettings()

    def leaves(rate: float) -> bool:
        """Admitted with one success in eight, which counts for nothing here; then 480 answers."""
        curator = Curator(limits)
        curator.take(Standing("m", "others", "policy:int -> int", retires=True))
        curator.take(Standing("other", "others", "other"))
        given = Ability(math.log(rate / (1 - rate)), 1.0, 0)
        counts = [AnswerCount("m", "main", 0, GROUP, given.answers(rng, 0, GROUP), GROUP) for _ in range(60)]
        return any(curator.record(count) for count in counts)

    assert share([leaves(0.005) for _ in range(100)]) >= 0.9
    assert share([leaves(0.3) for _ in range(100)]) == 0
    assert share([leaves(0.12) for _ in range(100)]) <= 0.05


def test_success_that_changes_is_measured_as_it_is_now_and_not_as_it_was() -> None:
    rng = random.Random(3)
    recent, sums = Recent(CurationSettings().window), Counts()
    for rate in [0.2] * 50 + [0.7] * 50:
        successes = sum(rng.random() < rate for _ in range(GROUP))
        recent.add(GROUP, successes)
        sums += Counts(GROUP, successes, GROUP)
    assert 0.7 in recent.interval
    assert 0.7 not in sums.interval
    assert 2.5 * CurationSettings().window < recent.answers < 3 * CurationSettings().window


@given(
    st.lists(st.tuples(st.integers(1, 16), st.floats(0, 1)), min_size=1, max_size=60),
    st.sampled_from([16, 64]),
)
def test_a_decayed_rate_lies_between_0_and_1_inside_its_interval(
    groups: list[tuple[int, float]], window: int
) -> None:
    recent = Recent(window)
    for attempts, solved in groups:
        recent.add(attempts, round(solved * attempts))
    interval = recent.interval
    assert 0 <= interval.low <= recent.rate <= interval.high <= 1
    assert 0 < recent.answers <= sum(attempts for attempts, _ in groups) + 1e-6
    assert Recent(window, *recent.sums) == recent
