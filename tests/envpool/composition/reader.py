"""A reader: answers questions knowing nothing but the text of a prompt and what the rules in it mean.

It stands for a person with paper. It is told no types, no members, no references and no recipe; where a prompt
leaves something out, it fails.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from envpool.signatures import canonical_bytes, literal
from tests.envpool.composition.in_process import Refused

Function = Callable[[object], object]
"""What a rule says to do with a value. Raises Refused for a value that the rule is not about."""

PATIENCE = 400
"""Characters of a value that the reader goes on with while it looks for an order."""
NUMBERED = re.compile(r"(?:Step |Problem )?([0-9]+): (.*)")
HOW_MANY = re.compile(r"Use exactly ([0-9]+) of them, none twice")


class Reader:
    """Reads a prompt and writes an answer."""

    def __init__(self, meaning: Mapping[str, Function]) -> None:
        self._meaning = meaning

    def answer(self, prompt: str) -> str:
        """The text of an answer, in the form that the end of the prompt asks for."""
        *parts, form = prompt.split("\n\n")
        opening = parts[0].split("\n")[0]
        if opening == "Solve each problem by itself.":
            return _written([self._last(part) for part in parts[1:]], form)
        steps, shown = self._steps(parts[0]), _shown(parts[1])
        if opening.endswith("Give every result."):
            return _written(self._results(steps, shown["Input"]), form)
        if "in the right order, turn the input into the output." in opening:
            chosen = HOW_MANY.search(opening)
            size = int(chosen[1]) if chosen else len(steps)
            return _written([self._order(steps, size, shown["Input"], shown["Output"])], form)
        return _written([self._meaning[parts[0]](shown["Input"])], form)

    def _steps(self, text: str) -> dict[int, Function]:
        """What the numbered lines say to do."""
        lines = (NUMBERED.fullmatch(line) for line in text.split("\n"))
        return {int(line[1]): self._meaning[line[2]] for line in lines if line}

    def _last(self, problem: str) -> object:
        """The result of one problem among several."""
        rule = problem.split("\n")[0].partition(": ")[2]
        if rule in self._meaning:
            return self._meaning[rule](_shown(problem)["Input"])
        return self._results(self._steps(problem.partition("\n")[2]), _shown(problem)["Input"])[-1]

    def _results(self, steps: Mapping[int, Function], value: object) -> list[object]:
        results = []
        for number in sorted(steps):
            value = steps[number](value)
            results.append(value)
        return results

    def _order(self, steps: Mapping[int, Function], size: int, value: object, target: object) -> list[int]:
        """The first order, in the order of the numbers, that takes the value to the target."""
        return next(_orders(steps, [], size, value, canonical_bytes(target)))


def _orders(
    steps: Mapping[int, Function], taken: list[int], size: int, value: object, target: bytes
) -> Iterator[list[int]]:
    if len(taken) == size:
        if canonical_bytes(value) == target:
            yield taken
        return
    for number in steps.keys() - set(taken):
        try:
            result = steps[number](value)
        except Refused:
            continue
        if len(literal(result)) <= PATIENCE:
            yield from _orders(steps, [*taken, number], size, result, target)


def _shown(text: str) -> dict[str, object]:
    """The values behind "Input: " and "Output: "."""
    lines = (line.partition(": ") for line in text.split("\n"))
    return {name: ast.literal_eval(shown) for name, _, shown in lines if name in ("Input", "Output")}


def _written(values: Sequence[object], form: str) -> str:
    """The values where the form of the answer has its gaps."""
    head, opened, rest = form.partition("<answer>")
    assert head.strip() == "Answer as"
    assert opened
    gaps = rest.removesuffix("</answer>").strip("\n").split("\n")
    assert len(gaps) == len(values)
    if len(gaps) == 1:
        return f"<answer>{literal(values[0])}</answer>"
    lines = [f"{gap.partition(': ')[0]}: {literal(value)}" for gap, value in zip(gaps, values, strict=True)]
    return "\n".join(["<answer>", *lines, "</answer>"])
