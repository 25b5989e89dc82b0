"""One task of reasoning-gym as a program: what is written into it, and how an item is told apart from all others.

    level n      the task's curriculum at global level n, its range the newest step; above the last one nothing changes
    input        the question, and the level and seed from which `verify` makes the entry again
    reference    the entry's answer, so a task without one is no program
    verdict      the task's own `score_answer`

An item is the first of a data set whose seed is drawn from our randomness. reasoning-gym seeds item i with seed + i, so
data sets with near seeds share items; with one item each, two draws are the same item only where they have one seed.
Invariant: all that decides what a level asks is in the source, so that a member stays what it was, whatever a later
curriculum says; only the task's own code is the package's. reasoning-gym is imported when it is first asked for.
"""

import pprint
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Any

from envpool.exchange.offers import Offer, chosen
from envpool.exchange.provenance import LICENCE, MADE_BY, TASK
from envpool.exchange.reasoning_gym.held_out import HELD_OUT

PACKAGE = "reasoning_gym"
"""As the sandbox is told of it."""
FAMILY = "reasoning-gym"
THEIR_LICENCE = "Apache-2.0"
MIXTURES = ("composite",)
"""Data sets that are made of others and ask nothing of their own."""
_OURS = ("seed", "size")
_PROGRAM = '''\
"""{name} of reasoning-gym {version} ({licence}), at the levels of its own curriculum."""

import copy
import functools
import random

from reasoning_gym import create_dataset

from envpool import Environment, Planted

LEVELS = {levels}


@functools.lru_cache(maxsize=1)
def asked(level, seed):
    """A data set of one item, and that item, which is asked about many times in a row."""
    dataset = create_dataset("{name}", seed=seed, size=1, **LEVELS[level])
    return dataset, dataset[0]


class {program}(Environment):
    rule = "The input is a task about {title}. Answer it in the form that it asks for."

    def sample(self, rng: random.Random, level: int) -> Planted:
        level, seed = min(level, len(LEVELS) - 1), rng.randrange(2**32)
        _, entry = asked(level, seed)
        return Planted({{"question": entry["question"], "item": f"{{level:02d}} {{seed:010d}}"}}, entry["answer"])

    def show(self, x: dict) -> str:
        return x["question"]

    def verify(self, x: dict, answer: str) -> float:
        dataset, entry = asked(*map(int, x["item"].split()))
        return float(dataset.score_answer(answer, copy.deepcopy(entry)))
'''


def tasks() -> list[str]:
    """The names of all tasks. Raises ImportError without reasoning-gym."""
    return sorted(set(_factory().DATASETS) - set(MIXTURES))


def programs(names: Sequence[str] = ("all",), *, held_out: Sequence[str] = HELD_OUT) -> list[Offer]:
    """The named tasks (patterns allowed, "all"), those of `held_out` set apart.

    Raises UnknownTask, and ImportError without reasoning-gym.
    """
    return [_offer(name, held_out=name in held_out) for name in chosen(names, tasks(), "reasoning-gym")]


def _offer(name: str, *, held_out: bool) -> Offer:
    installed = version("reasoning-gym")
    source = _PROGRAM.format(
        name=name,
        version=installed,
        licence=THEIR_LICENCE,
        levels=_written(_levels(name)),
        program="".join(part.capitalize() for part in name.split("_")),
        title=name.replace("_", " "),
    )
    facts = {LICENCE: THEIR_LICENCE, MADE_BY: f"{FAMILY} {installed}", TASK: name}
    return Offer(f"{FAMILY}/{name}", source, (PACKAGE,), facts, held_out)


def _factory() -> Any:
    """Their register of tasks. Raises ImportError without reasoning-gym."""
    return import_module("reasoning_gym.factory")


def _levels(name: str) -> list[dict[str, Any]]:
    """What each level sets, where that is not the task's default: those that the task takes, each once in a row.

    One without a curriculum.
    """
    factory = _factory()
    if not factory.has_curriculum(name):
        return [{}]
    standard = _settings(factory.DATASETS[name][1]())
    levels: list[dict[str, Any]] = []
    for level in range(_count(name)):
        if (settings := _at(name, level)) is None:
            break
        written = {key: value for key, value in settings.items() if value != standard[key]}
        if written not in levels[-1:]:
            levels.append(written)
    return levels or [{}]


def _count(name: str) -> int:
    return max(
        (len(each.levels) for each in _factory().create_curriculum(name).attributes.values()), default=0
    )


def _at(name: str, level: int) -> Mapping[str, Any] | None:
    """The settings of a level; None where the task refuses what its curriculum says."""
    coaching = import_module("reasoning_gym.coaching.base_curriculum")
    curriculum = _factory().create_curriculum(name)
    curriculum.set_global_level(level)
    newest = coaching.DefaultCurriculumContext(mode=coaching.RangeAttributeMode.UPPER_BOUND)
    try:
        config = curriculum.generate_configuration(context=newest)
        getattr(config, "validate", lambda: None)()
    except (AssertionError, ValueError):
        return None
    return _settings(config)


def _settings(config: Any) -> dict[str, Any]:
    return {key: value for key, value in vars(config).items() if key not in _OURS}


def _written(levels: Sequence[Mapping[str, Any]]) -> str:
    """As the source shows it: a tuple with a line, or more, a level."""
    lines = [pprint.pformat(dict(level), width=110, compact=True, sort_dicts=False) for level in levels]
    indented = [line.replace("\n", "\n    ") for line in lines]
    return "(\n" + "".join(f"    {line},\n" for line in indented) + ")"
