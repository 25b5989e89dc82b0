import pytest
from hypothesis import given
from hypothesis import strategies as st

from envpool.generation import ReplyUnparsable, parse_reply, proposal_prompt
from envpool.generation.prompts import CONTRACT

PROGRAM = """import random

from envpool import Environment

LIMIT = 5


class Larger(Environment):
    rule = "Count the numbers above 5."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        # few numbers at first

        return [rng.randint(1, 9) for _ in range(3 + level)]

    def solve(self, x: list[int]) -> int:
        return sum(n > LIMIT for n in x)
"""
OTHER = PROGRAM.replace("Larger", "First")
FENCED = f"```python\n{PROGRAM}```"


@pytest.mark.parametrize(
    "reply",
    [
        PROGRAM,
        FENCED,
        f"```\n{PROGRAM}```",
        f"~~~py\n{PROGRAM}~~~",
        f"Sure! Here is one:\n\n{FENCED}\n\nIt counts numbers.",
        f"```python\n{OTHER}```\nBetter:\n{FENCED}",
        f"{FENCED}\nRun it with\n```bash\npython it.py\n```",
        f"<think>maybe\n```python\n{OTHER}```\nno</think>\n{FENCED}",
        f"I could use a class First(Environment) here.</think>{FENCED}",
        f"<thinking>x</thinking>\n{PROGRAM}",
        f"```python\n{PROGRAM}",
        f"Here is the program:\n\n{PROGRAM}\nI hope this helps.",
        f"import this is what I would do first\n\n{PROGRAM}\nDone: the class is complete.",
    ],
)
def test_the_program_is_found_as_it_was_written(reply: str) -> None:
    assert parse_reply(reply) == PROGRAM


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I cannot do that.",
        "```python\nprint(1)\n```",
        f"<think>{FENCED}",
        "class A(Base):\n    pass",
        "x" * 300_000,
    ],
)
def test_a_reply_without_a_program_is_unparsable(reply: str) -> None:
    with pytest.raises(ReplyUnparsable):
        parse_reply(reply)


@given(st.text(alphabet=st.sampled_from("`\n classEnvirometpdf(): <think>/=#"), max_size=300))
def test_no_reply_breaks_the_parser(text: str) -> None:
    try:
        source = parse_reply(text)
    except ReplyUnparsable:
        return
    assert source.strip() and source.endswith("\n")


def test_the_prompt_shows_the_contract_and_every_parent() -> None:
    prompt = proposal_prompt([PROGRAM, OTHER, PROGRAM.replace("Larger", "Third")])
    assert prompt.startswith(CONTRACT)
    assert all(f"class {name}" in prompt for name in ("Larger", "First", "Third"))
    assert prompt.count("```python") == 4
    assert "Example" not in proposal_prompt([])
