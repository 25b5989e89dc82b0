"""Every brick keeps the contract and passes the mechanical gates; together they make long chains possible."""

import itertools
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from statistics import mean
from typing import Any

import pytest

from envpool.bricks import UnknownBrick, read_bricks
from envpool.contract import Recipe
from envpool.sandbox import Call, Sandbox, Value
from envpool.signatures import check, from_wire, parse_type, wire_bytes

BRICKS = dict(read_bricks())
EARLY = range(3)  # the levels that admission looks at first, drawn from more often
LEVELS = range(6)
PROBES = 60
"""Values of a type on which bricks must differ."""


@dataclass(frozen=True)
class Trial:
    """What one brick said and did: inputs and references by level, in wire form."""

    facts: dict[str, Any]
    inputs: dict[int, list[Any]]
    references: dict[int, list[Any]]
    accepted: bool

    @property
    def signature(self) -> str:
        return f"{self.facts['domain']} -> {self.facts['codomain']}"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as running:
        yield running


@pytest.fixture(scope="module")
def trials(sandbox: Sandbox) -> dict[str, Trial]:
    return {name: _try_out(sandbox, name) for name in BRICKS}


def _values(sandbox: Sandbox, name: str, calls: list[Call]) -> list[Any]:
    results = sandbox.run(BRICKS[name], calls)
    assert all(isinstance(result, Value) for result in results), (name, results)
    return [result.value for result in results]


def _samples(sandbox: Sandbox, name: str, level: int, count: int) -> list[Any]:
    calls = [Call("sample", (Recipe(name, seed, level).key(), level)) for seed in range(count)]
    return [sample["input"] for sample in _values(sandbox, name, calls)]


def _try_out(sandbox: Sandbox, name: str) -> Trial:
    """All of a brick in three round trips: a child that is used again costs more than many calls."""
    draws = [(level, seed) for level in LEVELS for seed in range(40 if level in EARLY else 15)]
    sampling = [Call("sample", (Recipe(name, seed, level).key(), level)) for level, seed in draws]
    [facts] = _values(sandbox, name, [Call("inspect")])
    drawn = [sample["input"] for sample in _values(sandbox, name, sampling)]
    answers = _values(sandbox, name, [Call(method, (x,)) for x in drawn for method in ("solve", "accepts")])
    rows = list(zip((level for level, _ in draws), drawn, answers[::2], strict=True))
    inputs = {level: [x for at, x, _ in rows if at == level] for level in LEVELS}
    references = {level: [y for at, _, y in rows if at == level] for level in LEVELS}
    return Trial(facts, inputs, references, all(answers[1::2]))


def _solved(sandbox: Sandbox, name: str, inputs: list[Any]) -> list[Any]:
    return _values(sandbox, name, [Call("solve", (x,)) for x in inputs])


def _failing(trials: dict[str, Trial], holds: Callable[[Trial], bool]) -> list[str]:
    return [name for name, trial in trials.items() if not holds(trial)]


def _early(by_level: dict[int, list[Any]]) -> list[bytes]:
    return [wire_bytes(wire) for level in EARLY for wire in by_level[level]]


def _mean_size(wires: list[Any]) -> float:
    return mean(len(wire_bytes(wire)) for wire in wires)


def test_there_are_at_least_300_bricks_over_at_least_twelve_signatures(trials: dict[str, Trial]) -> None:
    assert len(trials) >= 300
    assert len({trial.signature for trial in trials.values()}) >= 12


def test_inspection_finds_well_formed_equality_oracles_without_findings(trials: dict[str, Trial]) -> None:
    def holds(trial: Trial) -> bool:
        facts = trial.facts
        return facts["error"] is None and not facts["findings"] and facts["oracle"] == "equality"

    assert _failing(trials, holds) == []


def test_rules_are_short_and_speak_of_the_input(trials: dict[str, Trial]) -> None:
    def holds(trial: Trial) -> bool:
        return "the input" in trial.facts["rule"].lower() and len(trial.facts["rule"].split()) <= 60

    assert _failing(trials, holds) == []
    assert len({(trial.signature, trial.facts["rule"]) for trial in trials.values()}) == len(trials)


def test_files_are_short() -> None:
    assert [name for name, source in BRICKS.items() if source.count("\n") > 40] == []


def test_values_have_exactly_the_annotated_types(trials: dict[str, Trial]) -> None:
    for trial in trials.values():
        domain, codomain = parse_type(trial.facts["domain"]), parse_type(trial.facts["codomain"])
        for level in LEVELS:
            for x, reference in zip(trial.inputs[level], trial.references[level], strict=True):
                check(from_wire(x), domain)
                check(from_wire(reference), codomain)


def test_every_brick_accepts_its_own_inputs(trials: dict[str, Trial]) -> None:
    assert _failing(trials, lambda trial: trial.accepted) == []


def test_the_same_recipe_draws_the_same_input_under_another_hash_seed(trials: dict[str, Trial]) -> None:
    with Sandbox(hash_seed=2) as other:
        for name, trial in trials.items():
            for level in EARLY:
                assert _samples(other, name, level, 5) == trial.inputs[level][:5], name
            assert _solved(other, name, trial.inputs[2][:5]) == trial.references[2][:5], name


def test_inputs_grow_with_every_level(trials: dict[str, Trial]) -> None:
    def holds(trial: Trial) -> bool:
        sizes = [_mean_size(trial.inputs[level]) for level in LEVELS]
        return all(smaller < larger for smaller, larger in itertools.pairwise(sizes))

    assert _failing(trials, holds) == []


def test_level_zero_is_short(trials: dict[str, Trial]) -> None:
    assert _failing(trials, lambda trial: max(len(wire_bytes(x)) for x in trial.inputs[0]) <= 80) == []


def test_answers_vary(trials: dict[str, Trial]) -> None:
    def holds(trial: Trial) -> bool:
        enough = 2 if trial.facts["codomain"] == "bool" else 3
        return len(set(_early(trial.references))) >= enough

    assert _failing(trials, holds) == []


def test_level_zero_holds_many_instances(trials: dict[str, Trial]) -> None:
    assert _failing(trials, lambda trial: len({wire_bytes(x) for x in trial.inputs[0]}) >= 10) == []


def test_guessing_seldom_pays(trials: dict[str, Trial]) -> None:
    def holds(trial: Trial) -> bool:
        inputs, references = _early(trial.inputs), _early(trial.references)
        constant = Counter(references).most_common(1)[0][1]
        echo = sum(x == reference for x, reference in zip(inputs, references, strict=True))
        empty = sum(reference in (b'""', b"[]", b"0", b'{"d":[]}') for reference in references)
        return max(constant, echo, empty) / len(references) < 0.6

    assert _failing(trials, holds) == []


def test_no_long_text_to_find_stands_in_every_input(trials: dict[str, Trial]) -> None:
    def holds(trial: Trial) -> bool:
        references = [wire for level in EARLY for wire in trial.references[level]]
        shown = [json.dumps(wire) for level in EARLY for wire in trial.inputs[level]]
        return (
            trial.facts["codomain"] != "str"
            or max(map(len, references)) <= 5
            or not all(reference in text for reference, text in zip(references, shown, strict=True))
        )

    assert _failing(trials, holds) == []


def test_no_two_bricks_behave_alike(sandbox: Sandbox, trials: dict[str, Trial]) -> None:
    probes: dict[str, list[Any]] = defaultdict(list)
    for trial in trials.values():
        probes[trial.facts["domain"]] += [trial.inputs[level][0] for level in EARLY]
    for domain, inputs in probes.items():  # of some types there are seventy bricks
        probes[domain] = random.Random(domain).sample(inputs, min(len(inputs), PROBES))

    seen: dict[tuple[str, bytes], str] = {}
    for name, trial in trials.items():
        inputs = probes[trial.facts["domain"]]
        accepted = _values(sandbox, name, [Call("accepts", (x,)) for x in inputs])
        legal = [x for x, accepts in zip(inputs, accepted, strict=True) if accepts]
        outputs = iter(_solved(sandbox, name, legal))
        behaviour = json.dumps([next(outputs) if accepts else "refused" for accepts in accepted]).encode()
        twin = seen.setdefault((trial.signature, behaviour), name)
        assert twin == name


def test_chains_of_length_six_start_from_every_domain(trials: dict[str, Trial]) -> None:
    edges = {(trial.facts["domain"], trial.facts["codomain"]) for trial in trials.values()}
    domains = {domain for domain, _ in edges}

    @cache
    def longest(domain: str, left: int) -> int:
        steps = [longest(codomain, left - 1) for start, codomain in edges if start == domain] if left else []
        return 1 + max(steps) if steps else 0

    assert [domain for domain in domains if longest(domain, 6) < 6] == []
    assert len(domains) >= 12


def test_a_selection_takes_names_and_patterns_and_keeps_the_order() -> None:
    names = [name for name, _ in read_bricks(["strings/upper_case", "pairs/*", "pairs/swap"])]
    assert names == sorted(set(names))
    assert "strings/upper_case" in names
    assert all(name.startswith("pairs/") for name in names if name != "strings/upper_case")
    assert read_bricks(["*"]) == read_bricks()
    assert read_bricks([]) == []


@pytest.mark.parametrize("wrong", ["strings/uper_case", "upper_case", "upper-case"])
def test_an_unknown_name_is_refused_with_the_nearest_right_one(wrong: str) -> None:
    with pytest.raises(UnknownBrick, match="strings/upper_case"):
        read_bricks([wrong])
