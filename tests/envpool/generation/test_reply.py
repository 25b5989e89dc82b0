import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envpool.bricks import read_bricks
from envpool.generation import Grammar, ReplyUnparsable, parse_reply, proposal_prompt
from envpool.generation.prompts import CONTRACT
from envpool.seeds import read_seeds

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
DRAFT = 'class Draft(Environment):\n    rule = "Count."\n    # to be done\n'
FENCED = f"```python\n{PROGRAM}```"
INDENTED_FENCE = textwrap.indent(FENCED, "   ")


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
        FENCED.replace("\n", "\r\n"),
        f"\ufeff{FENCED}",
        f"````python\n{PROGRAM}````",
        f"Here it is: {FENCED}",
        f"```python\n{PROGRAM.rstrip()}```",
        f"```python\n{DRAFT}```\nThe sampler is missing, so:\n{FENCED}",
        f"{FENCED}\nIts shape in short:\n```python\n{DRAFT}```",
        f"```python\n{OTHER}\n```python\n{PROGRAM}```",
        f"1. The program:\n\n{INDENTED_FENCE}\n\n2. Done.",
        "A program:\n\n" + textwrap.indent(PROGRAM, "    ") + "\nThat was it.",
        f"[THINK]```python\n{OTHER}```[/THINK]{FENCED}",
        f"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>{FENCED}<|return|>",
        f"<|begin_of_thought|>{OTHER}<|end_of_thought|>\n{PROGRAM}",
        f"{PROGRAM}<|im_end|>",
        f"{FENCED}</s>",
        f"<answer>\n{PROGRAM}</answer>",
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


LONG_STATEMENTS = PROGRAM.replace('rule = "Count', '''rule = """Look at the list.

Every number counts once, and
the answer is a number.
Count''').replace('above 5."', 'above 5."""') + """

TABLE = {}
for k in range(3):
    TABLE[k] = k
if __name__ == "__main__":
    env = Larger()
    print(env)
"""


def test_lines_that_are_no_definition_belong_to_the_program_too() -> None:
    assert parse_reply(f"Sure.\n\n{LONG_STATEMENTS}\nI hope it helps.") == LONG_STATEMENTS


def test_programs_that_stand_alone_are_kept_whole() -> None:
    shipped = [source for _, source in (*read_seeds(), *read_bricks())]
    written = [proposal.source for proposal in Grammar(1).write(50)]
    for source in (*shipped, *written):
        assert parse_reply(source) == source


def test_several_names_may_be_set_at_once_before_the_class() -> None:
    source = next(source for name, source in read_bricks() if name == "parsing/read_roman")
    assert "ONES, TENS = " in source
    assert parse_reply(f"Here it is:\n\n{source}\nI hope it helps.") == source


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
