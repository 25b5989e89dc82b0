import pytest

from envpool.members import Program
from envpool.novelty.bank import SIZE, bank
from envpool.novelty.fingerprint import fingerprint
from envpool.sandbox import Executor
from envpool.signatures import canonical_bytes, check, parse_type

TYPES = ("int", "str", "list[int]", "list[str]", "dict[str, int]", "tuple[int, str]", "list[list[bool]]")


def program(
    solve: str, domain: str = "list[int]", codomain: str = "int", draw: str = "[rng.randint(0, 9)] * 3"
) -> Program:
    source = f"""
import random
from envpool import Environment

class P(Environment):
    rule = "Answer."

    def sample(self, rng: random.Random, level: int) -> {domain}:
        return {draw}

    def solve(self, x: {domain}) -> {codomain}:
        {solve}
"""
    return Program(source, "P", solve, domain, codomain)


@pytest.mark.parametrize("text", TYPES)
def test_a_bank_is_fixed_distinct_and_well_typed(text: str) -> None:
    vtype = parse_type(text)
    values = bank(vtype)
    assert len({canonical_bytes(value) for value in values}) == len(values) <= SIZE
    assert len(values) > SIZE // 2
    assert values == bank(vtype)
    for value in values:
        check(value, vtype)


@pytest.mark.parametrize(
    "text",
    [
        "list[" * 8 + "int" + "]" * 8,
        "dict[int, " * 8 + "int" + "]" * 8,
        f"list[list[tuple[{', '.join(['list[int]'] * 40)}]]]",
    ],
    ids=["lists in lists", "dicts in dicts", "a wide tuple"],
)
def test_a_type_that_multiplies_has_a_bank_of_legal_values(text: str) -> None:
    values = bank(parse_type(text))
    assert len(values) > SIZE // 4
    for value in values:
        check(value, parse_type(text))


def test_the_bank_of_integers_is_what_it_was_when_members_were_admitted() -> None:
    assert bank(parse_type("int"))[:8] == [7, 5, 4, 16, 3, 92, 2, 0]
    assert bank(parse_type("list[int]"))[12] == [0, 7, 9]


async def test_equal_behaviour_has_one_fingerprint_whatever_code_and_sampler(executor: Executor) -> None:
    first = await fingerprint(executor, program("return sum(x)"), "")
    second = await fingerprint(
        executor, program("t = 0\n        for n in x: t += n\n        return t", draw="[1]"), ""
    )
    other = await fingerprint(executor, program("return sum(x) + (len(x) > 3)"), "")
    assert first == second != other


async def test_the_signature_is_part_of_the_fingerprint(executor: Executor) -> None:
    whole = await fingerprint(executor, program("return [n for n in x]", codomain="list[int]"), "")
    words = await fingerprint(executor, program("return [w for w in x]", "list[str]", "list[str]"), "")
    assert whole != words


async def test_programs_that_fail_on_the_whole_bank_are_told_apart_by_their_own_draws(
    executor: Executor,
) -> None:
    draw = "{'n': rng.randint(0, 99), 'k': level}"
    programs = [program(f"return x['n'] {sign} x['k']", "dict", "int", draw) for sign in "+-"]
    narrow = [
        program(
            f"assert len(x) == 77; return x[0] {sign} x[1]", draw="[rng.randint(0, 9) for _ in range(77)]"
        )
        for sign in "+-"
    ]
    prints = [await fingerprint(executor, each, "") for each in (*programs, *narrow)]
    assert len(set(prints)) == 4


async def test_a_program_that_hangs_on_the_bank_still_gets_a_fingerprint(executor: Executor) -> None:
    hanging = program("while len(x) == 2: pass\n        return len(x)")
    assert len(await fingerprint(executor, hanging, "")) == 64


async def test_a_feasibility_oracle_stands_for_its_code(executor: Executor) -> None:
    oracle = Program("source", "P", "rule", "int", "int", "feasibility")
    assert await fingerprint(executor, oracle, "a") == await fingerprint(executor, oracle, "a")
    assert await fingerprint(executor, oracle, "a") != await fingerprint(executor, oracle, "b")
