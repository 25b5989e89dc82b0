"""Building instances from recipes and judging responses, by running frozen programs in a sandbox.

Invariant: the same pool and the same recipe give the same prompt, references and verdicts byte for byte on
every machine. What comes back from a child is decoded and checked against its declared type before it is
used. A program's fault and trouble of the infrastructure stay apart: the first speaks against a member, the
second against nobody. Nothing here decides what happens to a member.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from envpool.answers import UnparsableAnswer
from envpool.composition.distractors import killed, objection, tried
from envpool.composition.operators import OPERATORS, SINGLE, questions
from envpool.composition.ordering import listing
from envpool.composition.problems import Execution, Judge, Operator, Problem
from envpool.composition.trials import outcomes, too_long
from envpool.contract import Failed, Instance, Outcome, Recipe, Unparsed
from envpool.members import ORDERED, Composite, Member, Program
from envpool.returned import VALUE_FAULTS, ProgramFault, Run, checked, sampled, value_of
from envpool.sandbox.audit import Observation
from envpool.sandbox.executor import Executor
from envpool.sandbox.results import Call, Fault, FaultKind, InfrastructureFault, Mode, Result, Value
from envpool.signatures import canonical_bytes, from_wire, parse_type, to_wire, wire_bytes
from envpool.split import is_held_out, is_held_out_prompt
from envpool.verdicts import equals, executed, outcome, reading_of, verdict

ATTEMPTS = 16
"""Draws for one recipe until a whole chain runs on the input (ours)."""
SPLIT_TRIES = 64


class _ChainMiss(Exception):
    """A chain does not run on this draw; the next one may."""


class OutOfDraws(ProgramFault):
    """None of a recipe's draws ran through its composite: chance, for which nobody is quarantined."""


class Examiner:
    """Builds instances and scores responses over an executor; `lookup` finds a member by id.

    `mode` and `replica` go to the executor. `observe` is told all that programs said, so that a share of it can be
    recomputed.
    """

    def __init__(
        self,
        executor: Executor,
        lookup: Callable[[str], Member],
        *,
        mode: Mode = Mode.VERIFY,
        replica: int = 0,
        observe: Callable[[Observation], None] | None = None,
    ) -> None:
        self._executor = executor
        self._lookup = lookup
        self._mode, self._replica = mode, replica
        self._observe = observe

    async def build(self, recipe: Recipe) -> Instance:
        """The instance of a recipe; its own recipe names the attempt that ran.

        Raises ProgramFault, OutOfDraws among them, or InfrastructureFault from the executor.
        """
        instance, _ = await self._build(recipe)
        return instance

    async def _build(self, recipe: Recipe) -> tuple[Instance, list[Problem]]:
        material = self._lookup(recipe.member).material
        for _ in range(ATTEMPTS):
            try:
                problems = await self._problems(material, recipe)
            except _ChainMiss as miss:
                last, recipe = str(miss), recipe.again()
            else:
                return _instance(_operator(material), recipe, problems), problems
        detail = f"no draw ran through in {ATTEMPTS} attempts: {last}"
        raise OutOfDraws(recipe.member, Fault(FaultKind.ILLEGAL_VALUE, detail))

    async def build_split(self, recipe: Recipe, held_out: bool, tries: int = SPLIT_TRIES) -> Instance | None:
        """The first instance, from this attempt on, on the wanted side of the split.

        None after `tries`, or where the recipe runs out of draws. Raises ProgramFault, or InfrastructureFault.
        On the training side no step of a composite is a held-out question of its program either.
        """
        for _ in range(tries):
            try:
                instance, problems = await self._build(recipe)
            except OutOfDraws:
                return None
            if is_held_out(instance) == held_out and (held_out or not _shows_held_out(problems)):
                return instance
            recipe = instance.recipe.again()
        return None

    async def score(self, instance: Instance, response: str) -> Outcome:
        """The outcome of one response; never raises for what a response or a program does."""
        (outcome,) = await self.score_all(instance, [response])
        return outcome

    async def score_all(self, instance: Instance, responses: Sequence[str]) -> list[Outcome]:
        """Outcomes of several responses to one instance; a round trip for each slot judged by its program."""
        types = [parse_type(text) for text in instance.answer_types]
        readings = [reading_of(response, types) for response in responses]
        readable = [reading for reading in readings if not isinstance(reading, Unparsed)]
        try:
            scored = iter(await self._score_readings(instance, readable))
        except InfrastructureFault as fault:
            scored = iter([Failed(f"infrastructure: {fault}")] * len(readable))
        return [reading if isinstance(reading, Unparsed) else next(scored) for reading in readings]

    async def _score_readings(self, instance: Instance, readings: list[list[object]]) -> list[Outcome]:
        material = self._lookup(instance.recipe.member).material
        operator = _operator(material)
        judges = operator.judges(self._chains(material), self._listed(material, instance.recipe))
        columns = [
            await self._judge(judge, instance, slot, [reading[slot] for reading in readings])
            for slot, judge in enumerate(judges)
        ]
        return [outcome(operator, row) for row in zip(*columns, strict=True)]

    async def _judge(
        self, judge: Judge, instance: Instance, slot: int, answers: list[object]
    ) -> list[float | Failed]:
        """The score of each answer in one slot; what could not be read scores 0."""
        if isinstance(judge, Program) and judge.oracle == "equality":
            reference = canonical_bytes(from_wire(instance.references[slot]))
            return [equals(answer, reference) for answer in answers]
        legible = [answer for answer in answers if not isinstance(answer, UnparsableAnswer)]
        if isinstance(judge, Program):
            verdicts = iter(await self._verify(judge, instance, slot, legible))
        else:
            verdicts = iter(await self._execute(judge, instance, slot, legible))
        return [0.0 if isinstance(answer, UnparsableAnswer) else next(verdicts) for answer in answers]

    async def _verify(
        self, judge: Program, instance: Instance, slot: int, answers: list[object]
    ) -> list[float | Failed]:
        """What the judging program says of each answer."""
        calls = [Call("verify", (instance.inputs[slot], to_wire(answer))) for answer in answers]
        return [verdict(judge, result) for result in await self._run(judge, calls, instance.recipe)]

    async def _execute(
        self, judge: Execution, instance: Instance, slot: int, answers: list[object]
    ) -> list[float | Failed]:
        """What comes of running what each answer proposes."""
        proposed = [judge.trials(answer, instance.inputs[slot]) for answer in answers]
        trials = [trial for each in proposed for trial in each]
        came = iter(await outcomes(self._runs(instance.recipe), trials))
        return [executed([next(came) for _ in each]) for each in proposed]

    async def _problems(self, material: Program | Composite, recipe: Recipe) -> list[Problem]:
        if isinstance(material, Program):
            return [await self._draw((material,), recipe.key(), recipe)]
        drawn = [
            await self._draw(chain, f"{recipe.key()}/{n}", recipe)
            for n, chain in enumerate(self._chains(material))
        ]
        if material.operator not in ORDERED:
            return drawn
        (problem,) = drawn
        _refuse_repeats(problem)
        for distractor in map(self._program, material.distractors):
            await self._distract(distractor, problem, recipe)
        return [replace(problem, listed=self._listed(material, recipe))]

    async def _draw(self, chain: tuple[Program, ...], key: str, recipe: Recipe) -> Problem:
        """The chain run on the input its first program draws from `key`. Raises _ChainMiss, ProgramFault."""
        first, *later = chain
        (result,) = await self._run(first, [Call("sample", (key, recipe.level))], recipe)
        shown, x, planted = sampled(first, result)
        if first.oracle == "feasibility":
            return Problem((first,), shown, (x, planted))
        (result,) = await self._run(first, [Call("solve", (x,))], recipe)
        values = [x, _solved(first, value_of(first, result))]
        for step in later:
            y = await self._extend(step, values[-1], recipe)
            values.append(_solved(step, y))
        return Problem(chain, shown, tuple(values))

    async def _extend(self, step: Program, x: object, recipe: Recipe) -> object:
        if too_long(x):
            raise _ChainMiss(f"the input of {step.id} is too long")
        # One after the other: on what it does not accept a step may run for as long as it is let.
        (accepted,) = await self._run(step, [Call("accepts", (x,))], recipe)
        if _extension(recipe.member, step, accepted) is not True:
            raise _ChainMiss(f"{step.id} does not accept its input")
        (solved,) = await self._run(step, [Call("solve", (x,))], recipe)
        return _extension(recipe.member, step, solved)

    async def _distract(self, distractor: Program, problem: Problem, recipe: Recipe) -> None:
        """Raises _ChainMiss unless it distracts on this draw."""
        results = await tried(self._runs(recipe), distractor, problem.steps, problem.values)
        if (kill := killed(results)) is not None:
            raise ProgramFault(recipe.member, kill)
        if why := objection(results, problem.values[-1]):
            raise _ChainMiss(f"{distractor.id} {why}")

    def _runs(self, recipe: Recipe) -> Run:
        return lambda program, calls: self._run(program, calls, recipe)

    async def _run(self, program: Program, calls: list[Call], recipe: Recipe) -> list[Result]:
        if not calls:
            return []
        packages = self._lookup(program.id).may_use_packages
        results = await self._executor.run(
            program.source, calls, mode=self._mode, replica=self._replica, packages=packages
        )
        if self._observe is not None:
            self._observe(
                Observation(program.id, program.source, recipe, tuple(calls), tuple(results), packages)
            )
        return results

    def _program(self, member: str) -> Program:
        material = self._lookup(member).material
        if not isinstance(material, Program):
            raise TypeError(f"{member} is a composite, and composites are made of programs")
        return material

    def _chains(self, material: Program | Composite) -> list[tuple[Program, ...]]:
        if isinstance(material, Program):
            return [(material,)]
        return [tuple(map(self._program, chain)) for chain in material.chains]

    def _listed(self, material: Program | Composite, recipe: Recipe) -> tuple[Program, ...]:
        """The steps as they are shown, where an order is asked for."""
        if isinstance(material, Program) or material.operator not in ORDERED:
            return ()
        return tuple(map(self._program, listing(material, recipe.key())))


def _operator(material: Program | Composite) -> Operator:
    return SINGLE if isinstance(material, Program) else OPERATORS[material.operator]


def _instance(operator: Operator, recipe: Recipe, problems: list[Problem]) -> Instance:
    slots = operator.slots(problems)
    return Instance(
        recipe=recipe,
        prompt=operator.prompt(problems),
        answer_types=tuple(slot.answer_type for slot in slots),
        references=tuple(slot.reference for slot in slots),
        inputs=tuple(slot.input for slot in slots),
    )


def _shows_held_out(problems: list[Problem]) -> bool:
    return any(is_held_out_prompt(question) for problem in problems for question in questions(problem))


def _refuse_repeats(problem: Problem) -> None:
    """On a draw on which a step, or a loop of steps, does nothing, more orders than the chain's would do."""
    if len(set(map(wire_bytes, problem.values))) < len(problem.values):
        raise _ChainMiss("a value comes twice")


def _extension(composite: str, step: Program, result: Result) -> object:
    """What a later step returned. Raises _ChainMiss for what every machine sees alike, else ProgramFault."""
    if isinstance(result, Value):
        return result.value
    if result.kind in VALUE_FAULTS:
        raise _ChainMiss(f"{step.id}: {result.detail}")
    # A kill by a clock may differ between machines, so the draw is never skipped over in silence.
    raise ProgramFault(composite, result)


def _solved(program: Program, wire: object) -> object:
    checked(program.id, wire, program.codomain)
    return wire
