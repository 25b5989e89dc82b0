"""Environments and the pool they live in; no Ray, no torch.

Only the contract is imported eagerly, because programs import it inside the sandbox's child.
"""

from importlib import import_module
from typing import Any

from envpool.contract import Environment, Planted

_LAZY = {"PoolReader": "envpool.store", "PoolWriter": "envpool.store", "Sandbox": "envpool.sandbox"}

__all__ = ["Environment", "Planted", "PoolReader", "PoolWriter", "Sandbox"]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'envpool' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)
