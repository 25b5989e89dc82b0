"""Running untrusted programs: a warm, locked fork server; typed results; trouble of the machine kept apart.

Names load on first use, because the zygote imports this package too and must stay small.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "ALLOWED_IMPORTS": "results", "Call": "results", "Done": "results", "Fault": "results", "FaultKind": "results",
    "InfrastructureFault": "results", "Job": "results", "Mode": "results", "Result": "results",
    "SandboxLimits": "results", "SandboxUnavailable": "results", "Value": "results",
    "Sandbox": "supervisor", "BatchExecutor": "executor", "Executor": "executor", "LocalExecutor": "executor",
    "Auditor": "audit", "judge_solution": "solutions",
}  # fmt: skip

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'envpool.sandbox' has no attribute {name!r}")
    return getattr(import_module(f"envpool.sandbox.{_HOMES[name]}"), name)
