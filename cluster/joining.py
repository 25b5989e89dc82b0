"""The Ray cluster that a run is started in: the one that RAY_ADDRESS names, else one of this machine for this run.

Invariant: before anything of the run is made, the cluster is known to hold it, and its actors are given the project's
own code where they might not have it. Where the cluster answers is written into the run's folder, for commands that
come later; no token is. What the driver does in the cluster is `cluster.driver`'s.
"""

from __future__ import annotations

import json
import logging
import os
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray
from ray._private.node import Node
from ray.exceptions import AuthenticationError

from actors import roster
from cluster import wanted
from cluster.config import Config
from cluster.control import CLIENT
from cluster.placement import demand, missing, nodes_from
from cluster.run_folder import PLACE_FILE
from cluster.submission import environment
from cluster.token import presented, refusal
from cluster.wanted import Wanted
from envpool.store import PoolReader, StoreError

logger = logging.getLogger(__name__)


class ClusterRefused(RuntimeError):
    """The run cannot be in this cluster; the message says what is missing and the way out."""


class RayNotStarted(RuntimeError):
    """Ray did not come up on this machine, though tried again; the message says why and the way out."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where this process is: the address of the cluster, and whether it ends with this process."""

    address: str
    local: bool


@contextmanager
def cluster_of(config: Config, lasting: bool = False) -> Iterator[Cluster]:
    """Join the cluster that RAY_ADDRESS names (a submitted job has it), else start a local one for this run.

    `lasting`: it must outlive this process. Raises ClusterRefused, RayNotStarted, SubmissionError, ConnectionError.
    """
    address = os.environ.get("RAY_ADDRESS", "")
    _refuse_address(address, lasting)
    settings = {"namespace": config.namespace, "log_to_driver": False, "logging_level": logging.ERROR}
    with presented(address):
        _join(settings, config, address)
        try:
            _refuse_small(config)
            cluster = Cluster(str(ray.get_runtime_context().gcs_address), local=not address)
            _write_place(config, cluster)
            yield cluster
        finally:
            ray.shutdown()


def _join(settings: dict[str, Any], config: Config, address: str) -> None:
    with tempfile.TemporaryDirectory(prefix="envolve-") as scratch:
        if brought := environment(Path(scratch), local=not address):
            settings = settings | {"runtime_env": brought}
        try:
            if address:
                ray.init(**settings)
            else:
                _start_ray(settings | _own(config))
        except (AuthenticationError, ConnectionError) as error:
            if told := refusal(address, error):
                raise ClusterRefused(told) from error
            raise


def _start_ray(settings: dict[str, Any]) -> None:
    """Ray on this machine. On one that is busy it may not come up within its own time, so it is tried twice."""
    for tries in (1, 2):
        try:
            ray.init(**settings)
            return
        except ValueError:  # of the settings
            raise
        except Exception as error:  # Ray has no narrower type for what it meets at its start
            _clear_away(error)
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
            if tries == 2:
                raise RayNotStarted(
                    f"Ray did not start on this machine, tried twice ({reason}). The machine may be too busy or short "
                    f"of memory; run the same command again when it is less so"
                ) from error
            logger.warning("Ray did not start (%s); once more", reason)


def _clear_away(error: Exception) -> None:
    """End what a failed start left running; Ray itself forgets a node that did not come up."""
    ray.shutdown()
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if isinstance(node := frame.f_locals.get("self"), Node):
            node.kill_all_processes(check_alive=False, allow_graceful=False, wait=True)
            return


def _refuse_address(address: str, lasting: bool) -> None:
    if lasting and not address:
        raise ClusterRefused(
            "there is no cluster that could outlive this command: RAY_ADDRESS is not set. Start one with "
            "`ray start --head` and set RAY_ADDRESS=auto, or submit the run with `ray job submit`"
        )
    if address.startswith(("http", CLIENT)):
        raise ClusterRefused(
            f"RAY_ADDRESS={address} is for `ray job submit` and for commands that look or control; a run is started "
            f"with `ray job submit`, or on a node of the cluster with RAY_ADDRESS=auto"
        )


def _own(config: Config) -> dict[str, Any]:
    """A light local cluster: no dashboard, and enough declared CPUs for the learner's ranks on a small machine."""
    cpus = max(os.cpu_count() or 1, config.learner.ranks + 1)
    # All actors of a run are made at once; with fewer at a time Ray warns of them as of a leak.
    os.environ.setdefault("RAY_worker_maximum_startup_concurrency", str(len(roster.posts(config)) // 4 + 2))
    return {"num_cpus": cpus, "include_dashboard": False, "address": "local"}


def _refuse_small(config: Config) -> None:
    if lacks := missing(demand(config, _wanted(config)), nodes_from(ray.nodes())):
        raise ClusterRefused(f"the cluster cannot hold run {config.run.name!r}: it {'; it '.join(lacks)}")


def _wanted(config: Config) -> Wanted:
    """What the run will want: as it was left, where its pool is here, with what the configuration changed since."""
    try:
        with PoolReader.open(config.pool_folder) as reader:
            return wanted.begun(wanted.kept(reader.state(wanted.KEY), config), config)
    except StoreError:
        return wanted.first(config)


def _write_place(config: Config, cluster: Cluster) -> None:
    place = {"address": cluster.address, "namespace": config.namespace, "started": time.time()}
    path = config.run_folder / PLACE_FILE
    scratch = path.with_suffix(".tmp")
    scratch.write_text(json.dumps(place), encoding="utf-8")
    scratch.replace(path)
