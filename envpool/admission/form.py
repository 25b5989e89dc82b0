"""Gates "size", "L1", "imports" and "scan": is it a well-formed program at all?

Invariant: the source is read inside the sandbox's child only; here it is text. Nothing is executed yet.
"""

from dataclasses import dataclass
from typing import Any

from envpool.admission.verdict import Refusal
from envpool.members import Program
from envpool.sandbox import ALLOWED_IMPORTS, Call, Executor, Fault, Mode
from envpool.signatures import SignatureError, ValueType, parse_type

MAX_SOURCE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Candidate:
    """A well-formed program with its types, and the forms of its code that copies are found by."""

    program: Program
    domain: ValueType
    codomain: ValueType
    normal: str
    stripped: str
    skeleton: str = ""
    packages: tuple[str, ...] = ()
    """Third-party modules that it imports, dotted where a part of a package is meant."""


def bare(source: str) -> Program:
    """The program of which only the source is known; enough for its id."""
    return Program(source, "", "", "", "")


async def size(source: str) -> None:
    """Refuses what no program can be, before a child sees it."""
    if not source.strip():
        raise Refusal("the source is empty")
    try:
        length = len(source.encode())
    except UnicodeEncodeError as error:
        raise Refusal(f"character {error.start} of the source is a lone surrogate") from error
    if length > MAX_SOURCE_BYTES:
        raise Refusal(f"the source has {length} bytes, more than {MAX_SOURCE_BYTES}")


async def read(executor: Executor, source: str, packages: bool = False) -> Candidate:
    """L1, imports and scan; a program imports packages by right alone. Raises Refusal naming the gate."""
    # Fresh: a child that has run the program would tell what the program lets it tell.
    (result,) = await executor.run(source, [Call("inspect")], mode=Mode.SAMPLE, packages=packages)
    if isinstance(result, Fault):
        raise Refusal(f"the source cannot be read: {result.kind}: {result.detail}", "L1")
    report = result.value
    if report["error"]:
        raise Refusal(report["error"]["reason"], report["error"]["gate"])
    if report["findings"]:
        raise Refusal(_findings(report["findings"]), "scan", findings=report["findings"])
    return _candidate(source, report)


def _findings(findings: list[dict[str, Any]]) -> str:
    return "; ".join(f"line {finding['line']}: {finding['message']}" for finding in findings[:3])


def _candidate(source: str, report: dict[str, Any]) -> Candidate:
    program = Program(
        source, report["name"], report["rule"], report["domain"], report["codomain"], report["oracle"]
    )
    try:
        domain, codomain = parse_type(program.domain), parse_type(program.codomain)
    except SignatureError as error:
        raise Refusal(f"no signature: {error}", "L1") from error
    digests = report["normal"], report["stripped"], report["skeleton"]
    return Candidate(program, domain, codomain, *digests, _packages(report["imports"]))


def _packages(modules: list[str]) -> tuple[str, ...]:
    return tuple(sorted(module for module in modules if module.partition(".")[0] not in ALLOWED_IMPORTS))
