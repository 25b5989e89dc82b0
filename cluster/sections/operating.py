"""Sections on running it: sandboxes, supervision, alarms, metrics."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cluster.sections.section import Count, Seconds, Section, Share
from cluster.spelling import Names, Wandb


class SandboxConfig(Section):
    count: Count = 2
    cpus: Annotated[float, Field(ge=0)] = Field(0, description="CPUs reserved for each; 0: shared cores")
    cpu_seconds: Seconds = Field(10.0, description="CPU time of a call")
    wall_seconds: Seconds = Field(
        100.0, description="the net; reaching it with little CPU used is no verdict"
    )
    memory_mib: Count = 512
    output_kib: Count = 256
    open_children: Count = Field(32, description="programs whose child is kept open, a zygote")
    queue: Count = Field(1024, description="jobs that one sandbox holds; others go elsewhere or wait")
    audit_share: Share = Field(
        0.03,
        description="of the draws that are used, recomputed in another zygote, of another sandbox if possible",
    )
    rung: Literal["auto", "strict", "standard", "wasm", "unsafe"] = Field(
        "auto", description="auto: strict, or standard where the node has no more; a named one or none"
    )
    allow_unsafe: bool = Field(False, description="the second key to rung unsafe, which is no sandbox at all")
    packages: Names = Field(
        (), description="that imported environments use, installed on the nodes: a name, or name=folder"
    )


class SupervisionConfig(Section):
    heartbeat_seconds: Seconds = Field(10.0, description="an answer later than this counts as missed")
    missed_heartbeats: Count = Field(6, description="in a row, after which an actor's process is killed")
    longest_pause_seconds: Seconds = Field(60.0, description="before an actor that keeps dying is made again")
    node_failures: Count = Field(
        8, description="deaths of actors on a node in ten minutes that quarantine it"
    )
    quarantine_minutes: Seconds = 30.0
    drain_seconds: Seconds = Field(300.0, description="for an actor to finish what is under way")
    orphaned_seconds: Seconds = Field(60.0, description="a finished run without a driver ends itself after")


class AlarmsConfig(Section):
    infrastructure_rate: Share = Field(0.05, description="share of responses that got no verdict")
    stall_minutes: Seconds = Field(10.0, description="without a learner update")
    logprob_diff: Annotated[float, Field(gt=0)] = Field(
        0.2, description="mean difference of log-probabilities between trainer and sampler"
    )
    replica_lag_seconds: Seconds = 2.0
    zero_admissions_minutes: Seconds = 30.0
    map_fill: Share = Field(0.8, description="share of pool.map_size_gib that the pool has grown to")
    report_seconds: Seconds = Field(30.0, description="an actor that is silent for longer")


class MetricsConfig(Section):
    prometheus: bool = Field(True, description="through Ray's metrics agent of the node")
    tensorboard: bool = True
    wandb: Wandb = "offline"
    wandb_project: str = "envolve"
