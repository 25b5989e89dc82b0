"""Running untrusted Python: a warm, locked fork server; typed results; trouble of the machine kept apart.

    from envpool.sandbox import Call, Sandbox

    with Sandbox() as sandbox:                                  # or rung="strict", "standard"
        [result] = sandbox.run(source, [Call("solve", ([3, 1],))])

A result is a `Value`, read strictly from what the program wrote, or a `Fault` that it earned: a `FaultKind` and a
text. When the machine fails instead, `InfrastructureFault` is raised and there is no verdict. `SandboxUnavailable` says
which wall cannot be put up here and what would help; `envolve doctor` says it for the whole machine.

Its README has examples that run, the modes, the faults and the rungs. Where to read on: `ladder` for how strong a
sandbox is and who decides; `inside.walls` for the walls in their order and `inside.selftest` for their proof;
`inside.syscalls` and `inside.filter` for what a program may ask of the kernel; `wire` for what is believed of its
words; `child` for the limits; `executor` for the modes and for async code; `solutions` for answers that are code;
`audit` for programs that behave only while they are judged.

What it does not do: it does not stand against a hole in the kernel behind the allowed calls, nor hide the time, nor
know whether a result is true.

Names load on first use, because the zygote imports this package too and must stay small.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "ALLOWED_IMPORTS": "results", "Call": "results", "Done": "results", "Fault": "results", "FaultKind": "results",
    "InfrastructureFault": "results", "Job": "results", "Mode": "results", "Result": "results",
    "SandboxLimits": "results", "SandboxUnavailable": "results", "Value": "results",
    "Sandbox": "supervisor", "BatchExecutor": "executor", "Executor": "executor", "LocalExecutor": "executor",
    "Auditor": "audit", "Observation": "audit", "Refutation": "audit",
    "Case": "solutions", "Judged": "solutions", "Judgement": "solutions", "judge_solution": "solutions",
}  # fmt: skip

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'envpool.sandbox' has no attribute {name!r}")
    return getattr(import_module(f"envpool.sandbox.{_HOMES[name]}"), name)
