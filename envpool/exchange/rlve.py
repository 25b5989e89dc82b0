"""RLVE-Gym (arXiv 2511.07317), from a checkout, as programs of our contract.

A task there is a file with a `VerifiableEnvironment` (generate, ask, score) and one with a `ParameterController` (what
gets harder). Both become part of the program, word for word, so that a member is frozen, needs the checkout no more and
is on every machine what it was when it was judged. What was around them is written anew, in `_PROGRAM`: randomness is
handed in where theirs is global, the sandbox has the clock, and answers are read by our grammar, whose tags are theirs.

    level n      the controller after n updates, which is RLVE's difficulty n, and any one of its parameters
    input        the question, the controller's parameter, and the recipe from which `verify` makes it again
    reference    the task's `reference_answer`; without one there is no program
    verdict      1 where RLVE's accuracy is 1; else its reward where that is positive, and so less than 1

Invariant: the checkout is text here, and only a sandbox's child runs it. Level, parameter and seed ask what they ask in
RLVE-Gym.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from envpool.exchange.offers import Offer, chosen
from envpool.exchange.provenance import LICENCE, MADE_BY, TASK

FAMILY = "rlve"
THEIR_LICENCE = "MIT"
PACKAGES = ("networkx", "numpy", "sympy")
"""What some of its tasks are made with; all others need the standard library alone."""
ENVIRONMENTS, CONTROLLERS = "environments", "parameter_controllers"
_TASKS = re.compile(r'"(\w+)"\s*:\s*(\w+)')
_HOMES = re.compile(r"^from Gym\.\w+\.(\w+)\S* import (.+)$", re.MULTILINE)
_PROVIDED = re.compile(r"^(?:import random|from Gym\.\S+ import .+)[ \t]*$", re.MULTILINE)
"""Lines whose names the program has already."""
_TEXTS = re.compile(  # and remarks, in which a quotation mark begins no text
    r"""#[^\n]*|(?P<marks>"{3}|'{3})(?:\\.|(?!(?P=marks)).)*(?P=marks)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""",
    re.DOTALL,
)
_PACKAGE = re.compile(rf"^\s*(?:import|from) ({'|'.join(PACKAGES)})\b", re.MULTILINE)
_PROGRAM = '''\
"""{name} of RLVE-Gym ({licence}), as it was when it was imported."""

import copy
from random import Random

from envpool import Environment, Planted

TRIES = 16  # seeds for one question; a generator may give up


class VerifiableEnvironment:
    """What a task builds on. An answer comes without tags; a scorer that raises says that it is wrong."""

    passing_reward_threshold = 1.0

    def __init__(self, **settings):
        self.seed = self.parameter = None

    def processor(self, output):
        return self._process(output)

    def verdict(self, answer):
        try:
            reward = self.scorer(answer)
        except Exception:
            return 0.0
        return 1.0 if reward >= self.passing_reward_threshold - 1e-6 else max(0.0, reward)


class ParameterController:
    def __init__(self, **settings):
        pass


class TimeoutException(Exception):
    """Never raised: the sandbox has the clock."""


def timeout(seconds):
    return lambda function: function


def environment(random):
{environment}

    return {environment_class}()


def controller(random):
{controller}

    return {controller_class}()


def made(level, place, seed):
    """What a recipe stands for: the controller's parameter, and the task, without one where its generator gives up."""
    difficulty = controller(Random(0))
    for _ in range(level):
        difficulty.update()
    parameters = difficulty.get_parameter_list()
    parameter = parameters[place % len(parameters)]
    task = environment(Random(seed))
    task.seed, task.parameter = seed, copy.deepcopy(parameter)
    try:
        task._generate()
    except Exception:
        task.parameter = None
    return parameter, task


class {name}(Environment):
    rule = "The input is a task. Solve it, and give the answer in the form that it asks for."

    def sample(self, rng, level):
        for _ in range(TRIES):
            place, seed = rng.randrange(1000), rng.randrange(2**31)
            parameter, task = made(level, place, seed)
            if task.parameter is not None:
                break
        else:
            raise ValueError("its generator gives up at every seed")
        if (reference := task.parameter.get("reference_answer")) is None:
            raise ValueError("it gives no reference answer")
        recipe = f"{{level:03d}} {{place:03d}} {{seed:010d}}"
        parameter = {{key: each if isinstance(each, (int, str)) else repr(each) for key, each in parameter.items()}}
        x = {{"task": task._prompt_generate(), "parameter": parameter, "recipe": recipe}}
        return Planted(x, str(reference))

    def show(self, x):
        return x["task"]

    def verify(self, x: dict, answer: str) -> float:
        _, task = made(*map(int, x["recipe"].split()))
        return task.verdict(answer)
'''


class NoCheckout(ValueError):
    """A folder is no checkout of RLVE-Gym; the message says what it lacks."""


def offers(checkout: Path, names: Sequence[str] = ("all",)) -> list[Offer]:
    """The chosen tasks of a checkout, by RLVE's own names or patterns of them. Raises NoCheckout, UnknownTask."""
    gym = checkout / "Gym" if (checkout / "Gym").is_dir() else checkout
    environments, controllers = _listed(gym, ENVIRONMENTS), _listed(gym, CONTROLLERS)
    found = chosen(names, [name for name in environments if name in controllers], f"the checkout {checkout}")
    return [_offer(name, gym, environments[name], controllers[name]) for name in found]


def _offer(name: str, gym: Path, environment: tuple[str, str], controller: tuple[str, str]) -> Offer:
    texts = [
        _read(gym / part / module / file)
        for part, (module, _), file in (
            (ENVIRONMENTS, environment, "environment.py"),
            (CONTROLLERS, controller, "parameter_controller.py"),
        )
    ]
    source = _PROGRAM.format(
        name=name,
        licence=THEIR_LICENCE,
        environment=_indented(texts[0]),
        environment_class=environment[1],
        controller=_indented(texts[1]),
        controller_class=controller[1],
    )
    facts = {LICENCE: THEIR_LICENCE, MADE_BY: "RLVE-Gym", TASK: name}
    packages = sorted(set(_PACKAGE.findall("\n".join(texts))))
    return Offer(f"{FAMILY}/{name}", source, tuple(packages), facts)


def _listed(gym: Path, part: str) -> dict[str, tuple[str, str]]:
    """Each task's module and class, as the package lists them."""
    text = _read(gym / part / "__init__.py")
    homes = {each.strip(): module for module, classes in _HOMES.findall(text) for each in classes.split(",")}
    tasks = {name: (homes[each], each) for name, each in _TASKS.findall(text) if each in homes}
    if not tasks:
        raise NoCheckout(f"{gym / part / '__init__.py'} lists no task of RLVE-Gym")
    return tasks


def _indented(text: str) -> str:
    """The module as the body of a function; what stands within its texts stays where it is."""
    text = _PROVIDED.sub("", text).strip()
    within: set[int] = set()
    for found in _TEXTS.finditer(text):
        first = text.count("\n", 0, found.start()) + 1
        within.update(range(first + 1, first + found[0].count("\n") + 1))
    return "\n".join(
        line if number in within or not line.strip() else f"    {line}"
        for number, line in enumerate(text.split("\n"), 1)
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NoCheckout(f"{path} cannot be read ({error}); an RLVE-Gym checkout has it") from error
