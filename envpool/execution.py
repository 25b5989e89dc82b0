"""Building instances from recipes and judging responses, by running frozen programs in a sandbox.

Invariant: the same pool and the same recipe give the same prompt, references and verdicts byte for byte on
every machine. What comes back from a child is decoded and checked against its declared type before it is
used. A program's fault and trouble of the infrastructure stay apart: the first speaks against a member, the
second against nobody. Nothing here decides what happens to a member.
"""

from collections.abc import Callable, Sequence

from envpool.answers import UnparsableAnswer, read
from envpool.composition.operators import OPERATORS, SINGLE, Operator, Problem, questions
from envpool.contract import Failed, Instance, Outcome, Recipe, Scored, Unparsed
from envpool.members import Composite, Member, Program
from envpool.sandbox.audit import Observation
from envpool.sandbox.executor import Executor
from envpool.sandbox.results import Call, Fault, FaultKind, InfrastructureFault, Mode, Result, Value
from envpool.signatures import IllegalValue, canonical_bytes, check, from_wire, literal, parse_type, to_wire
from envpool.split import is_held_out, is_held_out_prompt

ATTEMPTS = 16
"""Draws for one recipe until a whole chain runs on the input (ours)."""
CHAIN_LITERAL = 400
"""Characters of a value between two steps. Not a setting, because it decides what a recipe means (ours)."""
SPLIT_TRIES = 64

VALUE_FAULTS = frozenset({FaultKind.CODE_ERROR, FaultKind.ILLEGAL_VALUE, FaultKind.OUTPUT_LIMIT})
"""Faults that depend on the input alone, so that every machine sees them at the same draw."""


class ProgramFault(RuntimeError):
    """A frozen member broke its contract while it was used; `member` is the id to quarantine."""

    def __init__(self, member: str, fault: Fault) -> None:
        super().__init__(f"{member}: {fault.kind}: {fault.detail}")
        self.member = member
        self.fault = fault


class _ChainMiss(Exception):
    """A chain does not run on this draw; the next one may."""


def checked(member: str, wire: object, type_text: str) -> object:
    """The value a child sent, as the type declares it. Raises ProgramFault where it is none."""
    try:
        value = from_wire(wire)
        check(value, parse_type(type_text))
    except IllegalValue as error:
        raise ProgramFault(member, Fault(FaultKind.ILLEGAL_VALUE, str(error))) from error
    return value


def sampled(program: Program, result: Result) -> tuple[str, object, object]:
    """Shown text, input and planted solution (wire forms) of a sample, each checked. Raises ProgramFault."""
    sample = _value(program, result)
    if not isinstance(sample, dict) or not {"input", "planted", "shown"} <= sample.keys():
        raise ProgramFault(program.id, Fault(FaultKind.PROTOCOL_ERROR, "a sample without its parts"))
    checked(program.id, sample["input"], program.domain)
    checked(program.id, sample["shown"], "str")
    if program.oracle == "feasibility":
        checked(program.id, sample["planted"], program.codomain)
    return sample["shown"], sample["input"], sample["planted"]


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

        Raises ProgramFault, or InfrastructureFault from the executor.
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
        raise ProgramFault(recipe.member, Fault(FaultKind.ILLEGAL_VALUE, detail))

    async def build_split(self, recipe: Recipe, held_out: bool, tries: int = SPLIT_TRIES) -> Instance | None:
        """The first instance, from this attempt on, on the wanted side of the split; None after `tries`.

        On the training side no step of a composite is a held-out question of its program either.
        """
        for _ in range(tries):
            instance, problems = await self._build(recipe)
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
        readings = [_read(response, types) for response in responses]
        readable = [reading for reading in readings if not isinstance(reading, Unparsed)]
        try:
            scored = iter(await self._score_readings(instance, readable))
        except InfrastructureFault as fault:
            scored = iter([Failed(f"infrastructure: {fault}")] * len(readable))
        return [reading if isinstance(reading, Unparsed) else next(scored) for reading in readings]

    async def _score_readings(self, instance: Instance, readings: list[list[object]]) -> list[Outcome]:
        material = self._lookup(instance.recipe.member).material
        operator = _operator(material)
        columns = [
            await self._judge(self._program(judge), instance, slot, [reading[slot] for reading in readings])
            for slot, judge in enumerate(operator.judges(_chains(material)))
        ]
        return [_outcome(operator, row) for row in zip(*columns, strict=True)]

    async def _judge(
        self, judge: Program, instance: Instance, slot: int, answers: list[object]
    ) -> list[float | ProgramFault]:
        """The score of each answer in one slot; what could not be read scores 0."""
        if judge.oracle == "equality":
            reference = canonical_bytes(from_wire(instance.references[slot]))
            return [_equals(answer, reference) for answer in answers]
        legible = [answer for answer in answers if not isinstance(answer, UnparsableAnswer)]
        calls = [Call("verify", (instance.inputs[slot], to_wire(answer))) for answer in legible]
        verdicts = iter([_verdict(judge, result) for result in await self._run(judge, calls, instance.recipe)])
        return [0.0 if isinstance(answer, UnparsableAnswer) else next(verdicts) for answer in answers]

    async def _problems(self, material: Program | Composite, recipe: Recipe) -> list[Problem]:
        if isinstance(material, Program):
            return [await self._draw([material], recipe.key(), recipe)]
        chains = [[self._program(part) for part in chain] for chain in material.chains]
        return [await self._draw(chain, f"{recipe.key()}/{n}", recipe) for n, chain in enumerate(chains)]

    async def _draw(self, chain: list[Program], key: str, recipe: Recipe) -> Problem:
        """The chain run on the input its first program draws from `key`. Raises _ChainMiss, ProgramFault."""
        first, *later = chain
        (result,) = await self._run(first, [Call("sample", (key, recipe.level))], recipe)
        shown, x, planted = sampled(first, result)
        if first.oracle == "feasibility":
            return Problem((first,), shown, (x, planted))
        (result,) = await self._run(first, [Call("solve", (x,))], recipe)
        values = [x, _solved(first, _value(first, result))]
        for step in later:
            y = await self._extend(step, values[-1], recipe)
            values.append(_solved(step, y))
        return Problem(tuple(chain), shown, tuple(values))

    async def _extend(self, step: Program, x: object, recipe: Recipe) -> object:
        if len(literal(from_wire(x))) > CHAIN_LITERAL:
            raise _ChainMiss(f"the input of {step.id} is too long")
        accepted, solved = await self._run(step, [Call("accepts", (x,)), Call("solve", (x,))], recipe)
        if _extension(recipe.member, step, accepted) is not True:
            raise _ChainMiss(f"{step.id} does not accept its input")
        return _extension(recipe.member, step, solved)

    async def _run(self, program: Program, calls: list[Call], recipe: Recipe) -> list[Result]:
        if not calls:
            return []
        results = await self._executor.run(program.source, calls, mode=self._mode, replica=self._replica)
        if self._observe is not None:
            self._observe(Observation(program.id, program.source, recipe, tuple(calls), tuple(results)))
        return results

    def _program(self, member: str) -> Program:
        material = self._lookup(member).material
        if not isinstance(material, Program):
            raise TypeError(f"{member} is a composite, and composites are made of programs")
        return material


def _operator(material: Program | Composite) -> Operator:
    return SINGLE if isinstance(material, Program) else OPERATORS[material.operator]


def _chains(material: Program | Composite) -> tuple[tuple[str, ...], ...]:
    return ((material.id,),) if isinstance(material, Program) else material.chains


def _instance(operator: Operator, recipe: Recipe, problems: list[Problem]) -> Instance:
    slots = operator.slots(problems)
    return Instance(
        recipe=recipe,
        prompt=operator.prompt(problems),
        answer_types=tuple(slot.judge.codomain for slot in slots),
        references=tuple(slot.reference for slot in slots),
        inputs=tuple(slot.input for slot in slots),
    )


def _shows_held_out(problems: list[Problem]) -> bool:
    return any(is_held_out_prompt(question) for problem in problems for question in questions(problem))


def _value(program: Program, result: Result) -> object:
    if isinstance(result, Fault):
        raise ProgramFault(program.id, result)
    return result.value


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


def _read(response: str, types: list) -> list[object] | Unparsed:
    """One reading a slot, or Unparsed where no slot can be read."""
    try:
        reading = read(response, types)
    except UnparsableAnswer as error:
        return Unparsed(error.reason)
    faults = [slot for slot in reading if isinstance(slot, UnparsableAnswer)]
    return Unparsed(faults[0].reason) if len(faults) == len(reading) else reading


def _equals(answer: object, reference: bytes) -> float:
    if isinstance(answer, UnparsableAnswer):
        return 0.0
    return 1.0 if canonical_bytes(answer) == reference else 0.0


def _verdict(judge: Program, result: Result) -> float | ProgramFault:
    """A child's verdict, or the fault that there is none."""
    if isinstance(result, Fault):
        return ProgramFault(judge.id, result)
    try:
        return float(Scored(result.value).score)
    except ValueError as error:
        return ProgramFault(judge.id, Fault(FaultKind.ILLEGAL_VALUE, str(error)))


def _outcome(operator: Operator, row: Sequence[float | ProgramFault]) -> Outcome:
    scores = [score for score in row if not isinstance(score, ProgramFault)]
    if len(scores) == len(row):
        return Scored(operator.score(scores))
    fault = next(score for score in row if isinstance(score, ProgramFault))
    return Failed(f"quarantine: {fault}", program=True)
