"""vLLM plug-in: the weight transfer backend `file`, and a child that never outlives its parent.

vLLM loads the entry point `vllm.general_plugins` in every process it starts, so `register` reaches the engine core and
its workers. The backend speaks vLLM's own init / start / update / finish protocol; the weights are a safetensors file
with Hugging Face names, readable by every worker. On GPU vLLM's `nccl` and `ipc` backends take its place. Light to
import: vLLM and torch only where they are used. It does not decide when weights change: `VllmEngine` does.
"""
from __future__ import annotations

import multiprocessing
import os
import signal
import threading

BACKEND = "file"
WATCHER = "envolve-parent-watch"


def register() -> None:
    """Entry point; harmless when called twice."""
    from vllm.distributed.weight_transfer.factory import WeightTransferEngineFactory

    if BACKEND not in WeightTransferEngineFactory._registry:
        WeightTransferEngineFactory.register_engine(
            BACKEND, "training.policy.file_weights_backend", "FileWeightTransferEngine")
    _end_with_parent()


def _end_with_parent() -> None:
    """An engine core whose parent was killed would keep its memory and its cores; waiting costs no processor time."""
    parent = multiprocessing.parent_process()
    if parent is None or any(thread.name == WATCHER for thread in threading.enumerate()):
        return

    def watch() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, name=WATCHER, daemon=True).start()
