"""Sections on policies, how they are asked, trained, served and evaluated, and what earns a reward."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from cluster.sections.section import Count, Section, Share
from cluster.spelling import BaseUrl, Variable


class RunConfig(Section):
    name: str = Field(
        "",
        pattern=r"^([A-Za-z0-9][A-Za-z0-9._-]*)?$",
        description="empty: the newest unfinished PRESET-N, or a new one",
    )
    folder: Path = Field(Path("runs"), description="where run folders lie; a local disk, since LMDB is there")
    seed: int = 0
    steps: Count = Field(24, description="learner updates in all")
    audit: bool = Field(
        False, description="an audit hook in every actor fails the run if pool source is compiled there"
    )
    actors: dict[str, str] = Field(
        default_factory=dict, description="other classes in place of ours, as kind: module:Class"
    )


class PolicyConfig(Section):
    name: str = Field("main", pattern=r"^[A-Za-z0-9_-]+$")
    attached: bool = Field(False, description="set for the actors of a policy that was attached to the run")
    model: str = Field("smollm2-135m", description="smollm2-135m, a folder, or a Hugging Face name")
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = Field(
        "auto", description="of the solvers; auto is bfloat16 where the hardware multiplies it, else float32"
    )
    max_model_len: Count = 1024
    max_tokens: Count = Field(32, description="longest response of a solver")
    temperature: Annotated[float, Field(gt=0)] = Field(
        1.0, description="ours; the same in learner and solver"
    )
    system: str = Field("", description="system message; empty: none")
    examples: tuple[tuple[str, str], ...] = Field((), description="worked examples: (user, assistant) turns")
    endpoint: BaseUrl = Field(
        "",
        description="of a served run: base URL of the trainer's OpenAI-compatible server; empty: its policy is never "
        "asked to write, to review or for calibration",
    )
    key_env: Variable = Field(
        "", description="environment variable on the nodes that holds that server's key"
    )


class SolverConfig(Section):
    count: Count = 1
    gpus: Annotated[float, Field(ge=0)] = Field(0, description="a tensor-parallel rank; 0 is a CPU engine")
    tensor_parallel: Count = Field(1, description="ranks of a solver, all on one node")
    cpus: Annotated[float, Field(ge=0)] = Field(0, description="CPUs reserved for a solver with GPUs")
    max_num_seqs: Count = 64
    kv_cache_gib: Annotated[float, Field(gt=0)] = 2.0
    threads: Annotated[int, Field(ge=0)] = Field(0, description="CPU threads; 0: all cores")
    concurrent_groups: Count = Field(64, description="groups of one solver that are generated at once")


class LearnerConfig(Section):
    ranks: Count = 1
    gpus: Annotated[float, Field(ge=0)] = Field(0, description="above 0: each rank has a whole one")
    ranks_per_node: Annotated[int, Field(ge=0)] = Field(
        0, description="ranks in one placement group, on one node; 0: all"
    )
    threads: Annotated[int, Field(ge=0)] = Field(0, description="CPU threads a rank; 0: cores / ranks")
    lr: Annotated[float, Field(gt=0)] = 1e-6
    clip_low: Share = 0.2
    clip_high: Share = Field(0.28, description="paper (RACES)")
    groups_per_step: Count = 128
    group_size: Annotated[int, Field(ge=2)] = 16
    micro_batch: Count = 8
    max_staleness: Annotated[int, Field(ge=0)] = Field(
        1, description="policy versions a group may lag behind"
    )
    turns: bool = Field(False, description="no new groups while the learner trains; for shared cores")
    checkpoint_every: Count = Field(10, description="updates")
    keep_checkpoints: Count = 2
    generator_advantage: Share = Field(0.3, description="paper (EvoEnv)")
    precision: Literal["auto", "bf16", "fp32"] = Field(
        "auto", description="of the passes; parameters stay float32"
    )


class RewardConfig(Section):
    format_bonus: Annotated[float, Field(ge=0.0, le=0.5)] = Field(
        0.0, description="of a solver's readable answer: shaping, logged apart"
    )
    validation: Share = Field(0.2, description="part of a generator's reward; 0 drops it, the others stay")
    quality: Share = Field(0.5, description="the same, for success near quality_centre")
    novelty: Share = Field(0.3, description="the same, for being unlike all that was admitted")
    quality_centre: Share = Field(0.3, description="the solver's success that is worth most; paper (EvoEnv)")
    quality_width: Annotated[float, Field(gt=0)] = Field(0.2, description="standard deviation around it")


class EvaluationConfig(Section):
    enabled: bool = True
    questions: Count = Field(400, description="of training families, kept out of training by instance hash")
    held_out_questions: Annotated[int, Field(ge=0)] = Field(100, description="of families set apart whole")
    level: Annotated[int, Field(ge=0)] = 0
    temperature: Annotated[float, Field(ge=0)] = 1.0
    repeats: Count = Field(1, description="answers a question; success is their mean")


class ServeConfig(Section):
    """A trainer elsewhere in the learner's place: over HTTP it takes questions and brings back answers to be judged."""

    enabled: bool = Field(
        False, description="without learner, buffer and evaluator; the policy is the trainer's"
    )
    host: str = Field(
        "127.0.0.1", description="to listen at, on the head node; another one needs serve.token_env"
    )
    port: Annotated[int, Field(ge=0, le=65535)] = Field(
        8321, description="0: a free one, which a restart keeps"
    )
    token_env: Variable = Field(
        "", description="environment variable there that holds the token clients must send"
    )
