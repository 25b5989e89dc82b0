"""verl's vLLM rollout on CPU cores: the server is verl's, only how it takes new weights differs.

vLLM repacks linear weights for its CPU kernels after loading, so verl's plain `load_weights` fails there; vLLM's own
layerwise reload brings the loadable layout back, loads, and repacks.
"""

from __future__ import annotations

from typing import Any

import ray
from verl.workers.rollout.vllm_rollout.bucketed_weight_transfer import BucketedWeightReceiver
from verl.workers.rollout.vllm_rollout.utils import vLLMColocateWorkerExtension
from verl.workers.rollout.vllm_rollout.vllm_async_server import vLLMHttpServer, vLLMReplica
from vllm.model_executor.model_loader.reload import finalize_layerwise_reload, initialize_layerwise_reload


class CpuWorkerExtension(vLLMColocateWorkerExtension):
    """What verl adds to vLLM's worker."""

    def update_weights_from_ipc(
        self, peft_config: Any = None, base_sync_done: bool = False, use_shm: bool = True
    ) -> None:
        """Take one whole set of weights from verl's rank, over shared memory."""
        model = self.model_runner.model
        receiver = BucketedWeightReceiver(self._get_zmq_handle(), self.device, use_shm)
        initialize_layerwise_reload(model)
        # a layer is loaded when its last tensor has come, and the buffer is used again before that
        receiver.receive_weights(
            lambda bucket, _: model.load_weights((name, x.clone()) for name, x in bucket)
        )
        finalize_layerwise_reload(model, self.model_runner.vllm_config.model_config)


class CpuServer(vLLMHttpServer):
    """verl's server with that extension."""

    def _get_worker_extension_cls(self) -> str:
        return "vllm_on_cpu.CpuWorkerExtension"


class CpuReplica(vLLMReplica):
    """verl's replica with that server."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.server_class = ray.remote(CpuServer)
