"""A real Ray cluster of several nodes on this machine, whose nodes can be killed and join again."""

from __future__ import annotations

import logging
from typing import Any

import psutil
import ray
from ray.cluster_utils import Cluster

from tests.runs import ROOT, descendants, is_running, kill_all

CPUS = 2
STORE_BYTES = 80 * 2**20
TRIES = 4

log = logging.getLogger(__name__)


class Nodes:
    """One head, which is never killed, and other nodes."""

    def __init__(self, count: int) -> None:
        self._cluster = Cluster()
        self._started(include_dashboard=False)
        self.others: list[Any] = []
        for _ in range(count - 1):
            self.join()
        ray.init(
            address=self._cluster.address,
            log_to_driver=False,
            runtime_env={"env_vars": {"PYTHONPATH": str(ROOT)}},
        )

    def join(self) -> str:
        """One more node; its id."""
        self.others.append(self._started())
        return str(self.others[-1].node_id)

    def _started(self, **settings: Any) -> Any:
        """A raylet gives up by itself when its agent takes more than some seconds, as it does on a busy machine."""
        before = set(descendants())
        for _ in range(TRIES - 1):
            try:
                return self._add(settings)
            except Exception as error:  # noqa: BLE001 - Ray raises nothing more special
                log.warning("a node did not start, another is tried: %s", error)
            if self._cluster.head_node is None:  # what else a head is made of outlives its raylet
                kill_all([process for process in descendants() if process not in before])
        return self._add(settings)

    def _add(self, settings: dict[str, Any]) -> Any:
        return self._cluster.add_node(num_cpus=CPUS, object_store_memory=STORE_BYTES, **settings)

    def lose(self, node: Any) -> str:
        """kill -9 of the raylet, its workers and all that they started; the node's id."""
        raylets = [info.process.pid for infos in node.all_processes.values() for info in infos]
        self.others.remove(node)
        kill_all([process for pid in raylets for process in family(pid)])
        self._cluster.remove_node(node, allow_graceful=False)
        return str(node.node_id)

    def close(self) -> None:
        """End every node."""
        ray.shutdown()
        self._cluster.shutdown()


def family(pid: int) -> list[psutil.Process]:
    """A process and all below it, children first to be found, itself first to be killed."""
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def children_of(pid: int) -> list[psutil.Process]:
    """Living processes below one."""
    return [process for process in family(pid)[1:] if is_running(process)]
