"""The configuration of a run: few keys, each with its unit, where it comes from and a default.

Invariant: a value that reaches an actor has passed these models; unknown keys are refused with the nearest
right one. Derived values (paths, resource counts) are properties, not keys. Reading presets and overrides is
`cluster.resolve`'s work. "paper" marks a value of EvoEnv (2605.14392) or RACES (2606.12373); all others are ours.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from cluster.spelling import BaseUrl, Choice, Folders, Names, Operators, Sizes, Subset, Variable, Wandb
from envpool.curation import CurationSettings, Mode
from envpool.exchange.brought import brought
from envpool.members import OperatorName
from envpool.sandbox import SandboxUnavailable
from envpool.sandbox.ladder import asked_for
from envpool.sandbox.packages import tops
from envpool.shipped import Shipped, shipped
from training.grpo.settings import rank_groups

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0)]
LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
"""Where nobody but this machine's own users can listen or ask."""


class Section(BaseModel):
    """A group of keys; frozen, and closed to keys that it does not name."""

    model_config = ConfigDict(extra="forbid", frozen=True)


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
    key_env: Variable = Field("", description="environment variable on the nodes that holds that server's key")


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
        0.03, description="of the draws that are used, recomputed in another zygote, of another sandbox if possible"
    )
    rung: Literal["auto", "strict", "standard", "wasm", "unsafe"] = Field(
        "auto", description="auto: strict, or standard where the node has no more; a named one or none"
    )
    allow_unsafe: bool = Field(False, description="the second key to rung unsafe, which is no sandbox at all")
    packages: Names = Field(
        (), description="that imported environments use, installed on the nodes: a name, or name=folder"
    )


def _check_sandbox(sandbox: SandboxConfig) -> None:
    """Raises ValueError for a rung that no node can give, and for what names no package."""
    try:
        asked_for(sandbox.rung, allow_unsafe=sandbox.allow_unsafe)
    except SandboxUnavailable as error:
        raise ValueError(f"sandbox.rung={sandbox.rung}: {error}") from None
    try:
        tops(sandbox.packages)
    except SandboxUnavailable as error:
        raise ValueError(f"sandbox.packages: {error}") from None


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

    endpoint: BaseUrl = Field("", description="base URL of an OpenAI-compatible server; empty: the policy writes")
    model: str = Field("", description="as the server calls it")
    key_env: Variable = Field("", description="environment variable on the nodes that holds the server's key")
    max_tokens: Count = Field(4096, description="longest reply, reasoning included")
    concurrency: Count = Field(16, description="requests at once")
    timeout_seconds: Seconds = Field(120.0, description="of one try")
    retries: Annotated[int, Field(ge=0)] = Field(5, description="with back-off, where the server is busy or away")


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
        0.3, description="predicted success that is sought in a chain, sizes by variance; null: all at random (RACES)"
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
        0.0, description="shaping of a proposal that fails L1 to L4; the paper (EvoEnv) has one, its size is not known"
    )


class ReviewConfig(Section):
    enabled: bool = Field(True, description="of programs that a policy wrote; it needs a policy that can read them")
    by: str = Field(
        "", pattern=r"^([a-z][a-z0-9_-]*)?$", description="an attached policy; empty: the run's own, as in the paper"
    )
    count: Count = Field(3, description="independent reviews, of which none may find a likely bug; paper (EvoEnv)")
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
    promote_at: Share = Field(0.9, description="success, by its whole 95 % interval, that asks for the next level")
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
    held_out: Names = Field((), description="set apart whole, for evaluation only; chosen or not; named as bricks are")
    imports: Folders = Field(
        (), description="what the run begins with as well: folders of pools, runs or snapshots, which every node sees"
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


class EvaluationConfig(Section):
    enabled: bool = True
    questions: Count = Field(400, description="of training families, kept out of training by instance hash")
    held_out_questions: Annotated[int, Field(ge=0)] = Field(100, description="of families set apart whole")
    level: Annotated[int, Field(ge=0)] = 0
    temperature: Annotated[float, Field(ge=0)] = 1.0
    repeats: Count = Field(1, description="answers a question; success is their mean")


class ServeConfig(Section):
    """A trainer elsewhere in the learner's place: over HTTP it takes questions and brings back answers to be judged."""

    enabled: bool = Field(False, description="without learner, buffer and evaluator; the policy is the trainer's")
    host: str = Field("127.0.0.1", description="to listen at, on the head node; another one needs serve.token_env")
    port: Annotated[int, Field(ge=0, le=65535)] = Field(8321, description="0: a free one, which a restart keeps")
    token_env: Variable = Field("", description="environment variable there that holds the token clients must send")


class RewardConfig(Section):
    format_bonus: Annotated[float, Field(ge=0.0, le=0.5)] = Field(
        0.0, description="of a solver's readable answer: shaping, logged apart"
    )
    validation: Share = Field(0.2, description="part of a generator's reward; 0 drops it, the others stay")
    quality: Share = Field(0.5, description="the same, for success near quality_centre")
    novelty: Share = Field(0.3, description="the same, for being unlike all that was admitted")
    quality_centre: Share = Field(0.3, description="the solver's success that is worth most; paper (EvoEnv)")
    quality_width: Annotated[float, Field(gt=0)] = Field(0.2, description="standard deviation around it")


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


class Config(Section):
    """A whole run. Every key can be overridden on the command line as `section.key=value`."""

    preset: str = Field("", description="set by the loader")
    run: RunConfig = RunConfig()
    policy: PolicyConfig = PolicyConfig()
    solver: SolverConfig = SolverConfig()
    learner: LearnerConfig = LearnerConfig()
    sandbox: SandboxConfig = SandboxConfig()
    generator: GeneratorConfig = GeneratorConfig()
    writer: WriterConfig = WriterConfig()
    grammar: GrammarConfig = GrammarConfig()
    compose: ComposeConfig = ComposeConfig()
    composer: ComposerConfig = ComposerConfig()
    admission: AdmissionConfig = AdmissionConfig()
    review: ReviewConfig = ReviewConfig()
    novelty: NoveltyConfig = NoveltyConfig()
    curation: CurationConfig = CurationConfig()
    pool: PoolConfig = PoolConfig()
    bricks: BricksConfig = BricksConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    serve: ServeConfig = ServeConfig()
    reward: RewardConfig = RewardConfig()
    supervision: SupervisionConfig = SupervisionConfig()
    alarms: AlarmsConfig = AlarmsConfig()
    metrics: MetricsConfig = MetricsConfig()

    @property
    def run_folder(self) -> Path:
        """The absolute folder of this run; solvers and learners of all nodes must see it."""
        return self.run.folder.expanduser().resolve() / self.run.name

    @property
    def policy_folder(self) -> Path:
        """Where the weights and checkpoints of the actor's policy lie."""
        return self.run_folder / "policies" / self.policy.name if self.policy.attached else self.run_folder

    @property
    def pool_folder(self) -> Path:
        """Where the pool's LMDB lies, on the head node."""
        folder = self.pool.folder
        return folder.expanduser().resolve() / self.run.name if folder else self.run_folder / "pool"

    def replica_folder(self, node: str) -> Path:
        """Where a node's replica of the pool lies; several Ray nodes may share a machine."""
        folder = self.pool.replica_folder or Path(tempfile.gettempdir()) / f"envolve-{os.getuid()}"
        return folder.expanduser().resolve() / self.run.name / node[:12]

    def own(self, name: str) -> str:
        """The name, of an actor or of a piece of state, that belongs to this actor's policy."""
        return f"{self.policy.name}.{name}" if self.policy.attached else name

    @property
    def policy_writes(self) -> bool:
        """Whether the actor's policy writes environments, not a model in its place."""
        return self.generator.enabled and self.asks_policy and (self.policy.attached or not self.writer.endpoint)

    @property
    def asks_policy(self) -> bool:
        """Whether the run's own policy can be asked from here: a trainer elsewhere need not let it."""
        return self.policy.attached or not self.serve.enabled or bool(self.policy.endpoint)

    @property
    def trains_on_proposals(self) -> bool:
        """Whether what the actor's policy writes goes to a learner here."""
        return self.generator.train and (self.policy.attached or not self.serve.enabled)

    def programs(self) -> list[Shipped]:
        """The programs that the run's pool begins with. Raises UnknownProgram, TooFewBricks, NotBrought."""
        pool = self.pool
        others = brought(pool.imports)
        return shipped(pool.seeds, pool.bricks, pool.held_out, self.bricks.subset, self.run.seed, others)

    @property
    def composes(self) -> bool:
        """Whether composites are made while the run goes."""
        return self.composer.enabled and self.compose.mode != "single"

    @property
    def reviews(self) -> bool:
        """Whether what a policy wrote is reviewed: by another model, or by the run's own where that can be asked."""
        return self.review.enabled and (self.asks_policy or self.review.by not in ("", self.policy.name))

    @property
    def namespace(self) -> str:
        """The Ray namespace that the run's named actors live in."""
        return f"envolve-{self.run.name}"

    @property
    def _reviews_itself(self) -> bool:
        return self.review.enabled and self.asks_policy and self.review.by in ("", self.policy.name)

    @model_validator(mode="after")
    def _sections_agree(self) -> Config:
        # Its own rules, said before an actor meets them.
        CurationSettings(**self.curation.model_dump(), mode=self.compose.mode)
        rank_groups(self.learner.ranks, self.learner.ranks_per_node)
        _check_sandbox(self.sandbox)
        room = self.policy.max_model_len
        for key, tokens in (
            ("policy.max_tokens", self.policy.max_tokens),
            ("generator.max_tokens", 0 if self.writer.endpoint else self.generator.max_tokens),
            ("review.max_tokens", self.review.max_tokens if self._reviews_itself else 0),
        ):
            if tokens >= room:
                raise ValueError(f"{key}={tokens} leaves no room for a prompt in policy.max_model_len={room}")
        if self.policy.endpoint and not self.serve.enabled:
            raise ValueError(
                f"policy.endpoint={self.policy.endpoint} is that of a trainer elsewhere: set serve.enabled=true, and "
                "the run has no learner. A model that only answers is attached (`envolve attach`); one that only "
                "writes is writer.endpoint"
            )
        if self.serve.enabled and self.serve.host not in LOCAL_HOSTS and not self.serve.token_env:
            raise ValueError(
                f"serve.host={self.serve.host} lets other machines ask: name the environment variable of the head node "
                "that holds the token they must send, serve.token_env=ENVOLVE_TOKEN"
            )
        if self.writer.endpoint and self.policy.name == "writer" and not self.policy.attached:
            raise ValueError("policy.name=writer is the name of the model at writer.endpoint; choose another")
        for key, lacking in (("endpoint", "model"), ("model", "endpoint")):
            if (given := getattr(self.writer, key)) and not getattr(self.writer, lacking):
                raise ValueError(f"writer.{key}={given} needs writer.{lacking}, too")
        if (low := self.novelty.bonus_low) >= (high := self.novelty.bonus_high):
            raise ValueError(f"novelty.bonus_low={low} is not below novelty.bonus_high={high}")
        draws = self.admission.seeds_per_level * self.admission.levels
        if (distinct := self.admission.distinct_answers) > draws:
            raise ValueError(
                f"admission.distinct_answers={distinct} is more than all {draws} draws "
                "(admission.seeds_per_level x admission.levels)"
            )
        if (parts := self.reward.validation + self.reward.quality + self.reward.novelty) > 1 + 1e-9:
            raise ValueError(f"reward.validation, reward.quality and reward.novelty are {parts:g} together, above 1")
        if self.compose.mode == "composed" and not self.composer.enabled:
            raise ValueError("compose.mode=composed trains on composites, and composer.enabled=false makes none")
        if self.compose.level >= (levels := self.admission.levels):
            raise ValueError(
                f"compose.level={self.compose.level} is a level that no program was tried at "
                f"(admission.levels={levels} tries 0 to {levels - 1})"
            )
        if self.bricks.subset != "all" and self.pool.bricks in ("none", ()):
            raise ValueError(f"bricks.subset={self.bricks.subset} is drawn from pool.bricks, which are none")
        if self.pool.seeds in ("none", ()) and self.pool.bricks in ("none", ()) and not self.pool.imports:
            raise ValueError("pool.seeds and pool.bricks are both 'none': there is nothing to train on")
        return self
