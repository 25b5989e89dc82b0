"""The jobs of a soak and their run: four of five are attacks, and the fifth must have its right answer."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from attack_table import ATTACKS
from hostile import HONEST, PLANTED

from envpool.sandbox import Call, Fault, Result, Sandbox, SandboxLimits, Value
from envpool.sandbox.ladder import Rung
from tests.soak.footprint import Footprint, footprint, grown

LIMITS = SandboxLimits(
    cpu_seconds=0.1,
    wall_seconds=20.0,
    memory_mib=64,
    output_kib=64,
    open_children=4,
    jobs_per_zygote=1 << 40,  # one zygote serves all of them: a fresh one would hide what it gathers
)
HOSTILE_SHARE = 0.8
FRESH_SHARE = 0.7


@dataclass(frozen=True, slots=True)
class Errand:
    """One job of a soak; `wanted` is None where any result will do, as long as it is contained."""

    name: str
    source: str
    calls: tuple[Call, ...]
    fresh: bool
    wanted: tuple[Result, ...] | None = None


@dataclass(slots=True)
class Outcome:
    """What a soak came to."""

    footprints: list[Footprint] = field(default_factory=list)
    verdicts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def violations(self) -> list[str]:
        return [*self.wrong, *grown(self.footprints)]


def errands(seed: int) -> Iterator[Errand]:
    """Without end."""
    rng = random.Random(seed)
    while True:
        fresh = rng.random() < FRESH_SHARE
        if rng.random() < HOSTILE_SHARE:
            attack = rng.choice(ATTACKS)
            yield Errand(attack.name, attack.source(), (attack.call(),), fresh)
        else:
            yield _honest(rng, fresh)


def _honest(rng: random.Random, fresh: bool) -> Errand:
    numbers = [rng.randint(0, 9) for _ in range(5)]
    if rng.random() < 0.5:
        calls = (
            Call("verify", (numbers, sum(numbers))),
            Call("verify", (numbers, -1)),
            Call("solve", (numbers,)),
        )
        return Errand("honest", HONEST, calls, fresh, (Value(1.0), Value(0.0), Value(sum(numbers))))
    x = {"t": [numbers, sum(numbers[:2])]}
    calls = (Call("verify", (x, numbers[:2])), Call("verify", (x, [99])))
    return Errand("honest, planted", PLANTED, calls, fresh, (Value(1.0), Value(0.0)))


def run(
    sandbox: Sandbox, jobs: int, every: int, seed: int, tell: Callable[[str], None] = lambda text: None
) -> Outcome:
    """So many jobs, with a look at the footprint after each `every` of them. Raises InfrastructureFault."""
    outcome = Outcome()
    zygote = sandbox.zygote_pid
    for done, errand in enumerate(errands(seed), 1):
        _run(sandbox, errand, outcome)
        if sandbox.zygote_pid != zygote:
            outcome.wrong.append(f"{errand.name} passed for trouble of the machine: the zygote was replaced")
            zygote = sandbox.zygote_pid
        if done % every == 0:
            opened = sandbox.metrics()["open_children"]
            outcome.footprints.append(footprint(done, zygote or 0, opened, _others(sandbox)))
            verdicts = ", ".join(f"{name} {count}" for name, count in sorted(outcome.verdicts.items()))
            tell(f"{done} jobs: {verdicts}")
        if done == jobs:
            return outcome
    raise AssertionError("errands never end")


def _others(sandbox: Sandbox) -> int:
    """Children that no job has: one forked ahead, and process 1 where they have a namespace."""
    return 2 if sandbox.rung == Rung.STRICT else 1


def _run(sandbox: Sandbox, errand: Errand, outcome: Outcome) -> None:
    results = sandbox.run(errand.source, errand.calls, fresh=errand.fresh)
    outcome.verdicts.update(result.kind.value if isinstance(result, Fault) else "ok" for result in results)
    if errand.wanted is not None and tuple(results) != errand.wanted:
        outcome.wrong.append(f"{errand.name}: {results}, not {errand.wanted}")
