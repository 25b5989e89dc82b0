"""Playing recipes with a real sandbox and answers that are written here."""

from collections.abc import Callable, Iterator, Sequence

import pytest

from envpool.contract import Recipe
from envpool.execution import Examiner
from envpool.members import Composite, Member, Origin, Program
from envpool.sandbox import Call, InfrastructureFault, LocalExecutor, Mode, Result
from envpool.split import is_held_out_prompt
from tests.envpool.composition.simulated import AddOne, AnyDivisor, Double, HangsOnOdd, SimulatedExecutor
from tests.envpool.composition.simulated import member as simulated
from training.policy.errors import GenerationRefused
from training.rollout import Played, Rollout
from training.trajectory import Sample

HEAD = "import random\nfrom envpool import Environment, Planted\n\n\n"
DOUBLE = (
    HEAD
    + """class Double(Environment):
    rule = "Double it."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(1, 99)

    def solve(self, x: int) -> int:
        return 2 * x
"""
)
FACTOR = (
    HEAD
    + """class Factor(Environment):
    rule = "Give a factor of the input."

    def sample(self, rng: random.Random, level: int) -> Planted:
        return Planted(6 * rng.randint(1, 99), 6)

    def verify(self, x: int, answer: int) -> float:
        return float(x % answer == 0)
"""
)


def member(source: str, name: str, oracle: str) -> Member:
    return Member(Program(source, name, "Rule.", "int", "int", oracle), Origin.BRICK)


MEMBERS = {
    each.id: each for each in (member(DOUBLE, "Double", "equality"), member(FACTOR, "Factor", "feasibility"))
}
double, factor = MEMBERS

PARTS = {each: simulated(each) for each in (AnyDivisor, Double, HangsOnOdd, AddOne)}
PROBLEMS = Composite("PARALLEL", ((PARTS[AnyDivisor].id,), (PARTS[Double].id,)), "int", "int")
ORDER = Composite("SORT", ((PARTS[HangsOnOdd].id, PARTS[AddOne].id),), "int", "int")
MEMBERS |= {each.id: each for each in PARTS.values()}
MEMBERS |= {each.id: Member(each, Origin.COMPOSER) for each in (PROBLEMS, ORDER)}


class Failing:
    """An executor whose machine fails at one method."""

    def __init__(self, executor: LocalExecutor, method: str) -> None:
        self.executor, self.method = executor, method

    async def run(
        self,
        source: str,
        calls: Sequence[Call],
        *,
        mode: Mode = Mode.VERIFY,
        replica: int = 0,
        packages: bool = False,
    ) -> list[Result]:
        if any(call.method == self.method for call in calls):
            raise InfrastructureFault("the machine is gone")
        return await self.executor.run(source, calls, mode=mode, replica=replica, packages=packages)


@pytest.fixture(scope="module")
def executor() -> Iterator[LocalExecutor]:
    executor = LocalExecutor()
    yield executor
    executor.close()


async def play(executor: object, id: str, answer: Callable[[int, int], str], seed: int = 0) -> Played:
    """Four answers, each made from the number in the question and its own number."""

    async def generate(prompts: Sequence[str], n: int) -> list[list[Sample]]:
        (prompt,) = prompts
        x = int(prompt.split("Input: ")[1].split()[0])
        return [[Sample(answer(x, k), [1], [2], [-0.5], 3, 3, True) for k in range(n)]]

    rollout = Rollout(Examiner(executor, MEMBERS.__getitem__), generate, "main", 4, 0.1)  # type: ignore[arg-type]
    return await rollout.play(Recipe(id, seed, 0), "group-1")


async def test_a_group_holds_every_answer_with_its_verdict_and_its_shaping_apart(
    executor: LocalExecutor,
) -> None:
    played = await play(
        executor, double, lambda x, k: "no idea" if k == 3 else f"<answer>{2 * x + k}</answer>"
    )
    assert played.group is not None and played.group.role == "solver"
    assert [(t.reward, t.shaping, t.parsed) for t in played.group.trajectories] == [
        (1.0, 0.1, True), (0.0, 0.1, True), (0.0, 0.1, True), (0.0, 0.0, False),
    ]  # fmt: skip
    assert (played.attempts, played.successes, played.parsed, played.failures) == (4, 1, 3, 0)
    assert [row["success"] for row in played.rows] == [True, False, False, False]
    assert not played.broken


async def test_no_question_of_the_held_out_side_is_played(executor: LocalExecutor) -> None:
    for seed in range(40):
        played = await play(executor, double, lambda x, k: "", seed)
        assert played.instance is not None and not is_held_out_prompt(played.instance.prompt)


async def test_an_answer_that_breaks_the_program_speaks_against_the_program_and_not_the_machine(
    executor: LocalExecutor,
) -> None:
    played = await play(executor, factor, lambda x, k: f"<answer>{k}</answer>")
    assert "ZeroDivisionError" in played.broken and played.culprit == factor
    assert (played.attempts, played.failures) == (3, 0)


async def test_a_part_that_breaks_in_a_verdict_is_the_culprit_and_not_what_it_is_a_part_of() -> None:
    def answer(x: int, k: int) -> str:
        return f"<answer>\n1: {666 + k}\n2: 1\n</answer>"

    played = await play(SimulatedExecutor(), PROBLEMS.id, answer)
    assert "ZeroDivisionError" in played.broken and played.culprit == PARTS[AnyDivisor].id
    assert (played.attempts, played.failures, played.killed) == (3, 0, 0)


async def test_an_order_that_was_killed_is_dropped_and_counted_apart_from_failures_of_the_machine() -> None:
    orders = ("[1, 2]", "[2, 1]")  # one of them halves an odd number, which never ends
    played = await play(SimulatedExecutor(), ORDER.id, lambda x, k: f"<answer>{orders[k % 2]}</answer>")
    assert (played.attempts, played.successes, played.killed, played.failures) == (2, 2, 2, 0)
    assert not played.broken and not played.culprit


async def test_an_answer_without_a_verdict_is_dropped_and_counted_and_is_no_reward(
    executor: LocalExecutor,
) -> None:
    played = await play(Failing(executor, "verify"), factor, lambda x, k: f"<answer>{k + 1}</answer>")
    assert played.group is None and not played.broken
    assert (played.attempts, played.failures) == (0, 4)


async def test_a_question_that_the_machine_could_not_make_is_no_group_at_all(executor: LocalExecutor) -> None:
    with pytest.raises(InfrastructureFault):
        await play(Failing(executor, "sample"), double, lambda x, k: "")


async def test_a_recipe_that_runs_out_of_draws_is_no_group_and_nobody_is_to_be_quarantined(
    executor: LocalExecutor,
) -> None:
    fails = member(DOUBLE.replace("return 2 * x", "raise ValueError"), "Double", "equality")
    fused = Member(Composite("SEQUENTIAL", ((double, fails.id),), "int", "int"), Origin.COMPOSER)
    lookup = {**MEMBERS, fails.id: fails, fused.id: fused}.__getitem__
    played = await Rollout(Examiner(executor, lookup), unasked, "main", 4, 0.0).play(Recipe(fused.id, 0, 0), "g")
    assert (played.group, played.broken, played.culprit, played.failures) == (None, "", "", 0)


async def unasked(prompts: Sequence[str], n: int) -> list[list[Sample]]:
    raise AssertionError("there is no question")


async def test_a_prompt_that_the_policy_cannot_be_asked_is_told_and_is_no_group(executor: LocalExecutor) -> None:
    def refuse(x: int, k: int) -> str:
        raise GenerationRefused("the prompt has 2000 tokens, the policy's context 1024")

    played = await play(executor, double, refuse)
    assert "2000 tokens" in played.refused
    assert played.group is None and played.attempts == 0 and not played.broken
