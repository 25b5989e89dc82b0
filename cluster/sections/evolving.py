"""Sections on the pool: what it begins with, who adds to it, by which gates, and how it is drawn from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, get_args

from pydantic import Field

from cluster.sections.section import Count, Seconds, Section, Share
from cluster.spelling import BaseUrl, Choice, Folders, Names, Operators, Sizes, Subset, Variable
from envpool.curation import Mode
from envpool.members import OperatorName


class GeneratorConfig(Section):
    enabled: bool = True
    count: Count = 1
    interval_seconds: Seconds = Field(60.0, description="pause between two groups of proposals")
    group_size: Annotated[int, Field(ge=2)] = 4
    few_shot: Annotated[int, Field(ge=0)] = 2
    max_tokens: Count = 512
    seed_floor: Share = Field(0.2, description="share of few-shot parents that are seeds; paper (EvoEnv)")
    train: bool = Field(True, description="generator groups with variance join the learner's batches")
    max_staleness: Annotated[int, Field(ge=0)] = Field(
        4, description="policy versions such a group may lag behind: its verdicts take their time"
    )


class WriterConfig(Section):
    """A model behind an endpoint that writes environments in the policy's place; `generator` says how often."""

    endpoint: BaseUrl = Field(
        "", description="base URL of an OpenAI-compatible server; empty: the policy writes"
    )
    model: str = Field("", description="as the server calls it")
    key_env: Variable = Field("", description="environment variable on the nodes that holds the server's key")
    max_tokens: Count = Field(4096, description="longest reply, reasoning included")
    concurrency: Count = Field(16, description="requests at once")
    timeout_seconds: Seconds = Field(120.0, description="of one try")
    retries: Annotated[int, Field(ge=0)] = Field(
        5, description="with back-off, where the server is busy or away"
    )


class GrammarConfig(Section):
    enabled: bool = True
    interval_seconds: Seconds = 10.0
    batch: Count = 2


class ComposeConfig(Section):
    """What is trained on, and what is made of the pool's programs; `composer` says by how many actors and how often."""

    mode: Mode = Field("mixed", description="train on single environments, on composed ones, or on both")
    operators: Operators = get_args(OperatorName)
    size: Sizes = Field(
        (2, 3, 4, 5, 6),
        description="programs in a composite: 5, 2-6 or 2,4; of several the curriculum chooses. Paper (RACES): 2 to 6",
    )
    level: Annotated[int, Field(ge=0)] = Field(0, description="of the inputs that chains begin with")
    success: Share | None = Field(
        0.3,
        description="predicted success that is sought in a chain, sizes by variance; null: all at random (RACES)",
    )
    expansions: Count = Field(4, description="extensions a state of the search")
    literal_limit: Count = Field(80, description="characters of a value in a chain")


class ComposerConfig(Section):
    enabled: bool = Field(True, description="whether composites are made while the run goes")
    count: Count = 1
    interval_seconds: Seconds = 10.0
    batch: Count = 4


class AdmissionConfig(Section):
    seeds_per_level: Count = 5
    levels: Count = 3
    headroom: Annotated[int, Field(ge=0)] = Field(1, description="levels above those that must run as well")
    distinct_answers: Annotated[int, Field(ge=2)] = Field(
        3, description="of seeds_per_level x levels draws; two where there are but two values"
    )
    prompt_characters: Count = Field(8_000, description="longest question, up to the headroom")
    answer_characters: Count = Field(2_000, description="longest reference as text, up to the headroom")
    perturbations: Count = Field(12, description="wrong answers to each draw that must not score")
    guess_limit: Share = Field(0.6, description="of answers that are right by guessing")
    constants_make_new: bool = Field(
        False, description="whether a policy's copy with other numbers is a new program"
    )
    calibrate: bool = True
    calibration_instances: Count = Field(8, description="m; paper (EvoEnv)")
    concurrent: Count = 2
    queue: Count = 16
    penalty: Annotated[float, Field(le=0)] = Field(
        0.0,
        description="shaping of a proposal that fails L1 to L4; the paper (EvoEnv) has one, its size is not known",
    )


class ReviewConfig(Section):
    enabled: bool = Field(
        True, description="of programs that a policy wrote; it needs a policy that can read them"
    )
    by: str = Field(
        "",
        pattern=r"^([a-z][a-z0-9_-]*)?$",
        description="an attached policy; empty: the run's own, as in the paper",
    )
    count: Count = Field(
        3, description="independent reviews, of which none may find a likely bug; paper (EvoEnv)"
    )
    max_tokens: Count = Field(512, description="longest review")
    temperature: Annotated[float, Field(gt=0)] = 1.0


class NoveltyConfig(Section):
    enabled: bool = Field(
        True, description="the gate of near copies and the bonus; copies of what is held out fall in any case"
    )
    near_duplicate: Share = Field(0.80, description="paper (EvoEnv)")
    family_similarity: Share = Field(0.70, description="to its founder, above which a program joins a family")
    bonus_low: Share = Field(0.45, description="paper (EvoEnv)")
    bonus_high: Share = Field(0.65, description="paper (EvoEnv)")


class CurationConfig(Section):
    adaptive_levels: bool = True
    promote_at: Share = Field(
        0.9, description="success, by its whole 95 % interval, that asks for the next level"
    )
    window: Count = Field(64, description="answers after which an earlier one counts half")
    rest_easy: Share = Field(0.95, description="by the whole interval")
    rest_hard: Share = Field(0.05, description="by the whole interval")
    rests: Annotated[int, Field(ge=0)] = Field(2, description="at a level, before the next finding retires")
    retire_epochs: Annotated[float, Field(gt=0)] | None = Field(
        20.0, description="age, in draws for each member drawn; never for seeds and bricks; null: no limit"
    )
    seed_floor: Share = Field(0.2, description="paper (EvoEnv)")
    composite_share: Share | None = Field(
        None, description="share of draws for composites; null: by their weights"
    )


class PoolConfig(Section):
    seeds: Choice = "all"
    bricks: Choice = "all"
    held_out: Names = Field(
        (), description="set apart whole, for evaluation only; chosen or not; named as bricks are"
    )
    imports: Folders = Field(
        (),
        description="what the run begins with as well: folders of pools, runs or snapshots, which every node sees",
    )
    map_size_gib: Annotated[float, Field(gt=0)] = Field(16.0, description="sparse; a limit, not a cost")
    folder: Path | None = Field(
        None, description="of the LMDB, on a local disk of the head node; null: in the run's folder"
    )
    replica_folder: Path | None = Field(
        None, description="of each other node's replica, on a local disk; null: the temporary folder"
    )


class BricksConfig(Section):
    subset: Subset = Field(
        "all", description="how many of pool.bricks the run has, drawn by run.seed; fewer are a part of more"
    )
