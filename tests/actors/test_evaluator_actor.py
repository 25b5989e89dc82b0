"""The evaluator actor: questions over several solvers, and those that a policy cannot be asked."""

from __future__ import annotations

import pytest

from actors.peers import Peers
from actors.roster import Post
from cluster.config import Config
from cluster.sections.learning import EvaluationConfig
from cluster.wanted import first, scaled
from envpool.contract import Recipe
from envpool.members import Member, Origin, Program
from envpool.shipped import shipped
from tests.actors.conftest import Raise, kill
from tests.actors.scripted_solver import solver

UPPER, WORDS = "strings/upper_case", "strings/count_words"
TYPES = {UPPER: "str", WORDS: "int"}


@pytest.fixture
def config(config: Config) -> Config:
    """With few questions."""
    return config.model_copy(update={"evaluation": EvaluationConfig(questions=12)})


def members() -> dict[str, Member]:
    """Bricks as admission would record them, by name; only their rule and signature are needed here."""
    programs = [
        Program(each.source, each.name, f"Do as {each.name}.", "str", TYPES[each.name])
        for each in shipped("none", list(TYPES))
    ]
    return {program.name: Member(program, Origin.BRICK) for program in programs}


async def begun(make: Raise, peers: Peers, config: Config, solvers: int) -> None:
    for name, kind in (("pool", "Pool"), ("metrics", "Metrics"), ("sandbox-0", "Sandbox")):
        make(Post(name, f"actors.{kind.lower()}:{kind}Actor"))
    for index in range(solvers):
        make(solver(index))
    wanted = scaled(first(config), {"solver": solvers})
    await peers.pool.put_state("wanted", wanted.model_dump(mode="json"))
    for member in members().values():
        await peers.pool.admit(member.to_dict(), "a test", 0)
    make(Post("evaluator", "actors.evaluator:EvaluatorActor"))


async def test_a_question_that_does_not_fit_has_no_score_and_the_others_have(
    make: Raise, peers: Peers, config: Config
) -> None:
    await begun(make, peers, config, 1)
    known = members()
    answers = (await peers.evaluator.evaluate("before"))["training_families"]
    upper, words = (
        [answer for answer in answers if answer["member"] == known[name].id] for name in (UPPER, WORDS)
    )
    assert upper and words
    assert all(answer["success"] is None and "does not fit" in answer["why"] for answer in upper)
    assert all(answer["parsed"] == 1.0 and answer["success"] in (0.0, 1.0) for answer in words)


HANGS = """
from envpool import Environment


class Hangs(Environment):
    rule = "Say it again."

    def sample(self, rng, level):
        while True:
            pass

    def solve(self, x: str) -> str:
        return x
"""


async def test_a_question_that_a_slower_machine_cannot_build_has_no_score_and_the_others_have(
    make: Raise, peers: Peers, config: Config
) -> None:
    await begun(make, peers, config, 1)
    slow = Member(Program(HANGS, "Hangs", "Say it again.", "str", "str"), Origin.USER)
    await peers.pool.admit(slow.to_dict(), "a test", 0)
    kept = [Recipe(slow.id, 1, 0).to_dict(), Recipe(members()[WORDS].id, 1, 0).to_dict()]
    questions = {"training_families": kept, "held_out_families": []}
    await peers.pool.put_state("evaluation:questions", questions)
    lost, scored = (await peers.evaluator.evaluate("after"))["training_families"]
    assert (lost["member"], lost["success"]) == (slow.id, None) and "cpu_limit" in lost["why"]
    assert (scored["member"], scored["parsed"]) == (members()[WORDS].id, 1.0)


async def test_questions_go_to_all_solvers_and_the_same_ones_are_asked_after_a_kill(
    make: Raise, peers: Peers, config: Config
) -> None:
    await begun(make, peers, config, 2)
    before = await peers.evaluator.evaluate("before")
    asked = [await peers[f"solver-{index}"].count() for index in range(2)]
    assert min(asked) > 0
    kill((await peers.evaluator.health())["pid"])
    assert await peers.evaluator.evaluate("before") == before
    assert [await peers[f"solver-{index}"].count() for index in range(2)] == asked
    after = await peers.evaluator.evaluate("after")
    assert [answer["member"] for answer in after["training_families"]] == [
        answer["member"] for answer in before["training_families"]
    ]
