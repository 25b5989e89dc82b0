"""verl on a machine without an accelerator, through verl's own plug-in registries.

Import this module before any other verl module: verl asks for its platform while it is imported. Invariant: whoever
set `VERL_PLATFORM` has chosen (a learner does for its ranks); otherwise it becomes "cpu" where torch sees no CUDA
device, and verl's own path is taken where it does. It starts no process group and touches no model.
"""

from __future__ import annotations

import os
import types
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

if "VERL_PLATFORM" not in os.environ and not torch.cuda.is_available():
    os.environ["VERL_PLATFORM"] = "cpu"
os.environ.setdefault("VERL_LOGGING_LEVEL", "WARN")

ON_CPU = os.environ.get("VERL_PLATFORM") == "cpu"
"""Whether a rank that runs in this process computes on CPU cores."""

from verl.plugin.platform.platform_base import PlatformBase  # noqa: E402  (after the choice above)
from verl.plugin.platform.platform_cuda import PlatformCUDA  # noqa: E402
from verl.plugin.platform.platform_manager import PlatformRegistry, get_platform, set_platform  # noqa: E402


def _cpu_device_module() -> types.SimpleNamespace:
    """`torch.cpu` plus the memory, device and seed calls verl makes on a device module; `torch.cpu` lacks them."""
    module = types.SimpleNamespace(**{name: getattr(torch.cpu, name) for name in torch.cpu.__all__})
    for name in ("max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved"):
        setattr(module, name, lambda *_: 0)
    for name in ("empty_cache", "ipc_collect", "reset_peak_memory_stats", "set_device"):
        setattr(module, name, lambda *_: None)
    module.mem_get_info = lambda *_: (0, 0)
    module.current_device = lambda: "cpu"
    module.get_device_name = lambda *_: "cpu"
    module.get_device_properties = lambda *_: types.SimpleNamespace(total_memory=0)
    module.get_rng_state, module.set_rng_state = torch.get_rng_state, torch.set_rng_state
    module.manual_seed = module.manual_seed_all = torch.manual_seed
    return module


@PlatformRegistry.register(platform="cpu")
class CpuPlatform(PlatformBase):
    """verl's platform interface answered for CPU cores; collectives run over gloo."""

    _module = _cpu_device_module()

    @property
    def device_name(self) -> str:
        return "cpu"

    @property
    def vendor_name(self) -> str:
        return "cpu"

    @property
    def device_module(self) -> Any:
        return self._module

    def is_available(self) -> bool:
        return True

    def current_device(self) -> str:
        return "cpu"

    def device_count(self) -> int:
        return 1

    def set_device(self, device_index: int) -> None:
        return None

    def synchronize(self, device_index: int | None = None) -> None:
        return None

    def manual_seed(self, seed: int) -> None:
        torch.manual_seed(seed)

    def manual_seed_all(self, seed: int) -> None:
        torch.manual_seed(seed)

    def set_allocator_settings(self, settings: str) -> None:
        return None

    def empty_cache(self) -> None:
        return None

    def get_device_capability(self, device_index: int = 0) -> tuple[None, None]:
        return None, None

    def communication_backend_name(self) -> str:
        return "gloo"

    def visible_devices_envvar(self) -> str:
        return "CUDA_VISIBLE_DEVICES"

    @contextmanager
    def nvtx_range(self, msg: str) -> Iterator[None]:
        yield

    def profiler_start(self) -> None:
        return None

    def profiler_stop(self) -> None:
        return None

    def ray_resource_name(self) -> str:
        return "CPU"

    def ray_resource_options(self, num_gpus: float) -> dict[str, Any]:
        return {"num_cpus": num_gpus}

    def ray_noset_envvars(self) -> list[str]:
        return []

    def is_ipc_supported(self) -> bool:
        return False

    def cudart(self) -> None:
        return None


def serve(gpus: bool) -> None:
    """Have this process place ranks on GPUs or on CPU cores, whatever it sees itself: it may hold no GPU of its own."""
    wanted = PlatformCUDA if gpus else CpuPlatform
    if not isinstance(get_platform(), wanted):
        set_platform(wanted())


with warnings.catch_warnings():
    # verl warns of every optional engine that is not installed; this project uses none of them
    warnings.simplefilter("ignore")
    import verl.workers.engine  # noqa: F401
