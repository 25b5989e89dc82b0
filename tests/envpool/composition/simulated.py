"""A simulated executor: programs are classes of this module, named by their source, run in this process.

For tests of the logic around execution; what the sandbox itself does is tested with the real one.
"""

import random
from collections.abc import Sequence

from envpool.contract import Environment, Planted, seeded
from envpool.members import Member, Origin, Program
from envpool.sandbox.results import Call, Fault, FaultKind, InfrastructureFault, Mode, Result, Value
from envpool.signatures import IllegalValue, check, from_wire, parse_type, to_wire
from tests.envpool.composition.searching import searched


class Double(Environment):
    rule = "Double the input number."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(2, 9 * 10**level)

    def solve(self, x: int) -> int:
        return 2 * x


class AddOne(Double):
    rule = "Add one to the input number."

    def solve(self, x: int) -> int:
        return x + 1


class Triple(Double):
    rule = "Triple the input number."

    def solve(self, x: int) -> int:
        return 3 * x


class Square(Double):
    rule = "Multiply the input number by itself."

    def solve(self, x: int) -> int:
        return x * x


class LastDigit(Double):
    rule = "Give the last digit of the input number."

    def solve(self, x: int) -> int:
        return x % 10


class HangsOnOdd(Double):
    rule = "Halve the input number; never end where it is odd."

    def sample(self, rng: random.Random, level: int) -> int:
        return 4 * rng.randint(2, 9)

    def solve(self, x: int) -> int:
        if x % 2:
            raise TimeoutError
        return x // 2


class RaisesOnOdd(HangsOnOdd):
    rule = "Halve the input number; fail where it is odd."

    def solve(self, x: int) -> int:
        if x % 2:
            raise ZeroDivisionError
        return x // 2


class TextOfOdd(HangsOnOdd):
    rule = "Halve the input number; give text, against what is declared, where it is odd."

    def solve(self, x: int) -> int:
        return str(x) if x % 2 else x // 2  # type: ignore[return-value]


class Same(Double):
    rule = "Give the input number."

    def solve(self, x: int) -> int:
        return x


class Zero(Double):
    rule = "Give zero."

    def solve(self, x: int) -> int:
        return 0


class Power(Double):
    rule = "Raise ten to the power of a hundred times the input number."

    def solve(self, x: int) -> int:
        return 10 ** (100 * x)


class WrongType(Double):
    rule = "Give the input number as text, against what is declared."

    def solve(self, x: int) -> str:
        return str(x)


class Raises(Double):
    rule = "Divide by nothing."

    def solve(self, x: int) -> int:
        raise ZeroDivisionError


class Hangs(Double):
    rule = "Never end."

    def solve(self, x: int) -> int:
        raise TimeoutError


class HalfOfEven(Double):
    rule = "Halve the input number, which is even."

    def sample(self, rng: random.Random, level: int) -> int:
        return 2 * rng.randint(2, 9)

    def solve(self, x: int) -> int:
        return x // 2

    def accepts(self, x: int) -> bool:
        return x % 2 == 0


class TenMoreThanEven(HalfOfEven):
    """Its rule is about every number, and it accepts only some."""

    rule = "Add ten to the input number."

    def solve(self, x: int) -> int:
        return x + 10


class Digits(Double):
    rule = "List the digits of the input number."

    def solve(self, x: int) -> list[int]:
        return [int(digit) for digit in str(x)]


class EvenDigits(Double):
    rule = "List the even digits of the input number."

    def solve(self, x: int) -> list[int]:
        return [int(digit) for digit in str(x) if int(digit) % 2 == 0]


class Letters(Environment):
    rule = "Count the letters of all words of the input list."

    def sample(self, rng: random.Random, level: int) -> list[str]:
        return ["word"] * rng.randint(1, 9)

    def solve(self, x: list[str]) -> int:
        return sum(map(len, x))


class Total(Environment):
    rule = "Add up the input list."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(1, 9) for _ in range(2 + level)]

    def solve(self, x: list[int]) -> int:
        return sum(x)


class AnyDivisor(Environment):
    """A feasibility oracle: any divisor above one scores, an even one only half."""

    rule = "Give a divisor of the input number that is larger than one."

    def sample(self, rng: random.Random, level: int) -> Planted:
        divisor = rng.choice([3, 5, 7])
        return Planted(divisor * rng.randint(2, 5), divisor)

    def verify(self, x: int, answer: int) -> float:
        if answer == 666:
            raise ZeroDivisionError
        if answer == 777:
            return float("nan")
        correct = answer > 1 and x % answer == 0
        return (1.0 if answer % 2 else 0.5) if correct else 0.0


PROGRAMS: dict[type[Environment], tuple[str, str, str]] = {
    Double: ("int", "int", "equality"),
    AddOne: ("int", "int", "equality"),
    Triple: ("int", "int", "equality"),
    Square: ("int", "int", "equality"),
    LastDigit: ("int", "int", "equality"),
    HangsOnOdd: ("int", "int", "equality"),
    RaisesOnOdd: ("int", "int", "equality"),
    TextOfOdd: ("int", "int", "equality"),
    Same: ("int", "int", "equality"),
    Zero: ("int", "int", "equality"),
    Power: ("int", "int", "equality"),
    WrongType: ("int", "int", "equality"),
    Raises: ("int", "int", "equality"),
    Hangs: ("int", "int", "equality"),
    HalfOfEven: ("int", "int", "equality"),
    TenMoreThanEven: ("int", "int", "equality"),
    Digits: ("int", "list[int]", "equality"),
    EvenDigits: ("int", "list[int]", "equality"),
    Letters: ("list[str]", "int", "equality"),
    Total: ("list[int]", "int", "equality"),
    AnyDivisor: ("int", "int", "feasibility"),
}


def member(program: type[Environment]) -> Member:
    """The program as a member; its source is its name."""
    domain, codomain, oracle = PROGRAMS[program]
    return Member(
        Program(program.__name__, program.__name__, program.rule, domain, codomain, oracle), Origin.BRICK
    )


def named(source: str) -> type[Environment]:
    """The program that a source stands for."""
    return next(each for each in PROGRAMS if each.__name__ == source)


class SimulatedExecutor:
    """Runs calls at once; counts round trips and calls. `broken` makes it fail as the machine would.

    The programs named in `late` are ended by the clock, as on a machine without time for them.
    """

    def __init__(self) -> None:
        self.trips = 0
        self.solved: list[tuple[str, object]] = []
        self.broken = False
        self.late: set[str] = set()

    async def run(
        self,
        source: str,
        calls: Sequence[Call],
        *,
        mode: Mode = Mode.VERIFY,
        replica: int = 0,
        packages: bool = False,
    ) -> list[Result]:
        if self.broken:
            raise InfrastructureFault("the machine is gone")
        self.trips += 1
        if mode is Mode.SEARCH:
            return searched(source, calls[0], lambda brick, _: _Together(self, named(brick["source"])))
        return [self._call(named(source), call) for call in calls]

    def _call(self, program: type[Environment], call: Call) -> Result:
        if program.__name__ in self.late:
            return Fault(FaultKind.CPU_LIMIT, "20 s by the clock", by_clock=True)
        try:
            return Value(self.value(program(), call))
        except TimeoutError:
            return Fault(FaultKind.CPU_LIMIT, "2 s")
        except ArithmeticError as error:
            return Fault(FaultKind.CODE_ERROR, repr(error))
        except IllegalValue as error:
            return Fault(FaultKind.ILLEGAL_VALUE, str(error))

    def value(self, program: Environment, call: Call) -> object:
        """What the program says in wire form, or raises."""
        if type(program).__name__ in self.late:
            raise TimeoutError
        if call.method == "sample":
            key, level = call.args
            drawn = program.sample(seeded(key), level)
            planted = drawn.solution if isinstance(drawn, Planted) else None
            x = drawn.x if isinstance(drawn, Planted) else drawn
            return {"input": to_wire(x), "planted": to_wire(planted), "shown": program.show(x)}
        if call.method == "solve":
            self.solved.append((type(program).__name__, call.args[0]))
            y = program.solve(from_wire(call.args[0]))
            check(y, parse_type(PROGRAMS[type(program)][1]))
            return to_wire(y)
        if call.method == "accepts":
            return program.accepts(from_wire(call.args[0]))
        return program.verify(*(from_wire(arg) for arg in call.args))


class _Together:
    """A program of a search: what ends it ends the search."""

    def __init__(self, executor: SimulatedExecutor, program: type[Environment]) -> None:
        self._executor, self._program = executor, program

    def call(self, method: str, args: list) -> object:
        try:
            return self._executor.value(self._program(), Call(method, tuple(args)))
        except TimeoutError:
            raise MemoryError from None
