"""Environments and the pool they live in; no Ray, no torch.

Only the contract is imported eagerly, because programs import it inside the sandbox's child.
"""

from importlib import import_module
from typing import Any

from envpool.contract import Environment, Planted

_LAZY = {
    "NoVerdict": "envpool.exchange.rewards",
    "Pool": "envpool.pool",
    "PoolReader": "envpool.store",
    "PoolWriter": "envpool.store",
    "Sandbox": "envpool.sandbox",
    "reward_of": "envpool.exchange.rewards",
}

__all__ = ["Environment", "NoVerdict", "Planted", "Pool", "PoolReader", "PoolWriter", "Sandbox", "reward_of"]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'envpool' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)
