"""The one contract of environments, and the data that stands for their use: recipes, instances, outcomes.

Loaded inside the sandbox's child, so it needs the standard library only and stays light. Programs derive from
`Environment`; nothing here runs one, stores one or reads an answer.
"""

import hashlib
import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from envpool.signatures import canonical_bytes, literal


class Environment:
    """Base class of every program: exactly one subclass to a source.

    An equality oracle defines `solve(x: X) -> Y`; a feasibility oracle returns `Planted` from `sample`, has
    no `solve` and defines `verify(self, x: X, answer: Y)`.
    """

    rule: str = ""  # the whole question, without the concrete input

    def sample(self, rng: random.Random, level: int) -> Any:
        """A public input, or Planted(input, solution); all randomness from `rng`; level 0 is trivial."""
        raise NotImplementedError

    def solve(self, x: Any) -> Any:
        """The one right answer to `x`."""
        raise NotImplementedError

    def show(self, x: Any) -> str:
        """The input as the prompt shows it."""
        return literal(x)

    def verify(self, x: Any, answer: Any) -> float:
        """The verdict in [0, 1] on a well-typed answer; 1.0 is success."""
        return 1.0 if canonical_bytes(answer) == canonical_bytes(self.solve(x)) else 0.0

    def accepts(self, x: Any) -> bool:
        """Whether a well-typed value may be an input; asked before a chain is extended."""
        return True


@dataclass(frozen=True, slots=True)
class Planted:
    """What a feasibility oracle samples: a public input and one hidden valid answer to it."""

    x: object
    solution: object


def seeded(key: str) -> random.Random:
    """The generator that a text stands for; the same on every machine, Python version and hash seed."""
    return random.Random(int.from_bytes(hashlib.sha256(key.encode()).digest(), "big"))


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that is needed to rebuild an instance from the pool."""

    member: str
    seed: int
    level: int
    attempt: int = 0  # draws before this one whose chain did not execute

    def key(self) -> str:
        return f"{self.member}:{self.seed}:{self.level}:{self.attempt}"

    def rng(self) -> random.Random:
        return seeded(self.key())

    def again(self) -> "Recipe":
        """The next draw of the same recipe."""
        return replace(self, attempt=self.attempt + 1)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Recipe":
        return cls(**data)


@dataclass(frozen=True, slots=True)
class Instance:
    """One question: what a solver sees and what scoring needs. Values are in wire form.

    One slot for a program, one a step for SEQUENTIAL, one a problem for PARALLEL, one for the order of SORT and SELECT.
    """

    recipe: Recipe
    prompt: str
    answer_types: tuple[str, ...]
    references: tuple[object, ...]  # None where an oracle has no single right answer
    inputs: tuple[object, ...]

    @property
    def digest(self) -> str:
        """Hex sha256 of the prompt; tells held-out instances from training ones."""
        return hashlib.sha256(self.prompt.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Scored:
    """A verdict. Raises ValueError unless it is a finite number in [0, 1]."""

    score: float

    def __post_init__(self) -> None:
        # A comparison, because isfinite() of a huge integer overflows; NaN fails it too.
        if type(self.score) not in (int, float) or not 0 <= self.score <= 1:
            raise ValueError(f"not a verdict: {self.score!r}")

    @property
    def success(self) -> bool:
        return self.score == 1.0


@dataclass(frozen=True, slots=True)
class Unparsed:
    """No answer could be read: counts as verdict 0, apart from wrong answers."""

    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """There is no verdict: the sample is dropped, never rewarded. The infrastructure failed, or a field says what."""

    reason: str
    culprit: str = ""  # the member that broke, to be quarantined: the recipe's own, or a part of it
    killed: bool = False  # what the answer had run was killed, which speaks against nobody

    @property
    def machine(self) -> bool:
        """Whether the infrastructure failed."""
        return not (self.culprit or self.killed)


Outcome = Scored | Unparsed | Failed


def render_prompt(rule: str, shown: str, answer_line: str) -> str:
    """The question of a program as the solver sees it."""
    return f"{rule}\n\nInput: {shown}\n\n{answer_line}"
