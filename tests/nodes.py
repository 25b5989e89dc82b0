"""A Ray cluster of several nodes on this machine, each from a `ray start` of its own, as an operator makes one.

A node's processes can be killed all at once, as a machine that loses power loses them, and nodes can join; the head can
be lost with all else and come back at the same address. Cluster, sockets and logs lie in a folder of their own.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import psutil
from ray.util.state import list_placement_groups

from tests.heads import free_port
from tests.runs import ROOT, is_running, kill_all

CPUS = 2
STORE_BYTES = 80 * 2**20
START_SECONDS = 300.0
COMMAND_SECONDS = 600.0
TRIES = 3
"""Ray gives up on a node of its own that is slow to start, as on a machine that does much else."""
BEGUN = "This command will now block"
RAYS_OWN = "ray::(IDLE|DashboardAgent|RuntimeEnvAgent)"
OF_A_RUN = "ray::|VLLM|EngineCore|envpool|launch"


class Node:
    """One `ray start --block` and all below it."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process = process
        self.log = log

    @property
    def id(self) -> str:
        """Ray's name of the node."""
        return self._of_raylet("node_id")

    @property
    def ip(self) -> str:
        """The address that the node has for others."""
        return self._of_raylet("node_ip_address")

    def begun(self) -> bool:
        """Waits until the node is one of the cluster; whether it is."""
        deadline = time.monotonic() + START_SECONDS
        while BEGUN not in self.log.read_text():
            if self.process.poll() is not None or time.monotonic() > deadline:
                return False
            time.sleep(0.2)
        return True

    def family(self) -> list[psutil.Process]:
        """The node's processes that live, its actors and what they started among them."""
        return [process for process in family(self.process.pid) if is_running(process)]

    def kill(self) -> None:
        """kill -9 of all that is the node's, until nothing of it is left."""
        while found := self.family():
            kill_all(found)
            self.process.wait(30)

    def _of_raylet(self, option: str) -> str:
        lines = (command_of(process) for process in self.family())
        found = (re.search(rf"raylet --.*--{option}=(\S+)", line) for line in lines)
        return next(match[1] for match in found if match)


class Nodes:
    """A head with its dashboard, and the others; `variables` are set on all of them."""

    def __init__(self, folder: Path, **variables: str) -> None:
        self._folder = folder
        self._variables = variables
        self._port, self._dashboard = free_port(), free_port()
        self._started = 0
        self.head: Node | None = None
        self.others: list[Node] = []
        self.address = ""
        """Where the cluster answers, for RAY_ADDRESS."""

    @property
    def all(self) -> list[Node]:
        """The head first."""
        return [*([self.head] if self.head else []), *self.others]

    def begin(self, others: int) -> None:
        """A head, at the same address each time, and so many other nodes."""
        client = free_port()
        self.head = self._start(
            "--head", f"--port={self._port}", f"--dashboard-port={self._dashboard}",
            f"--ray-client-server-port={client}", f"--temp-dir={self._folder}",
        )  # fmt: skip
        self.address = f"{self.head.ip}:{self._port}"
        for _ in range(others):
            self.join()

    def join(self) -> Node:
        """One more node."""
        self.others.append(self._start(f"--address={self.address}"))
        return self.others[-1]

    def lose(self, node: Node) -> None:
        """Kill a node that is not the head."""
        self.others.remove(node)
        node.kill()

    def lose_all(self) -> None:
        """Kill every node, the head first."""
        nodes, self.head, self.others = self.all, None, []
        kill_all([process for node in nodes for process in node.family()])
        for node in nodes:
            node.kill()

    def envolve(self, *arguments: str) -> str:
        """A command of an operator on one of the nodes; what it prints."""
        done = subprocess.run(
            [str(Path(sys.executable).with_name("envolve")), *arguments], cwd=ROOT, capture_output=True, text=True,
            env=self._environment() | {"RAY_ADDRESS": self.address}, timeout=COMMAND_SECONDS, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    def groups(self, prefix: str) -> list[str]:
        """Placement groups that are not removed, by the beginning of their names."""
        found = list_placement_groups(address=f"http://127.0.0.1:{self._dashboard}", limit=1000, timeout=60)
        return [group.name for group in found if group.name.startswith(prefix) and group.state != "REMOVED"]

    def _start(self, *options: str) -> Node:
        for _ in range(TRIES):
            node = self._try(*options)
            if node.begun():
                return node
            node.kill()
        raise AssertionError(f"no node: {node.log.read_text()[-2000:]}")

    def _try(self, *options: str) -> Node:
        self._started += 1
        log = self._folder.with_suffix(f".node-{self._started}.log")
        with log.open("wb") as output:
            process = subprocess.Popen(
                [str(Path(sys.executable).with_name("ray")), "start", "--block", *options, f"--num-cpus={CPUS}",
                 f"--object-store-memory={STORE_BYTES}", f"--dashboard-agent-listen-port={free_port()}",
                 f"--metrics-export-port={free_port()}", "--disable-usage-stats"],
                env=self._environment(), stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        return Node(process, log)

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
        # Ray starts workers at niceness 15: whatever else a test machine does would starve them.
        kept["RAY_worker_niceness"] = "0"
        return kept | self._variables


def command_of(process: psutil.Process) -> str:
    """A process's command line; empty once it is gone."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def family(pid: int) -> list[psutil.Process]:
    """A process and all below it."""
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def of_a_run(processes: list[psutil.Process]) -> dict[int, str]:
    """Those that a run made, by id: actors, engines, zygotes; Ray's own, idle workers among them, are not."""
    lines = {process.pid: command_of(process) for process in processes}
    return {
        pid: line
        for pid, line in lines.items()
        if re.search(OF_A_RUN, line) and not re.search(RAYS_OWN, line)
    }
