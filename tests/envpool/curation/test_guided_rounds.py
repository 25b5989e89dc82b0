"""Composing by what a solver has shown, against composing at random: round after round, with a solver whose ability is
known on every program. The search is simulated: it finds so many random chains of what it is told to prefer. Then all
operators, asked of one who reads types and nothing else.
"""

import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product

import pytest

from envpool.answer_counts import AnswerCount
from envpool.curation import CurationSettings, Curator, Mode, Standing
from envpool.curation.kinds import choose_kinds
from envpool.curation.prediction import Aim, Prediction
from envpool.curation.saved import recents
from envpool.curation.shown import Answered, Shown
from envpool.curation.tracks import Recent

PROGRAMS, ROUNDS, MADE_A_ROUND, ASKED_A_ROUND, FOUND, GROUP = 120, 80, 3, 18, 30, 8
SIZES = (2, 3, 4, 5, 6)
A_LONGER_PROMPT = 0.95
"""What each further step costs beside its own difficulty."""


@dataclass
class World:
    """A solver, the curator that asks it, and the composites made so far."""

    mode: Mode
    seed: int
    composites: dict[str, tuple[str, ...]] = field(default_factory=dict)
    asked: list[tuple[int, int]] = field(default_factory=list)
    """Size and successes of each group of answers."""

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.abilities = {f"p{n}": self.rng.betavariate(1.2, 0.6) for n in range(PROGRAMS)}
        self.curator = Curator(CurationSettings(mode=self.mode, adaptive_levels=False), seed=self.seed)
        for program in self.abilities:
            self.curator.take(Standing(program, "others", "brick"))

    def truth(self, steps: tuple[str, ...]) -> float:
        return math.prod(self.abilities[step] for step in steps) * A_LONGER_PROMPT ** (len(steps) - 1)

    def shown(self) -> Shown:
        """As `Showing` reads it from a pool."""
        known = {member: levels[0] for member, levels in recents(self.curator.state_dict()).items() if levels}
        programs = {member: each for member, each in known.items() if member in self.abilities}
        composites = [
            Answered("SEQUENTIAL", self.composites[member], each)
            for member, each in known.items()
            if member in self.composites
        ]
        return Shown(programs, tuple(composites))

    def compose(self, guided: bool) -> None:
        shown = self.shown()
        kinds = choose_kinds(self.rng, ("SEQUENTIAL",), SIZES, shown, MADE_A_ROUND)
        aim = Aim(Prediction(shown), 0.3, [size for _, size in kinds]) if guided else None
        weights = [aim.weight(program) if aim else 1.0 for program in self.abilities]
        for operator, size in kinds:
            found = [self.chain(weights, size) for _ in range(FOUND)]
            chosen = max(found, key=lambda steps: aim.nearness(operator, steps)) if aim else found[0]
            name = f"c{len(self.composites)}"
            self.composites[name] = chosen
            self.curator.take(Standing(name, "composites", f"{operator}-{size}", retires=True))

    def chain(self, weights: list[float], size: int) -> tuple[str, ...]:
        steps: dict[str, None] = {}
        while len(steps) < size:
            steps.update(dict.fromkeys(self.rng.choices(list(self.abilities), weights)))
        return tuple(steps)

    def ask(self) -> None:
        for recipe in self.curator.choose(ASKED_A_ROUND):
            steps = self.composites.get(recipe.member, (recipe.member,))
            solved = sum(self.rng.random() < self.truth(steps) for _ in range(GROUP))
            self.asked.append((len(steps), solved))
            self.curator.record(AnswerCount(recipe.member, "main", 0, GROUP, solved, GROUP))


def played(mode: Mode, guided: bool, seed: int = 0) -> World:
    world = World(mode, seed)
    for _ in range(ROUNDS):
        world.compose(guided)
        world.ask()
    return world


def with_a_spread(world: World) -> float:
    """Share of the later groups about composites that have something to learn from."""
    later = [solved for size, solved in world.asked[len(world.asked) // 2 :] if size > 1]
    return sum(0 < solved < GROUP for solved in later) / len(later)


def distance(world: World) -> float:
    """Mean difference of the later composites' true success from what is sought."""
    later = list(world.composites.values())[len(world.composites) // 2 :]
    return sum(abs(world.truth(steps) - 0.3) for steps in later) / len(later)


@pytest.mark.parametrize("mode", ["mixed", "composed"])
def test_guided_composites_are_nearer_to_what_is_sought_and_more_of_their_groups_teach(mode: Mode) -> None:
    guided, at_random = played(mode, True), played(mode, False)
    assert distance(guided) < 0.8 * distance(at_random)
    assert with_a_spread(guided) > with_a_spread(at_random) + 0.03


def test_without_a_guide_the_sizes_that_are_nearly_never_solved_are_asked_less() -> None:
    world = played("composed", False)
    asked = {size: sum(each == size for each, _ in world.asked) for size in SIZES}
    assert asked[2] > 1.2 * asked[6] > 0, asked


OPERATORS = ("SEQUENTIAL", "PARALLEL", "SORT", "SELECT")
OF_EACH = 12
"""Composites of each operator and size."""


def guesses(operator: str, size: int) -> float:
    """How often types alone lead to the output; between two steps there is one order and its reverse."""
    return {"SORT": 0.5 if size < 4 else 0.2, "SELECT": 0.06}.get(operator, 0.0)


def shares_of_the_draws(success: Callable[[str, int], float], seed: int = 0) -> dict[str, float]:
    """By operator, of the later draws of a run with composites alone."""
    limits = CurationSettings(mode="composed", adaptive_levels=False, rest_easy=1.0, rest_hard=0.0)
    rng, curator, asked = random.Random(seed), Curator(limits, seed=seed), Counter[str]()
    kinds = {}
    for operator, size in product(OPERATORS, SIZES):
        for number in range(OF_EACH):
            name = f"{operator}-{size}-{number}"
            kinds[name] = operator, size
            guess = guesses(operator, size)
            curator.take(Standing(name, "composites", f"{operator}-{size}", size=size, guess=guess))
    for n in range(ROUNDS):
        for recipe in curator.choose(ASKED_A_ROUND):
            asked[kinds[recipe.member][0]] += n >= ROUNDS // 2
            solved = sum(rng.random() < success(*kinds[recipe.member]) for _ in range(GROUP))
            curator.record(AnswerCount(recipe.member, "main", 0, GROUP, solved, GROUP))
    return {operator: count / asked.total() for operator, count in asked.items()}


@pytest.mark.parametrize("seed", range(3))
def test_who_only_guesses_orders_is_not_asked_for_them_most(seed: int) -> None:
    shares = shares_of_the_draws(lambda operator, size: max(0.02, guesses(operator, size)), seed)
    assert shares["SORT"] < 0.35, shares
    assert min(shares.values()) > 0.1, shares


def test_who_understands_half_of_the_orders_beside_is_asked_for_them() -> None:
    def success(operator: str, size: int) -> float:
        guess = guesses(operator, size)
        return guess + (1 - guess) * (0.5 if operator == "SORT" else 0.02)

    assert shares_of_the_draws(success)["SORT"] > 0.5


def test_what_is_made_next_of_an_order_that_is_guessed_is_as_of_one_that_nobody_solves() -> None:
    def chosen(rates: dict[int, float]) -> Counter[int]:
        shown = Shown({}, tuple(
            Answered("SORT", tuple("abcdef"[:size]), Recent(64.0, 60, 60 * rate, 60), guesses("SORT", size))
            for size, rate in rates.items()
            for _ in range(4)
        ))  # fmt: skip
        return Counter(size for _, size in choose_kinds(random.Random(0), ("SORT",), (2, 3, 5), shown, 4000))

    found = chosen({2: 0.5, 3: 0.75, 5: 0.2})
    assert found[3] > 3 * max(found[2], found[5]), found


def test_a_guessed_order_is_predicted_to_be_solved_less_than_its_steps_promise() -> None:
    recent = Recent(64.0, 60, 30, 60)
    of_steps = {step: Recent(64.0, 60, 48, 60) for step in "ab"}
    prediction = Prediction(Shown(of_steps, (Answered("SORT", ("a", "b"), recent, 0.5),)))
    assert 0 < prediction.chain("SORT", "ab") < 0.2 < 0.5 < prediction.chain("SEQUENTIAL", "ab")
