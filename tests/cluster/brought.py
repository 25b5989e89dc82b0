"""A job of the test of what travels to a cluster: its actor says what it has; later it is asked again.

python brought.py make     as a job: makes the actor, which outlives the job, with what a run would give it
python brought.py again    later: kills the actor's process, asks the one that Ray makes, and a child of it
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

import ray

NAME, NAMESPACE = "brought", "envolve-test-of-submission"


@ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)
class Witness:
    """Says where it has the project and torch from."""

    def told(self) -> dict[str, Any]:
        import torch

        import actors
        import cluster

        plugins = metadata.entry_points(group="vllm.general_plugins", name="envolve_file_weights")
        return {
            "pid": os.getpid(),
            "plugins": [plugin.load().__module__ for plugin in plugins],
            "actors": str(actors.__file__),
            "cluster": str(cluster.__file__),
            "torch": str(torch.__file__),
        }

    def of_a_child(self) -> dict[str, Any]:
        return ray.get(Witness.remote().told.remote())


def make() -> dict[str, Any]:
    from cluster.submission import environment

    with tempfile.TemporaryDirectory() as scratch:
        ray.init(
            namespace=NAMESPACE, runtime_env=environment(Path(scratch), local=False), log_to_driver=False
        )
    return ray.get(Witness.options(name=NAME, lifetime="detached").remote().told.remote())


def again() -> list[dict[str, Any]]:
    ray.init(namespace=NAMESPACE, log_to_driver=False)
    witness = ray.get_actor(NAME)
    ray.kill(witness, no_restart=False)
    told = [ray.get(witness.told.remote()), ray.get(witness.of_a_child.remote())]
    ray.kill(witness)
    return told


if __name__ == "__main__":
    print("told:" + json.dumps(make() if sys.argv[1] == "make" else again()))  # noqa: T201 - it is a program
