"""The weight transfer engine that vLLM's workers run for the backend `file`.

vLLM repacks linear weights after loading, so a plain `load_weights` fails; its layerwise reload restores the loadable
layout, loads, and repacks into the tensors the kernels hold. Invariant: between start and finish a model is not whole,
so an update that fails there must end the engine (`VllmEngine` sees to it).
"""
from __future__ import annotations

from dataclasses import dataclass

from safetensors import safe_open
from vllm.distributed.weight_transfer.base import (
    WeightTransferEngine,
    WeightTransferInitInfo,
    WeightTransferUpdateInfo,
)
from vllm.model_executor.model_loader.reload import finalize_layerwise_reload, initialize_layerwise_reload


@dataclass
class FileInit(WeightTransferInitInfo):
    """Nothing has to be agreed on before the first update."""


@dataclass
class FileUpdate(WeightTransferUpdateInfo):
    """One complete set of weights."""

    path: str
    """a safetensors file with Hugging Face names, readable by every worker"""


class FileWeightTransferEngine(WeightTransferEngine[FileInit, FileUpdate]):
    """Reads weights from a safetensors file into the running model."""

    init_info_cls = FileInit
    update_info_cls = FileUpdate

    def init_transfer_engine(self, init_info: FileInit) -> None:
        """Nothing to set up."""

    def start_weight_update(self) -> None:
        """Put the model into its loadable layout."""
        initialize_layerwise_reload(self.model)

    def update_weights(self, update_info: dict[str, str]) -> None:
        """Load synchronously; the base class would wait for an accelerator, which a CPU has not."""
        self.receive_weights(self.parse_update_info(update_info))

    def receive_weights(self, update_info: FileUpdate) -> None:
        """Stream the file's tensors into the model, in the order of the file."""
        with safe_open(update_info.path, "pt") as file:
            self.model.load_weights((name, file.get_tensor(name)) for name in file.keys())  # noqa: SIM118

    def finish_weight_update(self) -> None:
        """Repack into the tensors the kernels hold."""
        finalize_layerwise_reload(self.model, self.model_config)

    def shutdown(self) -> None:
        """Nothing is held."""
