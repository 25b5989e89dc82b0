"""Recipes rebuilt and judged over one sandbox, as bytes that can be compared; also in a process of its own.

`python -m rebuilding HASH_SEED` prints what this process makes of RECIPES.
"""

import asyncio
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import pairwise

from envpool.answers import write
from envpool.composition.fusion import fuse
from envpool.contract import Instance, Recipe
from envpool.execution import Examiner, ProgramFault
from envpool.members import Composite, Member, Origin, Program
from envpool.sandbox import Call, Mode, Result, Sandbox, Value
from envpool.shipped import shipped
from envpool.signatures import from_wire, parse_type

SHIPPED = [*shipped("all", "none"), *shipped("none", "all")[::4]]
"""All seeds and a share of the bricks, which are alike in what matters here."""
LEVELS = (0, 3)
SEEDS = (0, 1)


class OneSandbox:
    """A sandbox as an executor, all calls in `fresh` forks or none."""

    def __init__(self, sandbox: Sandbox, fresh: bool) -> None:
        self._sandbox = sandbox
        self._fresh = fresh

    async def run(
        self,
        source: str,
        calls: Sequence[Call],
        *,
        mode: Mode = Mode.VERIFY,
        replica: int = 0,
        packages: bool = False,
    ) -> list[Result]:
        return self._sandbox.run(source, calls, fresh=self._fresh)


def pool_of(
    sandbox: Sandbox, sources: Iterable[str] = tuple(each.source for each in SHIPPED)
) -> dict[str, Member]:
    """Members of these programs, by id, and composites of every operator: of neighbours, and of programs that fit."""
    programs = [_program(sandbox, source) for source in sources]
    pairs = [pair for pair in list(pairwise(programs))[::3] if "dict" not in {each.domain for each in pair}]
    materials: list[Program | Composite] = [*programs, *(fuse("PARALLEL", [[a], [b]]) for a, b in pairs)]
    functions = [each for each in programs if each.oracle == "equality"]
    for first in functions[::3]:
        others = [each for each in functions if each is not first]
        second = next((each for each in others if each.domain == first.codomain), None)
        if second is None:
            continue
        like = [each for each in others if each is not second and each.domain == second.domain][:2]
        chain = [[first, second]]
        materials += [fuse("SEQUENTIAL", chain), fuse("SORT", chain), fuse("SELECT", chain, like)]
    return {material.id: Member(material, Origin.SEED) for material in materials}


def _program(sandbox: Sandbox, source: str) -> Program:
    [report] = sandbox.run(source, [Call("inspect")])
    assert isinstance(report, Value), report
    facts = report.value
    return Program(source, *(facts[name] for name in ("name", "rule", "domain", "codomain", "oracle")))


def recipes(pool: Iterable[str]) -> list[Recipe]:
    return [Recipe(member, seed, level) for member in pool for seed in SEEDS for level in LEVELS]


def rebuilt(
    sandbox: Sandbox, pool: dict[str, Member], wanted: Iterable[Recipe], *, fresh: bool = False
) -> dict[str, str]:
    """Prompt, references and verdicts of each recipe as text, by its key."""
    examiner = Examiner(OneSandbox(sandbox, fresh), pool.__getitem__)
    return {recipe.key(): asyncio.run(_rebuilt(examiner, recipe)) for recipe in wanted}


async def _rebuilt(examiner: Examiner, recipe: Recipe) -> str:
    try:
        instance = await examiner.build(recipe)
    except ProgramFault as fault:  # a chain whose second step accepts nothing that the first one makes
        return f"no instance: {fault}"
    outcomes = await examiner.score_all(instance, _responses(instance))
    return json.dumps([asdict(instance), [repr(outcome) for outcome in outcomes]])


def _responses(instance: Instance) -> list[str]:
    """The reference, something else, and no answer at all."""
    types = [parse_type(text) for text in instance.answer_types]
    right = write([from_wire(reference) for reference in instance.references], types)
    return [right, "<answer>1</answer>", "<answer>[1, 2]</answer>", "no idea"]


def main() -> None:
    with Sandbox(hash_seed=int(sys.argv[1])) as sandbox:
        pool = pool_of(sandbox, json.load(sys.stdin))
        sys.stdout.write(json.dumps(rebuilt(sandbox, pool, recipes(pool))))


if __name__ == "__main__":
    main()
