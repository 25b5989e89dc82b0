"""The environment base class, recipes, instances and outcomes."""

import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envpool import Environment, Planted
from envpool.contract import Failed, Instance, Outcome, Recipe, Scored, Unparsed, render_prompt, seeded


class Double(Environment):
    rule = "Double the number."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(0, 9)

    def solve(self, x: int) -> int:
        return 2 * x


def test_an_equality_oracle_scores_the_reference_and_nothing_else() -> None:
    environment = Double()
    assert environment.verify(3, 6) == 1.0
    assert [environment.verify(3, answer) for answer in (5, "6", True, [6])] == [0.0] * 4
    assert environment.verify(0, False) == 0.0


def test_an_environment_shows_literals_and_accepts_everything_by_default() -> None:
    assert Double().show(["a", (1, 2)]) == '["a", (1, 2)]'
    assert Double().accepts(3)


def test_planted_data_is_frozen() -> None:
    with pytest.raises(AttributeError):
        Planted([1], 1).solution = 2


@given(st.text(max_size=5), st.integers(0), st.integers(0, 9), st.integers(0, 9))
def test_a_recipe_survives_its_dict_and_draws_the_same(
    member: str, seed: int, level: int, attempt: int
) -> None:
    recipe = Recipe(member, seed, level, attempt)
    again = Recipe.from_dict(recipe.to_dict())
    assert again == recipe
    assert again.rng().random() == recipe.rng().random() == seeded(recipe.key()).random()


def test_the_draws_of_a_recipe_never_change() -> None:
    recipe = Recipe("p1", 42, 3)
    assert recipe.key() == "p1:42:3:0"
    assert recipe.rng().getrandbits(32) == 2308887466


def test_another_attempt_is_another_draw() -> None:
    recipe = Recipe("p1", 42, 3)
    assert recipe.again() == Recipe("p1", 42, 3, 1)
    assert recipe.again().rng().random() != recipe.rng().random()


def test_an_instance_is_told_by_its_prompt() -> None:
    one, two = (Instance(Recipe("p", seed, 0), "question", ("int",), (1,), (2,)) for seed in (1, 2))
    assert one.digest == two.digest
    assert len(one.digest) == 64


@pytest.mark.parametrize("score", [float("nan"), float("inf"), 1.5, -0.1, 10**400, True, "1", None])
def test_what_is_no_verdict_is_refused(score: object) -> None:
    with pytest.raises(ValueError):
        Scored(score)


def test_only_the_full_verdict_is_success() -> None:
    outcomes: list[Outcome] = [Scored(1.0), Scored(0.75), Unparsed("missing"), Failed("lost")]
    assert [getattr(outcome, "success", False) for outcome in outcomes] == [True, False, False, False]


def test_a_prompt_is_rule_input_and_answer_line() -> None:
    assert render_prompt("Double it.", "4", "Answer.") == "Double it.\n\nInput: 4\n\nAnswer."


def test_importing_envpool_stays_light() -> None:
    heavy = "{'lmdb', 'numpy', 'torch', 'ray', 'pydantic', 'asyncio'}"
    code = f"import sys, envpool; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
