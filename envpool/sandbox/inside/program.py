"""A program at work: loading its source, and each method of the contract with checked arguments and results; and a
solver's own program, which is no environment and has one function.

Invariant: each call gets a fresh object, inputs that went through the wire form and freshly seeded randomness.
This is quality control; the walls are the kernel's. Results are checked again outside.
"""

import ast
import random
import sys
from types import ModuleType
from typing import Any

from envpool.contract import Environment, Planted, seeded
from envpool.sandbox.inside.form import Malformed, parse, read_form
from envpool.signatures import (
    LIMITS,
    IllegalValue,
    Signature,
    ValueType,
    check,
    check_type,
    from_wire,
    to_wire,
)  # fmt: skip

MODULE = "program"
FILE = f"<{MODULE}>"


class Program:
    """One loaded source. Raises what the source raises, or Malformed.

    `known` is what its form says (class, signature, oracle), where that was read before: reading takes longer than
    loading.
    """

    def __init__(self, source: str, known: tuple[str, Signature, str] | None = None) -> None:
        code: ast.Module | str = source
        if known is None:
            code = parse(source)
            form = read_form(code)
            known = form.node.name, form.signature, form.oracle
        name, self._signature, self._oracle = known
        self._class: type[Environment] = _loaded(code)[name]
        if not (isinstance(self._class, type) and issubclass(self._class, Environment)):
            raise Malformed("its class was replaced while it loaded")
        random.seed(hash(MODULE))  # differs between hash seeds: whoever uses it fails the two-zygote rerun
        self._randomness = random.getstate()  # putting it back is quicker than seeding again

    def call(self, method: str, args: list[Any]) -> Any:
        """The wire form of one result. Raises IllegalValue, or whatever the program raises."""
        random.setstate(self._randomness)
        match method, args:
            case "sample", [str(key), int(level)]:
                return self._sample(key, level)
            case "solve", [x]:
                return _outward(self._do("solve", self._input(x)), self._signature.codomain)
            case "verify", [x, answer]:
                return self._verify(x, answer)
            case "accepts", [x]:
                return self._accepts(x)
            case "show", [x]:
                return self._show(x)
        raise IllegalValue(f"{method} does not take these {len(args)} argument(s)")

    def _sample(self, key: str, level: int) -> dict[str, Any]:
        drawn = self._do("sample", seeded(key), level)
        planted = None
        if type(drawn) is Planted:
            planted = _outward(drawn.solution, self._signature.codomain)
            drawn = drawn.x
        elif self._oracle == "feasibility":
            raise IllegalValue("a feasibility oracle must sample a Planted")
        wire = _outward(drawn, self._signature.domain)
        return {"input": wire, "planted": planted, "shown": self._show(wire)}

    def _verify(self, x: Any, answer: Any) -> float:
        given = _inward(answer, self._signature.codomain)
        score = self._do("verify", self._input(x), given)
        # A comparison, because isfinite() of a huge integer overflows; NaN fails it too.
        if type(score) not in (bool, int, float) or not 0 <= score <= 1:
            raise IllegalValue(f"a score must be a number in [0, 1], not {_brief(score)}")
        return float(score)

    def _accepts(self, x: Any) -> bool:
        verdict = self._do("accepts", self._input(x))
        if type(verdict) is not bool:
            raise IllegalValue(f"accepts must answer with a bool, not {_brief(verdict)}")
        return verdict

    def _show(self, x: Any) -> str:
        shown = self._do("show", self._input(x))
        check(shown, ValueType("str"), LIMITS)
        return shown

    def _do(self, method: str, *args: Any) -> Any:
        """What the method of a fresh object says."""
        return getattr(self._class(), method)(*args)

    def _input(self, wire: Any) -> Any:
        return _inward(wire, self._signature.domain)


class Solution:
    """A solver's own program: a source with a function `solve(x)`. Raises what the source raises, or Malformed.

    It knows no types: what it returns is checked against the question's outside, where the reference is.
    """

    def __init__(self, source: str) -> None:
        self._solve = _loaded(parse(source)).get("solve")
        if not callable(self._solve):
            raise Malformed("it defines no function `solve`")

    def answer(self, args: list[Any]) -> Any:
        """The wire form of one answer. Raises IllegalValue, or whatever the program raises."""
        (x,) = args
        random.seed(hash(MODULE))
        return to_wire(self._solve(from_wire(x)))  # type: ignore[misc]


def _loaded(source: ast.Module | str) -> dict[str, Any]:
    """The names of a source that was run."""
    code = compile(source, FILE, "exec", dont_inherit=True)
    module = ModuleType(MODULE)
    sys.modules[MODULE] = module  # dataclasses and enum look their module up
    exec(code, module.__dict__)
    return module.__dict__


def _inward(wire: Any, vtype: ValueType) -> Any:
    value = from_wire(wire)
    check_type(value, vtype)
    return value


def _outward(value: Any, vtype: ValueType) -> Any:
    wire = to_wire(value)
    check_type(value, vtype)
    return wire


def _brief(value: object) -> str:
    return repr(value) if type(value) in (bool, float) else f"a {type(value).__name__}"
