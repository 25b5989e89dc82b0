"""A real Ray cluster of several nodes on this machine, whose nodes can be killed and join again."""

from __future__ import annotations

from typing import Any

import psutil
import ray
from ray.cluster_utils import Cluster

from tests.runs import ROOT, is_running, kill_all

CPUS = 2
STORE_BYTES = 80 * 2**20


class Nodes:
    """One head, which is never killed, and other nodes."""

    def __init__(self, count: int) -> None:
        self._cluster = Cluster(
            initialize_head=True,
            head_node_args={
                "num_cpus": CPUS, "include_dashboard": False, "object_store_memory": STORE_BYTES,
            },
        )  # fmt: skip
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
        node = self._cluster.add_node(num_cpus=CPUS, object_store_memory=STORE_BYTES)
        self.others.append(node)
        return str(node.node_id)

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
