"""The fingerprint of a program's behaviour: a hash of what it answers on a fixed bank of inputs (ours).

Invariant: two equality programs with one signature that answer alike on the bank have one fingerprint, whatever
their code, names, rule or sampler. Where the bank says too little (the opaque domain, or a program that refuses
or fails on nearly all of it) the program's own draws under fixed keys are added. A feasibility oracle has no
answers to compare; its normalised code stands for it.
"""

import hashlib
from collections.abc import Iterable, Sequence

from envpool.members import Program
from envpool.novelty.bank import VERSION, bank
from envpool.sandbox import Call, Executor, Fault, FaultKind, Result, Value
from envpool.signatures import parse_type, to_wire, wire_bytes

CHUNK = 10  # probes to a job; after one that burnt its limits the rest of the bank is not tried
ENOUGH = 8  # answered probes, and
DISTINCT = 2  # different answers among them, without which the bank says too little
OWN_DRAWS = 24
_COSTLY = (FaultKind.CPU_LIMIT, FaultKind.MEM_LIMIT, FaultKind.OUTPUT_LIMIT)


async def fingerprint(executor: Executor, program: Program, normal: str) -> str:
    """Hex hash of a program's behaviour. Raises InfrastructureFault from the executor."""
    signature = f"{VERSION} {program.domain} -> {program.codomain}"
    if program.oracle == "feasibility":
        return _hash([signature, "feasibility", normal])
    marks = await _on_bank(executor, program)
    answered = [mark for mark in marks if mark not in _SILENT]
    if len(answered) < ENOUGH or len(set(answered)) < DISTINCT:
        marks += await _on_own_draws(executor, program)
    return _hash([signature, *marks])


_REFUSED, _FAILED = "refused", "failed"
_SILENT = (_REFUSED, _FAILED)


async def _on_bank(executor: Executor, program: Program) -> list[str]:
    """What the program answers on each probe."""
    probes = [to_wire(value) for value in bank(parse_type(program.domain))]
    marks: list[str] = []
    for start in range(0, len(probes), CHUNK):
        chunk = probes[start : start + CHUNK]
        accepted = await executor.run(program.source, [Call("accepts", (probe,)) for probe in chunk])
        legal = [probe for probe, accepts in zip(chunk, accepted, strict=True) if _is_yes(accepts)]
        # What it refuses it is not asked: there it may run for ever.
        answers = await executor.run(program.source, [Call("solve", (probe,)) for probe in legal]) if legal else []
        left = iter(answers)
        marks += [_mark(accepts, next(left) if _is_yes(accepts) else accepts) for accepts in accepted]
        if any(isinstance(result, Fault) and result.kind in _COSTLY for result in (*accepted, *answers)):
            break
    return marks


async def _on_own_draws(executor: Executor, program: Program) -> list[str]:
    """Inputs and answers of the program's own sampler, under keys that are the same for every program."""
    keys = [Call("sample", (f"bank:{VERSION}:{place}", place % 3)) for place in range(OWN_DRAWS)]
    draws = _inputs(await executor.run(program.source, keys))
    results = await executor.run(program.source, [Call("solve", (x,)) for x in draws])
    return [
        f"{wire_bytes(x).decode()} {_mark(Value(True), result)}"
        for x, result in zip(draws, results, strict=True)
    ]


def _inputs(results: Sequence[Result]) -> list[object]:
    return [result.value["input"] for result in results if isinstance(result, Value)]


def _mark(accepts: Result, solve: Result) -> str:
    if not _is_yes(accepts):
        return _REFUSED
    return wire_bytes(solve.value).decode() if isinstance(solve, Value) else _FAILED


def _is_yes(accepts: Result) -> bool:
    return isinstance(accepts, Value) and accepts.value is True


def _hash(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode("utf-8", "backslashreplace")).hexdigest()
