"""The gates a candidate program passes before it joins the pool, in order of cost, and the record of why it fell.

Names load on first use, so that the verdict types cost nothing where no program is judged.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "Admission": "admission",
    "Attempt": "tryout",
    "AdmissionSettings": "settings",
    "Passed": "verdict",
    "Register": "register",
    "Rejected": "verdict",
    "Tryout": "tryout",
    "Verdict": "verdict",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'envpool.admission' has no attribute {name!r}")
    return getattr(import_module(f"envpool.admission.{_HOMES[name]}"), name)
