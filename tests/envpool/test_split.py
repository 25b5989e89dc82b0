from hypothesis import given
from hypothesis import strategies as st

from envpool.contract import Instance, Recipe
from envpool.split import is_held_out, is_held_out_prompt


def asked(prompt: str, seed: int = 0) -> Instance:
    return Instance(Recipe("p1", seed, 0), prompt, ("int",), (1,), (1,))


def test_an_eighth_of_all_prompts_is_held_out() -> None:
    share = sum(is_held_out(asked(f"Add {n} and one.")) for n in range(4000)) / 4000
    assert 0.10 < share < 0.15


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])), st.integers(), st.integers())
def test_the_same_prompt_is_on_the_same_side_whatever_it_was_drawn_from(prompt: str, a: int, b: int) -> None:
    assert is_held_out(asked(prompt, a)) == is_held_out(asked(prompt, b)) == is_held_out_prompt(prompt)
